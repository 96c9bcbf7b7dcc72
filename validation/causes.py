"""Why a figure is not equivalent in both programs, and the case without that cause.

`causes.toml` says it, by hand. A cause is believed only as far as a run shows it: the control, the
case with nothing but the cause taken out, must be equivalent in both programs.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

FILE = Path(__file__).with_name("causes.toml")
NONE = "none in either"


@dataclass(frozen=True)
class Cause:
    """A known cause of differences between the programs, and the cases in which it makes them
    differ."""

    part: str
    """Part of the page, one of `page.PARTS`; causes of the kernel's cases hold for an older kernel
    too."""
    case: str
    """Regular expression that matches the whole names of these cases."""
    control: str
    """Name of the counter-experiment, a case without this cause; it may refer to groups of the
    expression (`\\1`)."""
    why: str
    """Why the cause makes the programs differ: a sentence."""
    figures: tuple[str, ...] = ()
    """Figures in which the cause makes the programs differ; empty for all figures."""
    figure: str = ""
    """The figure of the counter-experiment that counts, if it is another one."""

    def of(self, case: str, figure: str) -> str | None:
        """Name of the counter-experiment for a case, if the cause makes the programs differ in this
        figure of the case."""
        if self.figures and figure not in self.figures:
            return None
        match = re.fullmatch(self.case, case)
        return match.expand(self.control) if match else None


@dataclass(frozen=True)
class Difference:
    """A figure that is not equivalent."""

    case: str
    figure: str
    ratio: str
    verdict: str
    why: str = ""
    """The cause as a sentence; empty if no cause is known."""
    control: str = ""
    described: str = ""
    """What the counter-experiment showed: its ratio, or that neither program had any value."""
    shown: bool = False
    """Whether the counter-experiment is equivalent."""


def known() -> list[Cause]:
    """All causes in the file of known causes."""
    described = tomllib.loads(FILE.read_text("utf-8"))["causes"]
    return [Cause(**{**one, "figures": tuple(one.get("figures", ()))}) for one in described]


def differences(part: str, ratios: pl.DataFrame, causes: list[Cause]) -> Iterator[Difference]:
    """What is not equivalent in a comparison, in the order of its table."""
    for row in ratios.filter(pl.col("verdict") != "equivalent").iter_rows(named=True):
        case, figure = row["case"], row["figure"]
        one = Difference(case, figure, _ratio(row), row["verdict"])
        yield next(
            (
                _explained(one, cause, control, ratios)
                for cause in causes
                if part in (cause.part, f"{cause.part}.older")
                and (control := cause.of(case, figure))
            ),
            one,
        )


def _explained(one: Difference, cause: Cause, control: str, ratios: pl.DataFrame) -> Difference:
    of = ratios.filter(pl.col("case") == control)
    found = of.filter(pl.col("figure") == (cause.figure or one.figure)).rows(named=True)
    if found:
        described, shown = (
            f"{_ratio(found[0])}, {found[0]['verdict']}",
            found[0]["verdict"] == "equivalent",
        )
    else:
        # A figure that neither program has anything of is not in the table.
        described, shown = (NONE, True) if len(of) else ("not run", False)
    return Difference(
        one.case, one.figure, one.ratio, one.verdict, cause.why, control, described, shown
    )


def _ratio(row: dict[str, float]) -> str:
    return f"{row['ratio']:.3f} ± {row['half']:.3f}"
