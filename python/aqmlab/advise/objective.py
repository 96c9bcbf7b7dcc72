"""The meaning of an objective's text: terms over measures, each with thresholds that have a source.

    objective := term ("," term)*
    term      := [weight] (noun word | measure ("<" | ">") quantity)
    measure   := its name | (p50 | p90 | p95 | p99 | p99.9 | mean | max) (delay | rtt)

`calls ok, 2 pages fast, response_p90_s < 1 s`. A term gives each run a grade: 0 where its measure
is bad or undefined, 0.8 where it is enough, 1 where more would not be noticed, linear in between.
An objective's score is the weighted mean of the grades. The straight lines, 0.8 and equal weights
are our own choice; the thresholds are from the sources that the terms name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aqmlab import units
from aqmlab.errors import SpecError, nearest
from aqmlab.simulator import measures, renamed
from aqmlab.simulator.renamed import Numbers

ENOUGH = 0.8
"""The grade of a measure at its threshold; our own choice, without a source."""
FAR = 100.0
"""A bound this many times above the largest value, or below the smallest one, is refused;
our own choice, without a source."""


@dataclass(frozen=True)
class Term:
    """A part of an objective: a measure with its thresholds."""

    words: str
    measure: str
    bad: float
    enough: float
    best: float
    source: str
    weight: float = 1.0

    def grade(self, summary: Numbers) -> float:
        """The grade of a run: from 0 (bad or undefined) to 1."""
        value = summary.get(self.measure)
        if not isinstance(value, int | float) or not math.isfinite(value):
            return 0.0
        if (value - self.enough) * (self.best - self.enough) > 0:
            return min(1.0, ENOUGH + (1 - ENOUGH) * _share(value, self.enough, self.best))
        return max(0.0, ENOUGH * _share(value, self.bad, self.enough))

    def holds(self, value: float | None) -> bool:
        """Whether a value of the measure reaches the threshold "enough"."""
        if value is None:
            return False
        return value >= self.enough if self.best >= self.enough else value <= self.enough


def _share(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low)


_G109 = (
    "ITU-T G.109: R 90 very satisfied, 80 satisfied, 70 some, 60 many, 50 nearly all dissatisfied"
)
_LCP = "Web Vitals (recalled): largest contentful paint up to 2.5 s good, from 4 s poor"
_NIELSEN = "Nielsen 1993: 1 s keeps the flow of thought, 10 s the attention (recalled)"
_SIGHT = "constructed, after Krishnan and Sitaraman 2012: 1 % of freezing drives viewers away"
_PLAIN = "the measure itself, a share"

TERMS: dict[str, Term] = {
    term.words: term
    for term in (
        Term("calls ok", "voip_r_mean", 50, 70, 93.2, _G109),
        Term("calls good", "voip_r_mean", 60, 80, 93.2, _G109),
        Term("pages fast", "page_load_p90_s", 10, 2.5, 0, f"{_LCP}; {_NIELSEN}"),
        Term("pages ok", "page_load_p90_s", 10, 4, 0, f"{_LCP}; {_NIELSEN}"),
        Term("responses fast", "share_le_1s", 0, ENOUGH, 1, f"{_PLAIN}; {_NIELSEN}"),
        Term("videos smooth", "video_rebuffer_ratio", 0.05, 0.01, 0, _SIGHT),
        Term("delay low", "queue_delay_mean_s", 0.15, 0.02, 0, "ITU-T G.114: 150 ms; 20 ms: made"),
        Term("link full", "utilisation", 0, ENOUGH, 1, _PLAIN),
        Term("losses few", "drop_rate", 0.1, 0.01, 0, "constructed"),
    )
}
"""The named terms of an objective, by their noun and word."""


USUAL = ("calls ok", "pages fast")
"""Default terms, as far as the users have their measures."""
ELSE = ("responses fast", "videos smooth", "delay low")
"""Terms for users with none of the default terms' measures: the first one whose measure they
have."""


def usual(known: Mapping[str, object]) -> list[Term]:
    """The default terms of users who have these measures."""
    there = [TERMS[words] for words in (*USUAL, *ELSE) if TERMS[words].measure in known]
    return [term for term in there if term.words in USUAL] or there[:1]


def parse(text: str) -> list[Term]:
    """The terms of an objective; an error names the wrong word and lists the known ones."""
    found = [_term(part.strip()) for part in text.split(",") if part.strip()]
    if not found:
        raise SpecError('the objective is empty: write for example "calls ok, pages fast"')
    return found


def _term(text: str) -> Term:
    heavy = re.fullmatch(r"(\d+(?:\.\d+)?)\s+(.+)", text)
    weight, words = (float(heavy[1]), heavy[2]) if heavy else (1.0, text)
    if not 0 < weight < math.inf:
        raise SpecError(f'"{text}": a term needs a weight above 0, such as "2 calls ok"')
    words = " ".join(words.split())
    compared = re.fullmatch(rf"({_SPOKEN.pattern}|[\w.<>-]+?)\s*([<>])=?\s*(.+)", words)
    if compared:
        term = _bound(words, compared[1], *compared.groups()[-2:])
    elif words.lower() in TERMS:
        term = TERMS[words.lower()]
    else:
        known = ", ".join(TERMS)
        hint = nearest(words, list(TERMS))
        raise SpecError(
            f'"{words}" is nothing that can be wanted{hint} (known: {known}; or a measure with its '
            "bound: response_p90_s < 1 s)"
        )
    return Term(**{**term.__dict__, "weight": weight})


_SPOKEN = re.compile(r"(p50|p90|p95|p99|p99\.9|mean|max) (delay|rtt)")
_FAMILIES = {"delay": "queue_delay", "rtt": "tcp_rtt"}


def _bound(words: str, measure: str, sign: str, text: str) -> Term:
    """A term from a measure and its bound. For `<` the grade is 0 at twice the bound and 1 at zero;
    for `>` it is 0 at half of the bound and 1 at 1.5 times the bound."""
    if spoken := _SPOKEN.fullmatch(measure):
        measure = f"{_FAMILIES[spoken[2]]}_{spoken[1].replace('.', '_')}_s"
    if mistake := measures.unknown(measure):
        raise SpecError(mistake)
    measure = renamed.current(measure)
    example = f"write for example {measure} {sign} {_example(measure)}"
    value = units.quantity(text.strip()) or units.quantity(_number(text))
    if value is None or not 0 < value[1] < math.inf:
        raise SpecError(f'"{words}": {text} is no bound: {example}')
    kind, bound = value
    if spoken and not kind:
        bare = text.strip()
        raise SpecError(f'"{words}": {bare} has no unit: write {bare} ms, or {bare} s')
    unit = _unit(measure)
    if kind and kind != _KINDS.get(unit):
        raise SpecError(f'"{words}": {measure} is in {unit or "a plain number"}: {example}')
    if reason := _idle(measure, sign, bound):
        raise SpecError(f'"{words}" separates nothing, since {reason}: {example}')
    bad, best = (2 * bound, 0.0) if sign == "<" else (bound / 2, 1.5 * bound)
    return Term(words, measure, bad, bound, best, "the bound is yours; half as good is bad")


_KINDS = {"s": "s", "bit/s": "bits_per_s", "bytes": "bytes", "payload bytes": "bytes"}
"""The kind of quantity of each unit; a plain number fits any unit."""
_EXAMPLES = {"s": "1 s", "share": "0.1", "bit/s": "5 Mbit/s", "bytes": "100 kB"}
_MOST = {"share": 1.0}
"""Largest possible value of a measure, by its unit."""
_MOST_OF = {"voip_r_mean": 100.0, "voip_r_p5": 100.0, "voip_mos_mean": 5.0, "jain_index": 1.0}
"""The largest value of measures without a unit; those of calls are from ITU-T G.107."""


def _unit(measure: str) -> str:
    return str((measures.find(measure) or {}).get("unit", ""))


def _example(measure: str) -> str:
    most = _MOST_OF.get(measure)
    return f"{0.8 * most:g}" if most else _EXAMPLES.get(_unit(measure), "10")


def _idle(measure: str, sign: str, bound: float) -> str:
    """Why every run would be on one side of the bound; empty if runs can lie on both sides."""
    most = _MOST_OF.get(measure, _MOST.get(_unit(measure)))
    if most is None or bound < most or (sign == ">" and bound == most):
        return ""
    return f"{measure} is never above {most:g}"


def beyond(terms: Sequence[Term], length_s: float, rate: float) -> str:
    """The text of the error for the first bound that no run of this length (s) on a line of this
    rate (bit/s) can reach; empty if there is none."""
    limits = {"s": (length_s, "s, the length of a run"), "bit/s": (rate, "bit/s, the line's rate")}
    for term in terms:
        limit = limits.get(_unit(term.measure))
        if limit is not None and term.words not in TERMS and term.enough > limit[0]:
            most = f"{limit[0]:g} {limit[1]}"
            return f'"{term.words}" separates nothing: {term.measure} is at most {most}'
    return ""


def far(terms: Sequence[Term], runs: Sequence[Numbers]) -> str:
    """The text of the error for the first bound that is far from the values of all these runs, so
    that it separates no candidates; empty if there is none."""
    for term in terms:
        found = [run.get(term.measure) for run in runs]
        values = [v for v in found if isinstance(v, int | float) and math.isfinite(v)]
        if term.words in TERMS or not values or max(values) <= 0:
            continue
        low, high = min(values), max(values)
        if term.enough > FAR * high or term.enough < low / FAR:
            return (
                f'"{term.words}" separates nothing: {term.measure} was between {low:.4g} and '
                f"{high:.4g} whatever the queue"
            )
    return ""


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def score(terms: Sequence[Term], summary: Numbers) -> float:
    """The score of a run: the weighted mean of the terms' grades."""
    weights = math.fsum(term.weight for term in terms)
    return math.fsum(term.weight * term.grade(summary) for term in terms) / weights


def missing(terms: Sequence[Term], summary: Numbers) -> list[Term]:
    """Terms whose measure these users do not have: no call, or no user who browses."""
    return [term for term in terms if term.measure not in summary]
