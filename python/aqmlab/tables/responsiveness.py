"""The results of a test of responsiveness in a run, computed from its probes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aqmlab.runs.laboratory import FinishedRun
from aqmlab.scores import responsiveness, saturation
from aqmlab.scores.form import mean
from aqmlab.simulator.engine import quantity
from aqmlab.simulator.forms import Traffic
from aqmlab.simulator.network_tests.responsiveness import SELF

TLS_ROUND_TRIPS = {"1.3": 1, "1.2": 2, "none": 0}
"""Round trips of a foreign probe's TLS handshake, by the version of TLS."""


@dataclass(frozen=True)
class Probes:
    """Probes in the order in which they began: arrays of times in seconds, NaN if one is
    missing."""

    begun: np.ndarray
    ended: np.ndarray
    own: np.ndarray
    """For each probe, whether it is a self probe."""
    tcp: np.ndarray
    tls: np.ndarray
    http: np.ndarray

    def within(self, begin: float, end: float) -> tuple[list[float], ...]:
        """Durations of the probes that ended from `begin` to `end`: TCP, TLS and HTTP of foreign
        probes, and self probes, in seconds."""
        kept = (self.ended >= begin) & (self.ended < end)
        foreign, own = kept & ~self.own, kept & self.own
        parts = [of[foreign & np.isfinite(of)].tolist() for of in (self.tcp, self.tls, self.http)]
        return (*parts, self.http[own].tolist())

    def took(self, begin: float, end: float) -> tuple[list[float], list[float]]:
        """Total durations of the foreign probes and of the self probes that began from `begin` to
        `end`, in seconds."""
        kept = (self.begun >= begin) & (self.begun < end)
        took = self.ended - self.begun
        return took[kept & ~self.own].tolist(), took[kept & self.own].tolist()

    def answered(self, begin: float, end: float) -> float:
        """The time at which all pairs of probes that began from `begin` to `end` are answered, if a
        pair's self probe begins when its foreign probe ends, as in goresponsiveness
        (rpm/rpm.go)."""
        took = self.took(begin, end)
        begun = self.begun[(self.begun >= begin) & (self.begun < end) & ~self.own].tolist()
        pairs = zip(begun, *took, strict=False)
        return max((sum(pair) for pair in pairs), default=end)


def groups(run: FinishedRun) -> dict[str, Traffic]:
    """The traffic groups of a test over HTTP/2; empty without one."""
    found = {
        str(of.get("name")): of
        for of in run.scenario.get("traffic", [])
        if of.get("app") == "responsiveness"
    }
    loads = [name for name in found if name.startswith(f"{SELF} ")]
    timed = any(of.get("probes", "both") in ("both", "foreign") for of in found.values())
    return found if timed and loads else {}


def probes(run: FinishedRun, trips: int = 1) -> Probes:
    """The run's probes; `trips` is the number of round trips of the TLS handshake."""
    table = run.columns("probes")
    begun = table["begun_ns"].astype(float) / 1e9
    own = table["self"].astype(bool)
    tcp, tls, http = (table[name].astype(float) for name in ("tcp_s", "tls_s", "http_s"))
    handshake = np.where(own, 0.0, tcp + (trips * tls if trips else 0.0))
    return Probes(begun, begun + handshake + http, own, tcp, tls, http)


@dataclass(frozen=True)
class Result:
    """The results of a test, and start and end (s) of the part of the run whose probes count by the
    draft's rule."""

    numbers: Mapping[str, float | str]
    begin: float
    end: float


