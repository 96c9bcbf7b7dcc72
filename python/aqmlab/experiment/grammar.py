"""The kinds of entries of an experiment's files, one frozen class for each (docs/studies.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from aqmlab.simulator import measures

from .rules import Claim
from .shapes import key, written

Mode = Literal["quick", "full"]
Table_ = Mapping[str, Any]
"""A table of names and any values, such as paths of a scenario and their values."""
Value = Any
"""A value on an axis: a number, a text or, for several paths, a list."""
Seeds = int | tuple[int, ...]
"""The number n of seeds 1 to n, or a list of seeds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What can be run alone, in the order of the report."""

    name: str = key("as typed on the command line")
    title: str = key("its heading")
    text: str = key("what the report says below", default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How long and how often the quick or the full study runs."""

    seeds: Seeds = key("runs of every scenario, under the seeds 1 to this number; or their list")
    duration: str | None = key("of runs whose base or group has none", default=None)
    warmup: str | None = key("the warm-up in place of the scenario's", default=None)
    looks: tuple[int, ...] = key(
        "multiples of `seeds` at which open claims are looked at again", default=(1,)
    )
    calibration_seeds: int = key("seeds of a calibration", default=3)
    calibration: Table_ = key(
        "`duration`, `warmup` (by default as the runs) and `least_r_squared` (0.999)",
        default_factory=dict,
    )
    mode: Mode = key("which study it is of", default="full")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A drawing of a set-up."""

    caption: str = key("what is said below")
    base: str | None = key("whose scenario is drawn", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationRule:
    """How a load becomes users, or a rate of connections where arrivals are open-loop."""

    rate: str = key("what 100 % are")
    base: str | None = key("of which base", default=None)
    traffic: tuple[int, ...] | None = key(
        "indices of the traffic groups that get the number (the first)", default=None
    )
    multiple_of: int = key("users come in multiples of this", default=1)
    together: bool = key("whether as many users of the others run too", default=False)

    @property
    def places(self) -> tuple[int, ...]:
        """Indices of the traffic groups whose size is set; the first group is measured."""
        return self.traffic or (0,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One setting of several fields."""

    CALLED: ClassVar = "variant"

    name: Value = key("its value on the axis")
    set: Table_ = key("paths of the scenario and their values")
    published: Table_ = key(
        "columns by which the row of a published table is found", default_factory=dict
    )
    constructed: bool = key("marked *: no source names it", default=False)
    label: str | None = key("how a reader sees it, instead of the axis's `label`", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """Along which a group varies its scenario: values or variants."""

    CALLED: ClassVar = "axis"

    name: str = key("how others call it; `load` without paths is turned into users")
    paths: tuple[str, ...] = key("fields that its values go to", default=())
    values: tuple[Value, ...] = key(
        "a list as value: one for each path; a single one goes to all paths", default=()
    )
    variants: tuple[Variant, ...] = key("settings of several fields", name="variant", default=())
    label: str = key("a format of its values", default="{0}")
    constructed: tuple[Value, ...] = key("values marked *: no source names them", default=())
    quick: tuple[Value, ...] | None = key("fewer values in the quick study", default=None)

    def mistake(self) -> str | None:
        """A sentence if the axis contradicts itself."""
        if not self.variants:
            if not self.values:
                return "has no values: give values or variants"
            if not self.paths and not self.is_load:
                return "has no paths: name the fields of the scenario that its values go to"
            for value in self.values if self.paths else ():
                parts = value if isinstance(value, list) else [value]
                if len(parts) not in (1, len(self.paths)):
                    many = len(self.paths)
                    return f"{value} does not have one value for each of its {many} paths"
        known = self.every()
        strange = [v for v in (*(self.quick or ()), *self.constructed) if v not in known]
        return f'no value "{strange[0]}" (known: {", ".join(map(str, known))})' if strange else None

    @property
    def is_load(self) -> bool:
        """Whether the axis is a load, which a calibration converts into users."""
        return self.name == "load" and not self.paths and not self.variants

    def every(self, mode: Mode = "full") -> Sequence[Value]:
        """The axis's values, or the fewer ones of the quick study; for variants, their names."""
        whole = [v.name for v in self.variants] if self.variants else self.values
        return self.quick if mode == "quick" and self.quick is not None else whole

    def settings(self, mode: Mode = "full") -> Iterator[tuple[Value, str, Table_, Table_]]:
        """The axis's values (or names of variants), each with its label, the fields that it sets in
        the scenario (none for a load) and the columns of a published table."""
        if not self.variants:
            kept = self.every(mode)
            yield from ((value, self._described(value), self._changes(value), {}) for value in kept)
        for variant in self._variants(mode):
            described = variant.label
            label = (
                described
                if described is not None
                else self._described(variant.name, variant.constructed)
            )
            yield variant.name, label, variant.set, variant.published

    def _variants(self, mode: Mode) -> Sequence[Variant]:
        if mode != "quick" or self.quick is None:
            return self.variants
        return [v for name in self.quick for v in self.variants if v.name == name]

    def _changes(self, value: Value) -> Table_:
        """The fields that a plain value sets."""
        parts = value if isinstance(value, list) else [value]
        # One value may be set at several paths, such as one queue in both directions.
        parts = list(parts) * len(self.paths) if len(parts) == 1 else parts
        return dict(zip(self.paths, parts, strict=False))

    def _described(self, value: Value, constructed: bool = False) -> str:
        """A value for a legend or a table: "98 %", "120 packets", "(30, 90)"."""
        text = self.label.format(*(value if isinstance(value, list) else [value]))
        if text.endswith("%") and not text.endswith(" %"):
            text = f"{text[:-1]} %"
        return f"{text} *" if constructed or value in self.constructed else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A set of runs: a base varied along axes, crossed."""

    name: str = key("how others call it")
    part: str = key("the part that it belongs to")
    base: str | None = key(
        "what it starts from, `[base.NAME]`; by default `[scenario]`", default=None
    )
    set: Table_ = key("paths of the scenario and their values", default_factory=dict)
    axes: tuple[Axis, ...] = key("crossed; the first turns slowest", name="axis", default=())
    seeds: Mapping[str, Seeds] = key("another number, by mode", default_factory=dict)
    times: Mapping[str, Table_] = key(
        "another `duration` and `warmup`, by mode", default_factory=dict
    )
    only: Mode | None = key("run in that study only", default=None)
    keep: tuple[str, ...] | None = key(
        "tables of its runs that stay on disk (all that are recorded); each run is one file then, "
        "and a table that is missing when it is needed is made again",
        default=None,
    )

    @property
    def uses_load(self) -> bool:
        """Whether the group sets a load, and so needs a calibration."""
        return any(axis.is_load for axis in self.axes)

    def runs_in(self, mode: Mode) -> bool:
        """Whether the group belongs to the quick or the full study."""
        return self.only in (None, mode)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A number of every run."""

    name: str = key("how others call it")
    title: str = key("how a reader sees it; of a `summary` by default the measure's own")
    unit: str = key("unit of the number times `scale`; by default the measure's, with its scale")
    digits: int = key("decimals; by default the measure's")
    summary: str | None = key("a path of the summary (results.md)", default=None)
    statistic: str | None = key("one of `tables/statistics`", default=None)
    args: Table_ = key("what the statistic takes", default_factory=dict)
    scale: float = key("what the number is multiplied by", default=1.0)
    hidden: bool = key("not a column of tables that name no metrics", default=False)

    def mistake(self) -> str | None:
        """A sentence if the metric contradicts itself."""
        if (self.summary is None) == (self.statistic is None):
            return "give either summary or statistic"
        return None if self.summary is None else measures.unknown(self.summary)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Means and intervals of a group's cells, next to the published numbers."""

    id: str = key("its file, `tables/ID.csv`")
    part: str = key("the part that it belongs to")
    group: str = key("whose cells are its rows")
    title: str = key("its heading")
    keys: Mapping[str, str] = key("axis = column of the published table")
    paper: str | None = key("its name in the paper", default=None)
    where: Table_ = key("only cells with these values on these axes", default_factory=dict)
    metrics: tuple[str, ...] | None = key("its columns (all that are not hidden)", default=None)
    reference: str | None = key("a pattern of files with the published numbers", default=None)
    headline: tuple[str, ...] = key("metrics whose distance is shown first", default=())
    note: str = key("what is said below", default="")

    @property
    def columns(self) -> list[str]:
        """The columns that distinguish the table's rows."""
        return list(self.keys.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Like a table: a group minus another, paired by seed and axes."""

    id: str = key("its file, `tables/ID.csv`")
    part: str = key("the part that it belongs to")
    group: str = key("from which is subtracted")
    minus: str = key("which group is subtracted")
    on: tuple[str, ...] = key("axes on which both agree")
    title: str = key("its heading")
    paper: str | None = key("its name in the paper", default=None)
    where: Table_ = key("only cells of `group` with these values", default_factory=dict)
    minus_where: Table_ = key("only cells of `minus` with these values", default_factory=dict)
    by: tuple[str, ...] = key("axes of `group` alone that distinguish its rows", default=())
    metrics: tuple[str, ...] | None = key("its columns (all that are not hidden)", default=None)
    headline: tuple[str, ...] = key("metrics that are shown first", default=())
    note: str = key("what is said below", default="")

    @property
    def columns(self) -> list[str]:
        """The columns that distinguish the table's rows; those that only `group` has come first."""
        return [*self.by, *self.on]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A picture; what else it takes is its kind's."""

    id: str = key("its file, `figures/figure-ID.svg`")
    part: str = key("the part that it belongs to")
    kind: str = key("see Figures")
    title: str = key("its heading")
    caption: str = key("what is said below")
    paper: str | None = key("its name in the paper", default=None)
    wide: bool | None = key("whether it takes the whole width of a page", default=None)
    note: str | None = key("a sentence of numbers, where the kind has none", default=None)
    of: Table_
    """The fields that this kind of figure takes."""

    @property
    def entry(self) -> dict[str, Any]:
        """All fields of the figure, as written."""
        return {**written(self), **self.of}


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What to do, and the claims that it rests on."""

    text: str = key("what to do, in a sentence or two")
    needs: tuple[str, ...] = key("the claims that have to hold")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """What is not from the paper."""

    what: str = key("of what")
    text: str = key("what, and why")


KINDS: dict[str, type] = {
    "part": Part,
    "setup": Setup,
    "calibration": CalibrationRule,
    "group": Group,
    "metric": Metric,
    "table": Table,
    "difference": Difference,
    "figure": Figure,
    "claim": Claim,
    "deviation": Deviation,
}
"""The lists of an experiment, and the class of their entries."""

LISTS = ("group", "table", "difference", "figure", "claim")
"""Lists whose entries belong to a part."""


def named(entry: object) -> str | None:
    """The name of an entry, under the key that its kind uses; also of an entry that has not been
    parsed yet."""
    get = entry.get if isinstance(entry, Mapping) else lambda word: getattr(entry, word, None)
    return next((get(word) for word in ("name", "id", "base", "what") if get(word)), None)


def groups_named(node: object) -> Iterator[str]:
    """Every group that an entry refers to, at any depth."""
    if isinstance(node, Mapping):
        for word, value in node.items():
            if word in ("group", "minus") and isinstance(value, str):
                yield value
            else:
                yield from groups_named(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from groups_named(value)
