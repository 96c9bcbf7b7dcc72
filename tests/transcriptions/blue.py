"""BLUE: Feng, Kandlur, Saha and Shin, IEEE/ACM ToN 10(4), 2002, figure 4.

Loss raises p_m by d1, an idle link lowers it by d2, at most once per freeze_time. An idle link
goes on lowering it every freeze_time (`repeat`); that is made good at the next arrival.
NetBSD's ALTQ (`altq_blue.c`): steps of +125 and -1 thousandths, both clocks one, microseconds.
"""

import math

from ._pi import limits
from .base import MARKABLE, PASS, Fifo, Packet, Parameters, Verdict, grid, ns, signal


class Blue(Fifo):
    limit_first = True

    def setup(self, p: Parameters) -> None:
        self.ecn, self.altq = p.flag("ecn"), p.choice("profile", "standard") == "altq"
        self.limit, self.limit_bytes = limits(p, 200)
        self.freeze = ns(p.get("freeze_time", 0.05 if self.altq else 0.1))
        self.d1, self.d2 = p.get("d1", 0.0025), p.get("d2", 0.00025)
        self.repeat, self.trigger = p.flag("repeat", True), p.get("trigger", math.inf)
        self.p_m, self.pmark = 0.0, 0
        self.last: int | None = None  # the clock starts at the first packet
        self.idle_since: int | None = None

    def judge(self, packet: Packet, now: int) -> Verdict:
        if len(self.queue) > self.trigger:
            self.loss(now)
        return signal("early") if self.draws.uniform() < self.p_m else PASS

    def decide(self, packet: Packet, now: int) -> None:
        if self.last is None:
            self.last = now
        if self.altq:
            return self.decide_altq(packet, now)
        if self.repeat:
            self.make_good(now)
        return super().decide(packet, now)

    def accept(self, packet: Packet) -> None:
        self.idle_since = None
        super().accept(packet)

    def loss(self, now: int) -> None:
        if now - self.last > self.freeze:
            self.p_m, self.last = min(1.0, self.p_m + self.d1), now

    def overflowed(self, now: int) -> None:
        self.loss(now)

    def make_good(self, now: int) -> None:
        """Decrements that fell due while the link was idle."""
        while self.idle_since is not None:
            due = max(self.idle_since, self.last + self.freeze)
            if due >= now:
                return
            self.p_m, self.last = max(0.0, self.p_m - self.d2), due

    def idle(self, now: int) -> None:
        if self.altq:
            self.last = now
        elif self.last is not None and now - self.last > self.freeze:
            self.p_m, self.last = max(0.0, self.p_m - self.d2), now
        self.idle_since = now

    def decide_altq(self, packet: Packet, now: int) -> None:
        if self.idle_since is not None:
            idle, self.idle_since = now - self.last, None
            if idle >= 2_000_000_000:
                self.pmark, self.last = 1, now
            elif idle // 1000 > self.freeze // 1000:
                self.pmark, self.last = max(0, self.pmark - 1), now
        hit = self.draws.below(1000) < self.pmark and len(self.queue) > 1
        mark = hit and self.ecn and packet.ecn in MARKABLE
        if hit and not mark:
            return self.dropped(packet, "early")
        fits = self.fits(packet)
        if mark:
            self.marked(packet, "early")
        self.accept(packet)
        if fits:
            return None
        victim = self.queue[self.draws.below(len(self.queue))]
        self.queue.remove(victim)
        self.bytes -= victim.bytes
        if (now - self.last) // 1000 > self.freeze // 1000:
            self.pmark, self.last = min(1000, self.pmark + 125), now
        return self.dropped(victim, "overflow")

    def state(self) -> dict[str, float]:
        return {"p": self.pmark / 1000 if self.altq else self.p_m}


FAST = {"freeze_time": "5 ms", "d1": 0.05, "d2": 0.01}
CASES = [
    {"trial": {"load": 2}},
    *grid(FAST, limit=[6, 20], ecn=[False, True], repeat=[False, True], trial=[{"load": 1.3}]),
    *grid(FAST, trigger=[0, 4], repeat=[False, True], ecn=[True]),
    {**FAST, "limit_bytes": 5000},
    *grid({"profile": "altq"}, limit=[6, 20], ecn=[False, True], freeze_time=["50 ms", "3 ms"]),
]
