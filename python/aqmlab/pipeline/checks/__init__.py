"""Checks an experiment before anything runs; the first error is reported as one sentence.

The form of an entry is checked when it is read (`experiment.shapes`); these checks find references
to things that do not exist.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from aqmlab.errors import SpecError
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.grammar import KINDS, LISTS, named

from . import claims, entries
from .cells import Names, unknown

#: The check of each kind of entry; it returns a sentence on the first error, or None.
CHECKS: dict[str, Callable[[Any, Names], str | None]] = {
    "group": entries.group,
    "metric": entries.metric,
    "table": entries.table,
    "difference": entries.difference,
    "figure": entries.figure,
    "claim": claims.claim,
    "setup": lambda entry, names: names.base(entry.base),
    "calibration": lambda entry, names: names.base(entry.base),
}


def check(experiment: Experiment) -> None:
    """Raises a SpecError for the first entry that refers to something that does not exist, or has
    another entry's name.

    The message names the file, the entry and a remedy.
    """
    names = Names.of(experiment)
    for kind in KINDS:
        times = Counter(named(entry) for entry in experiment.of(kind))
        for number, entry in enumerate(experiment.of(kind)):
            problem = (
                names.part(getattr(entry, "part", None))
                or (CHECKS[kind](entry, names) if kind in CHECKS else None)
                or _loads(experiment, kind, entry)
                or _twice(kind, times[named(entry)])
            )
            if problem:
                place = (experiment.files.get(kind) or [experiment.where] * (number + 1))[number]
                name = named(entry) or f"number {number + 1}"
                raise SpecError(f"{place}: {kind} {name}: {problem}")

    shown = [figure.id for figure in experiment.figure]
    problem = unknown("figure", experiment.lead, shown) if experiment.lead is not None else None
    if problem:
        raise SpecError(f"{experiment.where}: lead: {problem}")
    needs = experiment.advice.needs if experiment.advice is not None else ()
    for key, listed in (("answer", experiment.answer), ("advice.needs", needs)):
        for claim in listed:
            if problem := unknown("claim", claim, names.claims):
                raise SpecError(f"{experiment.where}: {key}: {problem}")


def _loads(experiment: Experiment, kind: str, entry: Any) -> str | None:
    """An error if a group's load has no calibration that converts it into users."""
    if kind != "group" or not entry.uses_load:
        return None
    if any(found.base == entry.base for found in experiment.calibration):
        return None
    described = f'base "{entry.base}"' if entry.base else "the scenario"
    return f"has an axis load, and {described} has no [[calibration]]: add one"


def _twice(kind: str, times: int) -> str | None:
    if kind not in (*LISTS, "part", "metric") or times < 2:
        return None
    return f"there are {times} of this name: rename one"


__all__ = ["check"]
