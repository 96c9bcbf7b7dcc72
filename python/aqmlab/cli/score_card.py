"""The score card as lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from aqmlab.claims import reassessed
from aqmlab.claims.judge import FAILS, HOLDS, INCONCLUSIVE
from aqmlab.io.numbers import counted

if TYPE_CHECKING:
    from aqmlab.tables.document import Line

#: Colour of each verdict, as the part R;G;B of the escape sequence 38;2;R;G;B. The report has these
#: colours too. Colour-blind readers can distinguish them, and can also read the verdict's name.
_COLOUR = {HOLDS: "0;158;115", FAILS: "213;94;0", INCONCLUSIVE: "184;134;11"}


def lines(rows: list[Line], coloured: bool = False) -> Iterator[str]:
    """Two lines for each claim, how many of a study's claims hold, and how many survive elsewhere.

    Nothing is cut or folded, and no table is laid out: that would take longer than reading.
    """
    for study in dict.fromkeys(row["study"] for row in rows):
        own = [row for row in rows if row["study"] == study]
        wide = max(len(row["id"]) for row in own)
        yield study
        for row in own:
            verdict = _verdict(row["verdict"], coloured)
            yield f"  {row['id']:{wide}}  {verdict}  {row['claim']}"
            yield f"  {'':{wide}}  {'':{len(FAILS)}}  {row['why']}"
            if printed := row.get("printed"):
                yield f"  {'':{wide}}  {'':{len(FAILS)}}  as printed: {printed['verdict']}"
        yield f"{study}: {summary(own)}"
        if again := reassessed.summary(own):
            yield again


def _verdict(verdict: str, coloured: bool) -> str:
    padded = f"{verdict:{len(FAILS)}}"
    return f"\x1b[38;2;{_COLOUR[verdict]}m{padded}\x1b[0m" if coloured else padded


def summary(rows: list[Line]) -> str:
    """ "40 claims: 21 hold, 9 do not hold, 10 inconclusive"."""
    verdicts = Counter(row["verdict"] for row in rows)
    printed = [found["verdict"] for row in rows if (found := row.get("printed"))]
    beside = f" (as printed {printed.count(HOLDS)} hold)" if printed else ""
    return (
        f"{counted(len(rows), 'claim')}: {verdicts[HOLDS]} hold, {verdicts[FAILS]} do not hold, "
        f"{verdicts[INCONCLUSIVE]} inconclusive{beside}"
    )
