"""Measures how long senders take to recover from losses: the time from a lost packet until their
data passes the line at a share of its earlier rate again, in round trips. The earlier rate is the
most that they have sent in any ten round trips so far, or what datagrams leave of the line if that
is less.

RFC 5166, section 2.2.1, counts the reduction of a rate in the same unit: the responsiveness of a
sender is the number of round trips of sustained congestion until it has halved its rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BEFORE = 10
"""Number of intervals whose mean is the earlier rate of a flow; our own choice, without a
source."""
PACKETS = 10
"""Least number of packets that the line can carry in an interval; our own choice, without a source.
In a shorter interval single packets would count. If a round trip is shorter, rates are means over
the time of this many packets instead."""
STARTED, DROPPED, DATAGRAM, DATA = 1, 2, 0, 3
"""Codes of the trace. Events: transmission began, packet dropped. Kinds: not a TCP segment, a
segment with payload."""


@dataclass(frozen=True)
class Line:
    """The bottleneck link of a trial."""

    duration_s: float
    """Duration of the run, s."""
    rtt_s: float
    """The longest round-trip time of a flow without queues, s."""
    rates: tuple[tuple[float, float], ...]
    """Times (s) and the rates that hold from then on (bit/s)."""
    scripted: bool = False
    """Whether a script of the scenario drops packets."""

    @property
    def interval_s(self) -> float:
        """The interval in which a rate is counted, s: a round trip, or longer on a slow line."""
        slowest = min(rate for _, rate in self.rates)
        return max(self.rtt_s, PACKETS * 12_000 / slowest)

    def carries(self, at: float) -> float:
        """Bytes that the line can carry in the interval that begins at this time (s)."""
        rate = [rate for since, rate in self.rates if since <= at][-1]
        return rate * self.interval_s / 8


def line_of(scenario: Mapping[str, Any], genome: Mapping[str, float]) -> Line:
    """The bottleneck line of a trial: its rates over time, and the longest round-trip time of any
    flow."""

    def seconds(text: str) -> float:
        return float(text.removesuffix("s"))

    (link,) = scenario["link"]
    steps = link.get("rate_steps") or [["0 s", link["rate"]]]
    rates = tuple((seconds(at), float(rate.removesuffix("bit/s"))) for at, rate in steps)
    longest = max(genome["spread"] if genome["flows"] > 1 else 1, 1)
    scripted = any("script" in group for group in scenario["traffic"])
    return Line(seconds(scenario["duration"]), genome["rtt"] * longest / 1e3, rates, scripted)


def round_trips(trace: Mapping[str, Sequence[int]], line: Line, share: float) -> float:
    """The longest recovery of all flows together, in intervals; one that the run's end cuts short
    counts as long as it is. 0 if nothing is lost, or only in the first ten intervals.

    It begins with a drop at the queue, or where the rate fell before a retransmission arrived: the
    packets that a script loses do not reach the queue."""
    count = int(line.duration_s / line.interval_s)
    sent, others, lost = _counted(trace, line.interval_s, count)
    worst, best = 0.0, 0.0
    since: float | None = None
    fell: float | None = None
    for place in range(count):
        begin = place * line.interval_s
        left = max(line.carries(begin) - others[place], 0.0)
        if sent[place] >= share * min(best, left):
            worst = max(worst, begin - since) if since is not None else worst
            since = fell = None
        elif fell is None:
            fell = begin
        if since is None and place >= BEFORE and place in lost:
            since = lost[place] if fell is None else fell
        if place + 1 >= BEFORE:
            best = max(best, sum(sent[place + 1 - BEFORE : place + 1]) / BEFORE)
    if since is None and line.scripted:
        since = fell
    if since is not None:
        worst = max(worst, line.duration_s - since)
    return worst / line.interval_s


def _counted(
    trace: Mapping[str, Sequence[int]], interval_s: float, count: int
) -> tuple[list[int], list[int], dict[int, float]]:
    """Bytes of TCP and bytes of datagrams that passed in each interval, and the time (s) of the
    first loss in each interval that has one."""
    sent, others = [0] * count, [0] * count
    lost: dict[int, float] = {}
    for at, event, kind, again, size in _rows(trace):
        place = int(at / interval_s)
        if place >= count:
            break
        if event == STARTED:
            (others if kind == DATAGRAM else sent)[place] += size
        elif event == DROPPED or again:
            lost.setdefault(place, at)
    return sent, others, lost


def _rows(trace: Mapping[str, Sequence[int]]) -> Iterator[tuple[float, int, int, int, int]]:
    """Data packets of the trace, and transmitted datagrams: time (s), event, kind, whether it is a
    retransmission, bytes."""
    columns = (trace[name] for name in ("time_ns", "event", "kind", "again", "bytes"))
    for at, event, kind, again, size in zip(*columns, strict=True):
        if kind == DATA or (kind == DATAGRAM and event == STARTED):
            yield at / 1e9, event, kind, again, size
