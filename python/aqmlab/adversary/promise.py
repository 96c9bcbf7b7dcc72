"""Promises of a queue discipline or congestion control, and how far a run is from keeping one.

A promise is a bound on a measure, written as in an objective of `aqmlab advise` (`p99 delay < 30
ms`, `utilisation > 60%`), or on a number that only the adversary computes: `use`, `starvation` and
`recovery` (`recovery < 50 round trips`, `recovery to 80% < 100 round trips`)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aqmlab.advise import objective
from aqmlab.errors import SpecError

from . import recovery

OWN = {
    "use": "goodput of all TCP flows, as a share of what pulses and losses leave of the line",
    "starvation": "goodput of the slowest flow over that of the fastest",
    "recovery": "round trips from a loss until all flows have a share of their rate again",
}
"""Numbers that are computed from a run's flows, or from its packets; they are no measures of a
summary."""
USUAL = {
    "aqm": ("p99 delay < 250 ms", "use > 0.4", "starvation > 0.02"),
    "congestion": ("use > 0.4", "starvation > 0.05"),
}
"""Promises that are tried if the user gives none; our own choice, without a source: no user would
accept that one is broken."""
_BOUND = re.compile(r"(use|starvation)\s*>\s*([\d.]+)\s*(%?)")
_RECOVERY = re.compile(
    r"recovery(?: to (?P<share>[\d.]+) ?(?P<percent>%?))? ?< ?(?P<bound>[\d.]+) (?:round trips|rtt)"
)
HALF = 0.5
"""The share of its earlier rate at which a sender counts as recovered, if no other is given: a
sender that halves its window once after a loss (RFC 5681) keeps this share."""
LEAST = 1e-4
"""Smaller measured values are raised to this one: the excess over a bound is the logarithm of a
ratio, which must not be zero."""


@dataclass(frozen=True)
class Promise:
    """A bound that a discipline or congestion control is to keep in every run: on a measure of the
    run's summary, or on one of the numbers in `OWN`."""

    words: str
    measure: str
    bound: float
    at_most: bool
    share: float = HALF
    """For a recovery: the share of the earlier rate that counts as recovered."""

    @property
    def needs_trace(self) -> bool:
        """Whether the number that the promise bounds is computed from the run's packet trace."""
        return self.measure == "recovery"

    def value(
        self,
        answer: Mapping[str, Any],
        genome: Mapping[str, float],
        scenario: Mapping[str, Any],
    ) -> float | None:
        """The value in a run of the number that the promise bounds; None if the run has no such
        value."""
        if self.measure == "recovery":
            line = recovery.line_of(scenario, genome)
            return recovery.round_trips(answer["trace"], line, self.share)
        if self.measure == "use":
            return _use(answer, genome)
        if self.measure == "starvation":
            return _starvation(answer)
        value = answer["summary"].get(self.measure)
        return float(value) if isinstance(value, int | float) else None

    def excess(self, value: float | None) -> float:
        """The logarithm of `value` over the bound (of the bound over `value` if the bound is a
        lower one): above 0 if the promise is broken."""
        if value is None or not math.isfinite(value):
            return -math.inf
        ratio = max(value, LEAST) / self.bound
        return math.log(ratio if self.at_most else 1 / ratio)


def parse(text: str) -> Promise:
    """The promise that a user's text states."""
    words = " ".join(text.split())
    if own := _BOUND.fullmatch(words):
        bound = float(own[2]) / (100 if own[3] else 1)
        if not 0 < bound < 1:
            raise SpecError(f'"{words}": {own[1]} is a share: write for example {own[1]} > 0.1')
        return Promise(words, own[1], bound, at_most=False)
    if back := _RECOVERY.fullmatch(words):
        return _recovery(words, back)
    (term, *more) = objective.parse(words)
    if more or not re.search("[<>]", words):
        raise SpecError(
            f'"{words}" is no promise: write one bound, for example "p99 delay < 30 ms"'
        )
    return Promise(words, term.measure, term.enough, at_most=term.best < term.enough)


def _recovery(words: str, found: re.Match[str]) -> Promise:
    share = float(found["share"] or HALF) / (100 if found["percent"] else 1)
    bound = float(found["bound"])
    if not 0 < share < 1 or bound <= 0:
        raise SpecError(
            f'"{words}": write a share below 100 % and a number of round trips, for example '
            "recovery to 80% < 50 round trips"
        )
    return Promise(words, "recovery", bound, at_most=True, share=share)


def usual(kind: str) -> list[Promise]:
    """The default promises of a queue discipline (`aqm`) or congestion control (`congestion`)."""
    return [parse(words) for words in USUAL[kind]]


def _use(answer: Mapping[str, Any], genome: Mapping[str, float]) -> float | None:
    offered = answer["summary"].get("capacity_mean_bits_per_s")
    if not answer["flows"] or not offered:
        return None
    pulses = min(genome["pulse"], 1.0) * genome["burst"] if genome["pulse"] > 0.01 else 0.0
    left = offered * (1 - pulses) * (1 - genome["loss"]) * 1448 / 1500
    return sum(rate for _, rate in answer["flows"]) / left


def _starvation(answer: Mapping[str, Any]) -> float | None:
    rates = [rate for _, rate in answer["flows"]]
    if len(rates) < 2 or max(rates) <= 0:
        return None
    return min(rates) / max(rates)
