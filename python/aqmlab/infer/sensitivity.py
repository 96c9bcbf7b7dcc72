"""The effect of each unknown: Sobol' total indices by the emulator (SALib)."""

from __future__ import annotations

import numpy as np

from .implausibility import Knowledge

BASE = 512
"""Number of points of the Sobol' sequence; each unknown adds this number of evaluations of the
emulator."""


def total(knowledge: Knowledge, names: list[str]) -> np.ndarray:
    """Total indices (unknowns × targets) over the prior: the share of a target's variance that
    would remain if all other unknowns were known.

    A. Saltelli et al., Computer Physics Communications 181(2), 2010.
    """
    from SALib.analyze import sobol as analysed
    from SALib.sample import sobol as sampled

    problem = {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}
    points = sampled.sample(problem, BASE, calc_second_order=False, seed=1)
    outputs = knowledge.emulator(points).mean
    found = [
        analysed.analyze(problem, column, calc_second_order=False, num_resamples=2, seed=1)["ST"]
        for column in outputs.T
    ]
    return np.clip(np.nan_to_num(np.array(found).T), 0.0, 1.0)
