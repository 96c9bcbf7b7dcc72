"""The score card: every claim of every study with its verdict and the evidence for it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aqmlab.experiment.rules import Claim
from aqmlab.io.numbers import digits_of, ranged

from . import rule
from .cache import blank
from .evidence import Evidence
from .judge import FAILS, HOLDS, Judged

if TYPE_CHECKING:
    from aqmlab.tables.document import Condition, Line


def row(study: str, claim: Claim, evidence: Evidence, looks: int) -> Line:
    """One line of the score card; the scenarios that it uses are left in `evidence.requested`."""
    evidence.requested = set()
    found = rule.judge(claim, evidence, looks=looks)
    shown = rule.deciding(found)
    return {
        **blank(study, claim),
        "verdict": found.verdict,
        "estimate": _finite(shown.mean) if shown else None,
        "interval": _interval(shown),
        "replications": shown.replications if shown else 0,
        "why": _why(claim, found, shown),
        "conditions": [_condition(j) for j in found.judged],
        "deciding": _condition(shown) if shown else None,
    }


def _why(claim: Claim, found: rule.Verdict, shown: Judged | None) -> str:
    if shown is None:
        return "The rule has no condition that these runs meet."
    sentence = shown.why or _words(shown)
    if len(found.judged) > 1:
        sentence += f" ({_tally(found)})"
    known = claim.known if found.verdict != HOLDS else ""
    return " ".join(s for s in (f"{sentence}.", known, claim.note) if s)


def _tally(found: rule.Verdict) -> str:
    same = sum(j.verdict == found.verdict for j in found.judged)
    total = len(found.judged)
    if found.verdict == HOLDS:
        return f"all {total} conditions hold; this is the one nearest to its bound"
    words = "fail" if found.verdict == FAILS else "are inconclusive"
    return f"{same} of {total} conditions {words}; this is the worst of them"


def _words(shown: Judged) -> str:
    value = ranged(shown.mean, shown.low, shown.high, digits_of(shown.mean))
    unit = f" {shown.unit}" if shown.unit else ""
    # An interval of width zero is no certainty, since few seeds may all miss a rare event.
    same = f" under each of {shown.replications} seeds" if _same(shown) else ""
    return f"{shown.text}: {value}{unit}{same}, rule: {shown.bounds.words()}"


def _same(shown: Judged) -> bool:
    """Whether a number that seeds could change has one value under all of them."""
    return shown.replications > 1 and shown.low == shown.high


def _condition(judged: Judged) -> Condition:
    return {
        "text": judged.text,
        "verdict": judged.verdict,
        "estimate": _finite(judged.mean),
        "interval": _interval(judged),
        "replications": judged.replications,
        "bounds": judged.bounds.words(),
        "unit": judged.unit,
        "why": judged.why,
    }


def _interval(judged: Judged | None) -> list[float] | None:
    if judged is None or not (math.isfinite(judged.low) and math.isfinite(judged.high)):
        return None
    return [judged.low, judged.high]


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
