"""Pairs of claims: one of the paper, and one that reassesses it for another set-up.

A claim of kind `ours` names in `revisits` the claim of the paper that it reassesses. Its rule is
that claim's rule with other runs, so that the pair shows whether the conclusion still holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aqmlab.io.numbers import with_verb

from .judge import FAILS, HOLDS, INCONCLUSIVE

if TYPE_CHECKING:
    from aqmlab.tables.document import Line


def pairs(claims: Sequence[Line]) -> list[tuple[Line | None, Line]]:
    """Pairs of lines of a score card: a line that is revisited, and the one that revisits it.

    They are in the order of the score card; the first of a pair is None if its part was not run.
    """
    known = {row["id"]: row for row in claims}
    return [(known.get(str(row["revisits"])), row) for row in claims if row.get("revisits")]


def summary(claims: Sequence[Line]) -> str:
    """A sentence on how many conclusions still hold; "" if none is reassessed."""
    both = [(then, now) for then, now in pairs(claims) if then is not None]
    held = [now["verdict"] for then, now in both if then["verdict"] == HOLDS]
    others = [now["verdict"] for then, now in both if then["verdict"] != HOLDS]
    described = []
    if held:
        described.append(f"of {len(held)} that hold here with its own set-up {_counted(held)}")
    if others:
        described.append(f"of {len(others)} that do not, or are inconclusive, {_counted(others)}")
    return f"Conclusions of the paper reassessed: {'; '.join(described)}." if described else ""


def _counted(verdicts: list[str]) -> str:
    found = Counter(verdicts)
    return (
        f"{with_verb(found[HOLDS], 'hold')} there, {with_verb(found[FAILS], 'do')} not hold, "
        f"{found[INCONCLUSIVE]} inconclusive"
    )
