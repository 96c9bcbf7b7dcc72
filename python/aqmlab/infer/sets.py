"""Applies a set of values of the unknowns to an experiment, which becomes a study of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aqmlab.errors import SpecError
from aqmlab.experiment.experiment import Experiment
from aqmlab.simulator.forms import Scenario

from . import files, spec
from .unknowns import Unknowns, Value, Values


def altered(experiment: Experiment, unknowns: Unknowns, values: Values) -> Experiment:
    """An experiment with these values of the unknowns in every scenario. Loads are calibrated with
    the values of unknowns marked `calibrates`. Fields that a group's axes vary keep the axis
    values. Known reasons why a claim fails are removed, since they refer to the original
    scenarios."""

    def calibrating(scenario: Scenario) -> Scenario:
        return unknowns.applied(scenario, values, calibrating=True)

    return replace(
        experiment,
        claim=tuple(replace(claim, known="") for claim in experiment.claim),
        scenario=calibrating(experiment.scenario),
        bases={name: calibrating(base) for name, base in experiment.bases.items()},
        change=lambda scenario, own: unknowns.applied(scenario, values, own=own),
    )


def read(experiment: Experiment, unknowns: Unknowns, name: str) -> dict[str, Value]:
    """The values in the file NAME.toml of an experiment's folder, each checked against its
    unknown's range or choices."""
    path = experiment.folder / f"{name}.toml"
    if not path.is_file():
        raise SpecError(
            f"{path}: no such set: `aqmlab infer {experiment.name} --keep` writes the set inferred"
        )
    values = files.read_set(path)
    known = {unknown.name: unknown for unknown in unknowns.each}
    for each, value in values.items():
        if each not in known:
            raise SpecError(f'{path}: no unknown "{each}" (known: {", ".join(known)})')
        known[each].place(value)
    return values


def places(experiment: Experiment, inference: spec.Inference) -> np.ndarray:
    """The coordinates, from 0 to 1, of the sets of values with which an inference begins: sets ×
    unknowns."""
    unknowns = inference.unknowns
    points = [
        _place(experiment, unknowns, name, read(experiment, unknowns, name))
        for name in inference.begin
    ]
    return np.array(points).reshape(-1, len(unknowns))


def _place(experiment: Experiment, unknowns: Unknowns, name: str, values: Values) -> list[float]:
    absent = [unknown.name for unknown in unknowns.each if unknown.name not in values]
    if absent:
        raise SpecError(
            f"{experiment.folder / name}.toml has no {absent[0]}: a set to begin with names every "
            "unknown of infer.toml"
        )
    return [unknown.place(values[unknown.name]) for unknown in unknowns.each]


def named(experiment: Experiment, name: str) -> Experiment:
    """The experiment with the set NAME.toml of its folder, as a study of its own."""
    unknowns = spec.load(experiment).unknowns
    changed = altered(experiment, unknowns, read(experiment, unknowns, name))
    return replace(
        changed,
        name=f"{experiment.name}-{name}",
        title=f"{experiment.title} ({name})",
        subtitle=f"{experiment.subtitle}. Not the study's own result: what it does not say is set "
        f"as {name}.toml has it",
        set=name,
    )
