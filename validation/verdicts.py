"""What a comparison found: each figure of each case in both programs, its ratio and its verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import polars as pl

from aqmlab.intervals import interval
from aqmlab.tables.equivalence import (
    DIFFERENT,
    INCONCLUSIVE,
    Judgement,
    Margin,
    judge,
    judge_paired,
)
from validation import recorded
from validation.figures import FIGURES, Figure


@dataclass(frozen=True)
class Compared:
    """A figure of a case in both programs."""

    family: str
    case: str
    figure: Figure
    ours: list[float | None]
    """One for each seed; none if there is no number, such as for a burst that did not end."""
    theirs: list[float | None]
    paired: bool = False

    @property
    def found(self) -> Judgement:
        """The ratio with its 95 % interval, and the verdict; what a program lacks cannot be judged:
        it is inconclusive, or different if it has none at all."""
        if None in self.ours or None in self.theirs:
            both = any(x is not None for x in self.ours) and any(x is not None for x in self.theirs)
            return Judgement(*[math.nan] * 6, INCONCLUSIVE if both else DIFFERENT)
        judged = judge_paired if self.paired else judge
        return judged(self.ours, self.theirs, Margin(self.figure.margin, self.figure.floor))

    @property
    def narrow(self) -> bool:
        """Whether the interval of the difference is within half the margin, or unknown."""
        found = self.found
        return math.isnan(found.half) or found.half <= found.margin / 2

    def _runs(self) -> str:
        """How many the other program has; where ours are more, these behind it."""
        count = str(len(self.theirs))
        return count if len(self.ours) == len(self.theirs) else f"{count} ({len(self.ours)})"

    def row(self) -> str:
        """The two means, the ratio and the verdict, as a row of a table."""
        found = self.found
        ratio = "" if math.isnan(found.ratio) else f"{found.ratio:.3f} ± {found.ratio_half:.3f}"
        described = found.verdict if found.verdict == "equivalent" else f"**{found.verdict}**"
        shown = " | ".join(_mean(values, self.figure) for values in (self.ours, self.theirs))
        title, margin = self.figure.title, f"{self.figure.margin:.0%}"
        columns = (self.case, title, self._runs(), shown, ratio, margin, described)
        return f"| {' | '.join(str(column) for column in columns)} |"


def compared(runs: pl.DataFrame, program: str) -> list[Compared]:
    """Every figure of every case that one of the programs has anything of."""
    each = []
    for (family, name), of in runs.group_by("family", "case", maintain_order=True):
        for field, figure in FIGURES.items():
            if field not in of.columns or of[field].null_count() == len(of):
                continue
            ours, theirs = (of.filter(program=p)[field].to_list() for p in ("aqmlab", program))
            nothing = not any(ours) and not any(theirs)
            if not nothing and (field != "jain_index" or of["flows"][0] > 1):
                paired = bool(of["paired"][0])
                each.append(Compared(str(family), str(name), figure, ours, theirs, paired))
    return each


def table(each: Sequence[Compared], program: str) -> str:
    """Means with 95 % intervals, ratio, margin and verdict, a heading for each family."""
    names = ("case", "figure", "runs", "aqmlab", program, "ratio", "margin", "verdict")
    head = [f"| {' | '.join(names)} |", "| --- " * len(names) + "|"]
    lines: list[str] = []
    for family, of in groupby(each, lambda one: one.family):
        lines += ["", f"**{family}**", "", *head, *(one.row() for one in of)]
    return "\n".join(lines[1:])


def _mean(values: list[float | None], figure: Figure) -> str:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return f"in {len(known)} of {len(values)} runs"
    mean, low, _ = interval(known)
    return f"{figure.scale * mean:.4g} ± {figure.scale * (mean - low):.2g}"


def verdicts(each: Sequence[Compared]) -> str:
    """How many figures are equivalent, inconclusive and different, by figure: one line of words."""
    return recorded.verdicts([(one.figure.title, one.found.verdict) for one in each])


def ratios(each: Sequence[Compared]) -> pl.DataFrame:
    """The ratios as a table of numbers; what one program has nothing of has none.

    Six decimals are kept: the pages show three.
    """
    rows = [(one, one.found) for one in each]
    return pl.DataFrame(
        [
            {
                "case": one.case,
                "figure": one.figure.title.split(",")[0],
                "ratio": round(found.ratio, 6),
                "half": round(found.ratio_half, 6),
                "margin": one.figure.margin,
                "verdict": found.verdict,
            }
            for one, found in rows
            if math.isfinite(found.ratio) and math.isfinite(found.ratio_half)
        ]
    )
