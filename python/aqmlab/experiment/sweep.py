"""Axes times seeds: the list of runs of an experiment. Pure."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping
from typing import Any

from .plan import Run, key_of
from .spec import Experiment, set_path


def expand(experiment: Experiment) -> list[Run]:
    """Every variant under every seed, variant by variant.

    All variants get the same seeds (common random numbers): two disciplines under one seed meet
    the same users drawing the same sizes and think times, which is what makes their paired
    difference sharp.
    """
    runs: list[Run] = []
    choices = [list(zip(axis.values, axis.labels, strict=True)) for axis in experiment.axes]
    for variant, combination in enumerate(itertools.product(*choices)):
        scenario: Mapping[str, Any] = experiment.scenario
        values: dict[str, str] = {}
        for axis, (value, label) in zip(experiment.axes, combination, strict=True):
            scenario = set_path(scenario, axis.path, value)
            values[axis.path] = label
        label, key = ", ".join(values.values()), key_of(scenario)
        for seed in experiment.seeds:
            seeded = {**copy.deepcopy(dict(scenario)), "seed": seed}
            runs.append(Run(key, seed, seeded, variant, label, values))
    return runs
