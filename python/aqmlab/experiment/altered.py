"""A variant of a study: some fields are changed in all its scenarios, and its results go into a
folder of their own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from aqmlab.errors import SpecError
from aqmlab.simulator.forms import Scenario

from .experiment import Experiment
from .grammar import Group
from .spec import parse_override, set_path

_LONGEST = 60
"""Number of characters to which the suffix of a changed study's name is cut. The suffix lists the
changed fields; a hash follows one that is cut."""


def with_fields(
    experiment: Experiment, settings: Sequence[str], parts: Sequence[str] | None = None
) -> Experiment:
    """The study with these fields (`"path=value"`) set in the scenario of every cell.

    Its claims are evaluated anew. A field that an axis or a group of the `parts` (None: all parts)
    sets is refused, since the labels of the cells would be wrong.
    """
    changes = dict(map(parse_override, settings))
    for path in changes:
        for group in experiment.groups(experiment.check_parts(parts)):
            if taken := next((own for own in _paths(group) if _overlap(own, path)), None):
                raise SpecError(
                    f"--set {path}: the group {group.name} of {experiment.name} sets {taken} "
                    "itself: choose another --part, or copy the study's folder and change it there"
                )

    before = experiment.change

    def change(scenario: Scenario, own: Collection[str]) -> dict[str, Any]:
        changed = dict(before(scenario, own)) if before is not None else dict(scenario)
        for path, value in changes.items():
            changed = set_path(changed, path, value)
        return changed

    return replace(
        experiment,
        name=f"{experiment.name}-{suffix(settings)}",
        title=f"{experiment.title} ({', '.join(settings)})",
        subtitle=f"{experiment.subtitle}. Not the study's own result: changed are "
        f"{', '.join(settings)}",
        change=change,
        changes=tuple(settings),
    )


def suffix(settings: Sequence[str]) -> str:
    """The suffix of a changed study's name: the changed fields and their values, cut and followed
    by a hash if they are too long."""
    brief = (re.sub(r"^.*\.(?=[^=]*=)", "", text) for text in settings)
    words = re.sub(r"[^\w.-]+", "", "-".join(brief).replace("=", "-"))
    if len(words) <= _LONGEST:
        return words
    return f"{words[:_LONGEST]}-{hashlib.sha256(words.encode()).hexdigest()[:8]}"


def _paths(group: Group) -> list[str]:
    """The fields that a group or its axes set."""
    paths = list(group.set)
    for axis in group.axes:
        paths += [] if axis.is_load else axis.paths
        paths += [path for variant in axis.variants for path in variant.set]
    return paths


def _overlap(one: str, other: str) -> bool:
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")
