"""Statistics of the fairness among sources, from the table `sources` (`record.sources`)."""

from __future__ import annotations

import math

import numpy as np

from aqmlab.errors import SpecError, nearest
from aqmlab.runs.laboratory import FinishedRun


def goodputs(run: FinishedRun, groups: list[str] | None = None) -> np.ndarray:
    """Goodput (bit/s) of every source of these groups of the scenario, by default of all."""
    table = run.columns("sources")
    goodput = table["goodput_bits_per_s"].astype(float)
    if groups is None:
        return goodput
    names = [str(group.get("name")) for group in run.scenario["traffic"]]
    for name in groups:
        if name not in names:
            raise SpecError(f'no traffic group "{name}"{nearest(name, names)}')
    return goodput[np.isin(table["group"], [names.index(name) for name in groups])]


def relative(run: FinishedRun, groups: list[str] | None = None) -> np.ndarray:
    """Every source's goodput over the mean of all; NaN if the mean is zero."""
    found = goodputs(run, groups)
    mean = found.mean() if len(found) else 0.0
    return found / mean if mean > 0 else np.full(max(1, len(found)), math.nan)


def outside(run: FinishedRun, *, low: float, high: float, groups: list[str] | None = None) -> float:
    """The number of sources with a goodput below `low` or above `high` times the mean."""
    shares = relative(run, groups)
    if np.isnan(shares).any():
        return math.nan
    return float(np.sum((shares < low) | (shares > high)))


def smallest(run: FinishedRun, *, groups: list[str] | None = None) -> float:
    """The smallest goodput of a source divided by the mean."""
    return float(relative(run, groups).min())


def largest(run: FinishedRun, *, groups: list[str] | None = None) -> float:
    """The largest goodput of a source divided by the mean."""
    return float(relative(run, groups).max())


def jain(run: FinishedRun, *, groups: list[str] | None = None) -> float:
    """Jain's index: 1 if all got an equal share, 1/n if one of n got all (Jain, Chiu and Hawe,
    1984)."""
    shares = relative(run, groups)
    return float(shares.mean() ** 2 / (shares**2).mean())
