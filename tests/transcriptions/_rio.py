"""RIO, RED with In and Out: Clark and Fang, IEEE/ACM ToN 6(4), 1998; ns-2.35 `queue/rio.cc`.

An In packet is judged by the average of In packets, an Out packet by that of all packets. The
test of each class, its guard and its spacing are those of ns-2's RED with `wait`.
"""

from collections.abc import Callable

from ._red_paper import slope
from .base import PASS, Draws, Fifo, Packet, Parameters, Verdict, drop, packets_in, signal


class Class:
    """Thresholds, count and "old" flag of In or Out."""

    def __init__(self, low: float, high: float, max_p: float) -> None:
        self.low, self.high, self.max_p = low, high, max_p
        self.count, self.old = 0, False

    def judge(self, avg: float, q: int, draws: Draws) -> Verdict:
        self.count += 1
        if avg < self.low or q <= 1:
            self.old = False
            return PASS
        if avg >= self.high:
            return drop("forced")
        if not self.old:
            self.count, self.old = 1, True
            return PASS
        p, c = slope(avg, self.low, self.high, self.max_p, gentle=False), self.count
        p = 0.0 if c * p < 1 else p / (2 - c * p) if c * p < 2 else 1.0
        if draws.uniform() < p:
            self.count = 0
            return signal("early")
        return PASS


class Average:
    """A RED average with its own idle clock."""

    def __init__(self, w: float, s: float) -> None:
        self.value, self.w, self.s = 0.0, w, s
        self.since: int | None = None

    def update(self, q: int, now: int) -> None:
        if self.since is not None:
            self.value *= (1 - self.w) ** packets_in(now - self.since, self.s)
            self.since = None
        self.value = (1 - self.w) * self.value + self.w * q


class InOut(Fifo):
    """RIO behind a rule that says which packets are In."""

    looks_again = True
    is_in: Callable[[Packet], bool]
    ns2 = False

    def setup_rio(self, p: Parameters) -> None:
        self.ecn, self.limit = p.flag("ecn"), p.get("limit", 50)
        self.ins, self.outs = (
            Class(p.get(f"{name}_min_th", low), p.get(f"{name}_max_th", high),
                  p.get(f"{name}_max_p", max_p))
            for name, low, high, max_p in [("in", 15, 30, 1 / 50), ("out", 5, 15, 1 / 10)]
        )  # fmt: skip
        w, s = p.get("w_q", 0.002), self.packet_seconds(p.get("mean_packet_bytes", 500))
        self.avg_in, self.avg_total = Average(w, s), Average(w, s)
        self.tags: dict[int, bool] = {}  # whether the packets waiting are In
        self.tag = False  # whether the arrival is

    def waiting_in(self) -> int:
        return sum(self.tags.values())

    def judge(self, packet: Packet, now: int) -> Verdict:
        self.tag = self.is_in(packet)
        if self.tag:
            self.avg_in.update(self.waiting_in(), now)
        if self.tag or not self.ns2:  # ns-2 forgets the averages at Out arrivals
            self.avg_total.update(len(self.queue), now)
        if self.tag:
            return self.ins.judge(self.avg_in.value, self.waiting_in(), self.draws)
        return self.outs.judge(self.avg_total.value, len(self.queue), self.draws)

    def accept(self, packet: Packet) -> None:
        self.tags[packet.id] = self.tag
        super().accept(packet)

    def decide(self, packet: Packet, now: int) -> None:
        super().decide(packet, now)
        if not self.ns2 and not self.waiting_in():
            self.avg_in.since = now if self.tag else self.avg_in.since

    def lost(self, why: str) -> None:
        if why == "early":
            return
        if self.tag:
            self.ins.count = 0
        elif not self.ns2:
            self.outs.count = 0

    def dequeue(self, now: int) -> Packet | None:
        packet = super().dequeue(now)
        if packet is None:
            return None
        was_in = self.tags.pop(packet.id)
        if self.ns2:  # one start of idleness for both clocks
            self.avg_total.since = None
            if was_in:
                self.avg_in.since = None
        elif was_in and not self.waiting_in():
            self.avg_in.since = now
        return packet

    def idle(self, now: int) -> None:
        self.avg_total.since = now
        if self.ns2:
            self.avg_in.since = now

    def state(self) -> dict[str, float]:
        return {"avg_in": self.avg_in.value, "avg_total": self.avg_total.value}
