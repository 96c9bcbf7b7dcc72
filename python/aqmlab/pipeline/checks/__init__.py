"""An experiment read critically before anything runs: the first mistake as one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from aqmlab.errors import SpecError
from aqmlab.experiment import plan
from aqmlab.experiment.experiment import LISTS, Experiment

from . import claims, entries, keys
from .cells import Names, first, unknown

#: What is looked at of an entry whose keys are right.
CHECKS: dict[str, Callable[[dict, Names], str | None]] = {
    "group": entries.group,
    "metric": entries.metric,
    "table": entries.table,
    "difference": entries.difference,
    "figure": entries.figure,
    "claim": claims.claim,
}


def check(experiment: Experiment) -> None:
    """Complains about the first entry with an unknown key, name or value, or without one it needs.

    The message names the file, the entry and what would be right.
    """
    data = experiment.data
    problem = keys.WHOLE.problem(data)
    if problem:
        raise SpecError(f"{experiment.folder / 'experiment.toml'}: {problem}")
    for mode, settings in data["settings"].items():
        if problem := keys.SETTINGS.problem(settings):
            raise SpecError(f"{experiment.folder / 'experiment.toml'}: settings.{mode}: {problem}")
    for kind in (*keys.ENTRIES, "figure"):
        for number, entry in enumerate(experiment.of(kind)):
            known = keys.ENTRIES.get(kind)
            if known is not None and (problem := known.problem(entry)):
                _complain(experiment, kind, number, problem)
    names = Names.of(experiment)
    for kind in (*keys.ENTRIES, "figure"):
        for number, entry in enumerate(experiment.of(kind)):
            problem = (
                names.part(entry)
                or (CHECKS[kind](entry, names) if kind in CHECKS else names.base(entry))
                or _loads(experiment, kind, entry)
                or _twice(experiment, kind, entry)
            )
            if problem:
                _complain(experiment, kind, number, problem)
    shown = [figure["id"] for figure in experiment.of("figure")]
    if "lead" in data and (problem := unknown("figure", data["lead"], shown)):
        raise SpecError(f"{experiment.folder / 'experiment.toml'}: lead: {problem}")


def _loads(experiment: Experiment, kind: str, entry: dict) -> str | None:
    """Whether a load of a group can be turned into users."""
    if kind != "group" or not plan.uses_load([entry]):
        return None
    base = entry.get("base")
    if any(found.get("base") == base for found in experiment.of("calibration")):
        return None
    told = f'base "{base}"' if base else "the scenario"
    return f"has an axis load, and {told} has no [[calibration]]: add one"


def _twice(experiment: Experiment, kind: str, entry: dict) -> str | None:
    if kind not in (*LISTS, "part", "metric"):
        return None
    times = Counter(_name(each) for each in experiment.of(kind))
    name = _name(entry)
    return f"there are {times[name]} of this name: rename one" if times[name] > 1 else None


def _name(entry: dict) -> str | None:
    return first(entry.get(key) for key in ("name", "id", "base", "what"))


def _complain(experiment: Experiment, kind: str, number: int, problem: str) -> None:
    entry = experiment.of(kind)[number]
    name = _name(entry) or f"number {number + 1}"
    raise SpecError(f"{_file(experiment, kind, number)}: {kind} {name}: {problem}")


def _file(experiment: Experiment, kind: str, number: int) -> Path:
    """The file that an entry stands in."""
    return experiment.files.get(kind, {number: experiment.folder / "experiment.toml"})[number]


__all__ = ["check"]
