"""Axes times seeds: the list of runs of an experiment. Pure."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .spec import Experiment, set_path


@dataclass(frozen=True)
class Run:
    """One complete scenario, and where it stands in the sweep."""

    variant: int
    """Which combination of axis values, in the order of the file."""
    label: str
    """That combination in a few words; empty without a sweep."""
    values: Mapping[str, str]
    """Axis path to the label of its value."""
    seed: int
    """The seed of the random numbers; common to all variants, so that their users are the same."""
    scenario: Mapping[str, Any]
    """What the simulator gets, seed included."""


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
        label = ", ".join(values.values())
        for seed in experiment.seeds:
            seeded = {**copy.deepcopy(dict(scenario)), "seed": seed}
            runs.append(Run(variant, label, values, seed, seeded))
    return runs
