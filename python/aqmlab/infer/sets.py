"""A set of values of the unknowns, put into an experiment: a variant beside it, never mixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aqmlab.errors import SpecError
from aqmlab.experiment.experiment import Experiment

from . import kept, spec
from .unknowns import Unknowns


def altered(experiment: Experiment, unknowns: Unknowns, values: Mapping[str, Any]) -> Experiment:
    """An experiment with these values in every scenario; loads are calibrated with those of them
    that say so."""

    def calibrating(scenario: Mapping[str, Any]) -> dict[str, Any]:
        return unknowns.applied(scenario, values, calibrating=True)

    return replace(
        experiment,
        scenario=calibrating(experiment.scenario),
        bases={name: calibrating(base) for name, base in experiment.bases.items()},
        change=lambda scenario: unknowns.applied(scenario, values),
    )


def named(experiment: Experiment, name: str) -> Experiment:
    """The experiment with the set NAME.toml of its folder: another study beside it."""
    path = experiment.folder / f"{name}.toml"
    if not path.is_file():
        raise SpecError(
            f"{path}: no such set: `aqmlab infer {experiment.name} --keep` writes the set inferred"
        )
    values = kept.read_set(path)
    unknowns = spec.load(experiment).unknowns
    known = {unknown.name: unknown for unknown in unknowns.each}
    for each, value in values.items():
        if each not in known:
            raise SpecError(f'{path}: no unknown "{each}" (known: {", ".join(known)})')
        known[each].place(value)
    changed = altered(experiment, unknowns, values)
    return replace(
        changed,
        name=f"{experiment.name}-{name}",
        title=f"{experiment.title} ({name})",
        subtitle=f"{experiment.subtitle}. Not the study's own result: what it does not say is set "
        f"as {path.name} has it",
        set=name,
    )
