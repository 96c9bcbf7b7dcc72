"""Workloads of transfers, the same list for every program: starts, stations, sizes.

A station is a distance: every program has `STATIONS` of them, at round trips spread evenly over the
case's. A transfer is a connection that sends its bytes and ends. Sizes are whole segments, because
ns-2's one-way senders know no other.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import Any, Protocol

STATIONS = 20
"""Distances of transfers, each its own round trip."""
MOST = 1000
"""Segments of the longest web transfer: without a bound the mean takes hours to settle."""
LEAST, SHAPE = 2, 1.2
"""Pareto distribution of web transfers: smallest size (segments) and shape, as in the web traffic
of ns-2's examples (a mean of 12 packets without a bound)."""


@dataclass(frozen=True)
class Transfer:
    """One connection that sends a number of segments."""

    start_us: int
    station: int
    segments: int


class Link(Protocol):
    """The properties of a case on which a workload depends."""

    @property
    def rate_mbit(self) -> float:
        """Rate of the link in Mbit/s."""
        ...

    @property
    def end_s(self) -> int:
        """Time at which the run ends, s."""
        ...


class Workload(Protocol):
    """Transfers that are sent in addition to the bulk flows."""

    def transfers(self, seed: int, link: Link, /) -> list[Transfer]:
        """The list under a seed, in order of start."""
        ...


@dataclass(frozen=True)
class Web:
    """Transfers with Pareto sizes that start as a Poisson process."""

    load: float
    """Mean rate of the packets of 1,500 B, as a share of the link's."""

    def __str__(self) -> str:
        """The workload's part of a case's name."""
        return f"web{100 * self.load:g}"

    def transfers(self, seed: int, link: Link) -> list[Transfer]:
        """The list under a seed, in order of start."""
        draws = random.Random(seed)
        gap_s = _mean() * 1500 * 8 / (self.load * link.rate_mbit * 1e6)
        starts = accumulate(iter(lambda: draws.expovariate(1 / gap_s), None))
        return [
            Transfer(round(start * 1e6), draws.randrange(STATIONS), _size(draws.random()))
            for start in takewhile(lambda start: start < link.end_s, starts)
        ]


@dataclass(frozen=True)
class Burst:
    """Flows that start together at a random instant and share a number of segments."""

    flows: int
    segments: int
    after_s: float
    within_s: float
    """The burst starts at an instant drawn uniformly from this time after `after_s`, s."""

    def __str__(self) -> str:
        """The workload's part of a case's name; the time is left out if the burst begins within 10
        s, as in the paper."""
        within = "" if self.within_s == 10 else f"in{self.within_s:g}s"
        return f"burst{self.flows}{within}"

    def transfers(self, seed: int, _link: Link) -> list[Transfer]:
        """The transfers of the run with this seed."""
        start = round(1e6 * (self.after_s + self.within_s * random.Random(seed).random()))
        each, more = divmod(self.segments, self.flows)
        return [Transfer(start, i % STATIONS, each + (i < more)) for i in range(self.flows)]


def _mean() -> float:
    """Segments of a web transfer, on average."""
    sizes = range(LEAST, MOST + 1)
    return sum(k * (_beyond(k) - _beyond(k + 1)) for k in sizes) / (1 - _beyond(MOST + 1))


def _size(uniform: float) -> int:
    """Segments of a web transfer: inverse of the bounded distribution, rounded down."""
    top = _beyond(MOST + 1)
    return int(LEAST * (1 - uniform * (1 - top)) ** (-1 / SHAPE))


def _beyond(segments: float) -> float:
    """Probability of a size of at least `segments` segments, before the bound."""
    return (LEAST / segments) ** SHAPE


def as_lines(transfers: Sequence[Transfer]) -> str:
    """As the scripts read them: start in s, station, segments."""
    return "".join(f"{t.start_us / 1e6:.6f} {t.station} {t.segments}\n" for t in transfers)


def replayed(
    transfers: Sequence[Transfer],
    rtt_us: Callable[[int], int],
    octets: Callable[[int], int],
    tcp: dict[str, Any],
) -> dict[str, Any]:
    """aqmlab's group of connections that only send: round trip of a station, bytes of segments."""
    return {
        "app": "replay",
        "name": "transfers",
        "side": "servers",
        "model": {"file": "transfers.jsonl", "text": _recording(transfers, rtt_us, octets)},
        "tcp": tcp,
    }


def _recording(
    transfers: Sequence[Transfer], rtt_us: Callable[[int], int], octets: Callable[[int], int]
) -> str:
    lines = [f"recording {transfers[-1].start_us} {len(transfers)}"]
    for t in transfers:
        opener, acceptor = 1, t.station + 2
        epoch = f"0,{octets(t.segments)},0,0"
        lines.append(f"{t.start_us} {rtt_us(t.station)} 0 {opener} {acceptor} fin epochs {epoch}")
    return "\n".join(lines)