def result(run: FinishedRun) -> Result | None:
    """The results of the run's test over HTTP/2; None without one."""
    found = groups(run)
    if not found:
        return None
    loads = [of for name, of in found.items() if name.startswith(f"{SELF} ")]
    begin, interval = _time(loads[0].get("start")), _time(loads[0].get("interval"))
    ends = min(begin + _time(loads[0].get("lasts")), run.summary["simulated_s"])
    count = int((ends - begin) / interval + 1e-9)
    trips = TLS_ROUND_TRIPS[next(iter(found.values())).get("tls", "1.3")]
    sampled = probes(run, trips)
    edges = [begin + i * interval for i in range(count + 1)]
    names = [name for name in found if name.startswith(f"{SELF} ")]
    goodput = _goodput(run, names, edges)

    def at(first: int, last: int) -> tuple[list[float], ...]:
        return sampled.within(edges[first], edges[last + 1])

    ended = saturation.draft(goodput, lambda first, last: _rpm(at(first, last), trips))
    parts = at(ended.first, ended.last) if count else ([], [], [], [])
    numbers = _numbers(parts, trips) | {
        "goodput_bits_per_s": mean(goodput[ended.first : ended.last + 1]),
        "confidence": ended.confidence,
        "ended_s": edges[ended.last + 1] if count else begin,
    }
    numbers |= _as_goresponsiveness(sampled, goodput, edges)
    if len(names) > 1:
        numbers["rpm-networkquality"] = numbers["rpm"]
    last = edges[ended.last + 1] if count else begin
    return Result(numbers, edges[ended.first], last)


def _time(value: object) -> float:
    return float(value) if isinstance(value, int | float) else quantity(str(value), "time")


def _goodput(run: FinishedRun, names: Sequence[str], edges: Sequence[float]) -> list[float]:
    """Goodput of the load-generating connections in each interval, bit/s; payload is assumed to
    arrive evenly within a second."""
    seconds = run.columns("seconds")
    counted = np.sum([seconds[f"{name}.goodput_bytes"].astype(float) for name in names], axis=0)
    arrived = np.interp(
        edges, np.arange(len(counted) + 1), np.concatenate(([0.0], np.cumsum(counted)))
    )
    return (8 * np.diff(arrived) / np.diff(edges)).tolist()


def _rpm(parts: tuple[list[float], ...], trips: int) -> float:
    tcp, tls, http, own = parts
    return responsiveness.draft(tcp, http, own, tls if trips else None)


def _numbers(parts: tuple[list[float], ...], trips: int) -> dict[str, float | str]:
    tcp, tls, http, own = parts
    means = [responsiveness.trimmed_mean(part) for part in (tcp, tls, http)]
    rpm = _rpm(parts, trips)
    return {
        "rpm": rpm,
        "rpm-rating": responsiveness.rating(rpm),
        "foreign_s": mean(means if trips else [means[0], means[2]]),
        "tcp_s": means[0],
        "tls_s": means[1],
        "http_s": means[2],
        "loaded_s": responsiveness.trimmed_mean(own),
        "probes": float(len(http) + len(own)),
    }


def _as_goresponsiveness(
    sampled: Probes, goodput: Sequence[float], edges: Sequence[float]
) -> dict[str, float | str]:
    """The results that goresponsiveness would give for the run, from the total durations of foreign
    probes."""
    each = [sampled.took(a, b) for a, b in itertools.pairwise(edges)]
    # A probe without an answer makes the mean of its interval NaN.
    whole = [mean(foreign) + mean(own) for foreign, own in each]
    answered = [sampled.answered(a, b) for a, b in itertools.pairwise(edges)]
    places = (np.searchsorted(edges, answered, side="right") - 1).tolist()
    ended = saturation.goresponsiveness(goodput, whole, places)
    counted = each[ended.first : ended.last + 1]
    foreign = [one for of, _ in counted for one in of if math.isfinite(one)]
    own = [one for _, of in counted for one in of if math.isfinite(one)]
    if not foreign or not own:
        return {}
    return {
        "rpm-goresponsiveness": responsiveness.goresponsiveness(foreign, own),
        "rpm-goresponsiveness-95": responsiveness.goresponsiveness(
            foreign, own, keep=responsiveness.TMP
        ),
        "rpm-goresponsiveness-p90": responsiveness.goresponsiveness_percentile(foreign, own),
    }
