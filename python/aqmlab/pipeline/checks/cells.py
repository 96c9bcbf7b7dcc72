"""Checks that parts, groups, axes, values and metrics to which entries refer exist."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from aqmlab.errors import nearest
from aqmlab.experiment import plan
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.grammar import Axis, Difference, Group, Metric, Table
from aqmlab.experiment.rules import Claim


@dataclass(frozen=True)
class Names:
    """All names that an experiment defines. The methods that check a name return a sentence if it
    is unknown, None otherwise."""

    parts: list[str]
    bases: list[str]
    groups: dict[str, Group]
    metrics: dict[str, Metric]
    tables: dict[str, Table | Difference]
    claims: dict[str, Claim]

    @classmethod
    def of(cls, experiment: Experiment) -> Names:
        """All names that this experiment defines: of parts, base scenarios, groups, metrics, tables
        and claims."""
        return cls(
            experiment.parts,
            list(experiment.bases),
            {group.name: group for group in experiment.group},
            experiment.metrics,
            {table.id: table for table in (*experiment.table, *experiment.difference)},
            {claim.id: claim for claim in experiment.claim},
        )

    def part(self, part: str | None) -> str | None:
        """Checks the name of a part of the study; None is allowed."""
        return unknown("part", part, self.parts) if part is not None else None

    def base(self, base: str | None) -> str | None:
        """Checks the name of a base scenario; None is allowed."""
        return unknown("base", base, self.bases) if base is not None else None

    def some_metrics(self, names: Iterable[str]) -> str | None:
        """Checks the names of metrics."""
        return first(unknown("metric", name, self.metrics) for name in names)

    def table(self, name: str) -> str | None:
        """Checks the name of a table or difference."""
        return unknown("table", name, self.tables)

    def cells(self, group: str, where: Mapping[str, object]) -> str | None:
        """Checks a selection of cells: the names of the group and of its axes, and the axes'
        values."""
        return unknown("group", group, self.groups) or first(
            self._value(group, axis, wanted) for axis, wanted in where.items()
        )

    def axes(self, group: str, names: Iterable[str]) -> str | None:
        """Checks names of axes of an existing group."""
        return first(
            unknown(f'axis of group "{group}"', name, self.axes_of(group)) for name in names
        )

    def axes_of(self, group: str) -> dict[str, Axis]:
        """The axes of a group by name."""
        return {axis.name: axis for axis in self.groups[group].axes}

    def count(self, group: str, where: Mapping[str, object]) -> int:
        """The number of cells of a group in the full study that have the values `where` on their
        axes."""
        every = [
            [(name, value) for value in axis.every()] for name, axis in self.axes_of(group).items()
        ]
        return sum(plan.matches(dict(choice), where) for choice in itertools.product(*every))

    def _value(self, group: str, axis: str, wanted: object) -> str | None:
        problem = self.axes(group, [axis])
        if problem:
            return problem
        known = self.axes_of(group)[axis].every()
        lists = any(isinstance(value, list) for value in known)
        requested = wanted if isinstance(wanted, list) and not lists else [wanted]
        what = f'{axis} in group "{group}"'
        return first(unknown(what, value, known) for value in requested)


def unknown(what: str, name: object, known: Collection) -> str | None:
    """A sentence on a name that is not known; None if it is known."""
    if name in list(known):
        return None
    words = [str(each) for each in known]
    hint = nearest(str(name), words) or (f" (known: {', '.join(words)})" if words else "")
    return f'no {what} "{name}"{hint}'


def first(problems: Iterable[str | None]) -> str | None:
    """The first of several problems; None if there is none."""
    return next((problem for problem in problems if problem), None)
