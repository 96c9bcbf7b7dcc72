"""The parts of a claim: numbers, conditions on them, and the sentence that these decide.

Each part is a frozen class, as in `grammar` (docs/studies.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .shapes import key

Table_ = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A number that needs no run, such as what a queue alone does."""

    MARK: ClassVar = ("probe",)

    probe: str = key("one of `tables/statistics`")
    args: Table_ = key("what it takes", default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfCalibration:
    """A number of a calibration."""

    MARK: ClassVar = ("calibration",)

    calibration: str = key("such as `r_squared`")
    base: str | None = key("of which base", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """A group's cells with these values on these axes."""

    group: str = key("the group")
    where: Table_ = key("axes and values", default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A statistic of two runs under the same seed."""

    MARK: ClassVar = ("pair",)

    pair: str = key("one of `tables/statistics`")
    a: Cells = key("the first")
    b: Cells = key("the second")
    args: Table_ = key("what it takes", default_factory=dict)
    over: str | None = key("of `a` and every cell of `b`, taken together", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Across:
    """A statistic across the cells of a group under one seed."""

    MARK: ClassVar = ("across",)

    across: str = key("one of `tables/statistics`")
    group: str = key("the group")
    where: Table_ = key("axes and values", default_factory=dict)
    args: Table_ = key("what it takes", default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A metric or statistic of one cell, or of several taken together."""

    group: str = key("the group")
    where: Table_ = key("axes and values", default_factory=dict)
    metric: str | None = key("a metric", default=None)
    statistic: str | None = key("or one of `tables/statistics`", default=None)
    summary: str | None = key("or a path of the summary", default=None)
    args: Table_ = key("what the statistic takes", default_factory=dict)
    scale: float = key("what the number is multiplied by", default=1.0)
    over: str | None = key("how several cells become one number", default=None)


Let = Probe | OfCalibration | Pair | Across | Number
Names = Mapping[str, Sequence[object]] | Sequence[Table_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A number, computed for every seed, and its bounds."""

    CALLED: ClassVar = ""

    let: Table_ = key("names and what they stand for; `$name` is a value of `each` or `some`")
    value: str = key("what is computed of them: + - * / abs min max log sqrt")
    text: str | None = key("the sentence that the report shows", default=None)
    unit: str = key("for the reader", default="")
    each: Any = key("lists of values by name, or rows: it must hold for all", default_factory=dict)
    some: Any = key(
        "combinations of names and values as in `each`, of which one suffices", default=None
    )
    at_least: float | None = key("a bound", default=None)
    at_most: float | None = key("a bound", default=None)
    above: float | None = key("a strict bound", default=None)
    below: float | None = key("a strict bound", default=None)

    def mistake(self) -> str | None:
        """A sentence if the condition has no bound."""
        bounds = (self.at_least, self.at_most, self.above, self.below)
        return f'"{self.value}" has no bound' if all(b is None for b in bounds) else None

    @property
    def strict(self) -> bool:
        """Whether a value equal to one of the condition's bounds violates it."""
        return self.above is not None or self.below is not None

    @property
    def low(self) -> float:
        """The lower bound; minus infinity if there is none."""
        low = self.at_least if self.above is None else self.above
        return -math.inf if low is None else float(low)

    @property
    def high(self) -> float:
        """The upper bound; infinity if there is none."""
        high = self.at_most if self.below is None else self.below
        return math.inf if high is None else float(high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Several:
    """Conditions of which one suffices, or that must all hold."""

    CALLED: ClassVar = ""
    MARK: ClassVar = ("any", "all")

    any: tuple[Several | Condition, ...] = key("one suffices", default=())
    all: tuple[Several | Condition, ...] = key("all must hold", default=())
    text: str | None = key("for readers of the file", default=None)
    each: Any = key("lists of values by name, or rows: it must hold for all", default_factory=dict)
    some: Any = key(
        "combinations of names and values as in `each`, of which one suffices", default=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence of the paper in our words, and the rule that was written before the run."""

    id: str = key("as in the list of published claims")
    part: str = key("the part that it belongs to")
    claim: str = key("the sentence")
    rule: str = key("the rule in words")
    version: int = key("raised whenever anything of the rule changes")
    conditions: tuple[Several | Condition, ...] = key("all must hold", name="condition")
    kind: str = key(
        "`qualitative`, `quantitative`, `calibration`, `headline`; `ours`: not of the paper",
        default="",
    )
    known: str = key("shown unless it holds: why, as far as we know", default="")
    note: str = key("always shown", default="")
    revisits: str | None = key("of kind ours: the claim that it reassesses", default=None)
