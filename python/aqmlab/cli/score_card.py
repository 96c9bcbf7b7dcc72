"""The score card on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aqmlab.claims import revisited
from aqmlab.claims.judge import FAILS, HOLDS, UNDECIDED
from aqmlab.io.numbers import counted

if TYPE_CHECKING:
    from rich.console import Console

#: The colours of the report: told apart by colour-blind readers, and the word says it anyway.
_STYLE = {HOLDS: "#009E73", FAILS: "#D55E00", UNDECIDED: "#B8860B"}


def score_card(rows: list[dict[str, Any]], console: Console) -> None:
    """One table for each study, how many of its claims hold, and how many survive elsewhere."""
    from rich.table import Table
    from rich.text import Text

    for study in dict.fromkeys(row["study"] for row in rows):
        own = [row for row in rows if row["study"] == study]
        table = Table(title=study, title_justify="left", expand=False, show_lines=False)
        table.add_column("claim", no_wrap=True)
        table.add_column("verdict", no_wrap=True)
        table.add_column("what the paper says")
        table.add_column("evidence")
        for row in own:
            verdict = Text(row["verdict"], style=_STYLE[row["verdict"]])
            table.add_row(row["id"], verdict, row["claim"], row["why"])
        console.print(table)
        console.print(f"{study}: {summary(own)}")
        if again := revisited.summary(own):
            console.print(again)


def plain(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The same as lines for a file or a pipe: nothing is cut or folded, nothing heavy loaded."""
    for study in dict.fromkeys(row["study"] for row in rows):
        own = [row for row in rows if row["study"] == study]
        wide = max(len(row["id"]) for row in own)
        yield study
        for row in own:
            yield f"  {row['id']:{wide}}  {row['verdict']:{len(FAILS)}}  {row['claim']}"
            yield f"  {'':{wide}}  {'':{len(FAILS)}}  {row['why']}"
        yield f"{study}: {summary(own)}"
        if again := revisited.summary(own):
            yield again


def summary(rows: list[dict[str, Any]]) -> str:
    """ "40 claims: 21 hold, 9 do not hold, 10 undecided"."""
    verdicts = Counter(row["verdict"] for row in rows)
    return (
        f"{counted(len(rows), 'claim')}: {verdicts[HOLDS]} hold, {verdicts[FAILS]} do not hold, "
        f"{verdicts[UNDECIDED]} undecided"
    )
