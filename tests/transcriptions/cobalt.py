"""COBALT: Linux `sch_cake.c` (`cobalt_*`), ns-3 CobaltQueueDisc; Høiland-Jørgensen et al. 2018.

CoDel written so that `drop_next` is also the clock of the first signal, in parallel with BLUE,
whose probability overflows raise and empty queues lower. One FIFO that refuses arrivals when full;
its last packet is never dropped in CAKE; in ns-3 it may be.
"""

from __future__ import annotations

import math
from dataclasses import replace

from .base import MARKABLE, Draws, Fifo, Packet, Parameters, grid, ns

ONE_LESS, ONE_MORE = (0, 1, 4), (10, 12, 15)
"""Counts whose root in sch_cake's table is no nearest whole number."""


class Vars:
    """The state of one queue: Linux `struct cobalt_vars`."""

    count = drop_next = rec_inv_sqrt = 0
    linux = True
    dropping = False
    p_drop = 0.0
    marks = False  # whether CoDel marked the last packet judged, whatever BLUE said
    blue_timer = -math.inf  # a queue never used counts as last visited long ago

    def __init__(self, target: int, interval: int, p_inc: float, p_dec: float) -> None:
        self.target, self.interval, self.p_inc, self.p_dec = target, interval, p_inc, p_dec
        self.least_stay = 0  # CAKE: no packet is signalled that stayed no longer
        self.blue_threshold = math.inf  # ns-3: a longer stay raises the probability

    def control(self, t: int) -> int:
        if self.linux:
            return t + (self.interval * self.rec_inv_sqrt >> 32)
        return t + ns(self.interval / math.sqrt(max(self.count, 1)) / 1e9)

    def invsqrt(self) -> None:
        """`cobalt_invsqrt`, whenever the count rises or falls; a queue begins with zero."""
        if self.count < 16:
            root = 2**32 / math.sqrt(max(self.count, 1))
            # As its table has them, made by Newton steps.
            self.rec_inv_sqrt = round(root) + (self.count in ONE_MORE) - (self.count in ONE_LESS)
        else:
            square = self.rec_inv_sqrt**2 >> 32
            rest = (3 * 2**32 - self.count * square) % 2**64 >> 2
            self.rec_inv_sqrt = (rest * self.rec_inv_sqrt % 2**64 >> 31) % 2**32

    def full(self, now: int) -> None:
        """`cobalt_queue_full`: an overflow."""
        self.raise_p(now)
        self.dropping = True
        self.drop_next = now
        self.count = max(self.count, 1)

    def empty(self, now: int) -> None:
        """`cobalt_queue_empty`: visited and found empty."""
        if self.p_drop > 0 and now - self.blue_timer > self.target:
            self.p_drop = max(self.p_drop - self.p_dec, 0.0)
            self.blue_timer = now
        self.dropping = False
        if self.count > 0 and now >= self.drop_next:
            self.count -= 1
            self.invsqrt()
            self.drop_next = self.control(self.drop_next)

    def raise_p(self, now: int) -> None:
        if now - self.blue_timer > self.target:
            self.p_drop = min(self.p_drop + self.p_inc, 1.0)
            self.blue_timer = now

    def should_drop(self, packet: Packet, now: int, draws: Draws) -> str:
        """`cobalt_should_drop`: "", "mark", "early" (a drop by CoDel) or "forced" (by BLUE)."""
        verdict = ""
        late = now - self.drop_next
        due = self.count > 0 and late >= 0
        stay = now - packet.arrived
        if stay > self.target and stay > self.least_stay:
            if not self.dropping:
                self.dropping = True
                self.drop_next = self.control(now)
            self.count = max(self.count, 1)
        else:
            self.dropping = False
        if due and self.dropping:
            verdict = "mark" if packet.ecn in MARKABLE else "early"
            self.count += 1
            self.invsqrt()
            self.drop_next = self.control(self.drop_next)
            late = now - self.drop_next
        else:
            while due:
                self.count -= 1
                self.invsqrt()
                self.drop_next = self.control(self.drop_next)
                late = now - self.drop_next
                due = self.count > 0 and late >= 0
        self.marks = verdict == "mark"
        if stay > self.blue_threshold:
            self.raise_p(now)
        if self.p_drop > 0 and draws.uniform() < self.p_drop:
            verdict = "forced"
        if self.count == 0:
            self.drop_next = now + self.interval
        elif late > 0 and verdict not in ("early", "forced"):
            self.drop_next = now
        return verdict


class Cobalt(Fifo):
    limit_first = True

    def setup(self, parameters: Parameters) -> None:
        ns3 = parameters.choice("profile", "linux") == "ns3"
        target, interval = ns(parameters.get("target", 0.005)), ns(parameters.get("interval", 0.1))
        mtu_time = 0
        if not ns3:  # cake_set_rate
            mtu = int(parameters.get("mtu", 1514))
            mtu_time = mtu * 8 * 10**9 // self.rate
            longer = max(mtu_time * 3 // 2, target)
            target, interval = longer, max(interval + longer - target, 2 * longer)
        p_inc, p_dec = parameters.get("p_inc", 1 / 256), parameters.get("p_dec", 1 / 4096)
        self.vars = Vars(target, interval, p_inc, p_dec)
        self.vars.least_stay, self.keeps_last = 4 * mtu_time, not ns3
        self.vars.linux = not ns3
        if ns3:
            self.vars.blue_threshold = ns(parameters.get("blue_threshold", 0.4))
        self.ecn = parameters.flag("ecn")
        unlimited = parameters.given("limit") or not ns3
        self.limit_bytes = parameters.get("limit_bytes", math.inf if unlimited else 1_500_000)
        by_bytes = parameters.given("limit_bytes") or ns3
        self.limit = parameters.get("limit", math.inf if by_bytes else 1000)

    def overflowed(self, now: int) -> None:
        self.vars.full(now)

    def dequeue(self, now: int) -> Packet | None:
        while self.queue:
            packet = self.queue.popleft()
            self.bytes -= packet.bytes
            judged = packet if self.ecn else replace(packet, ecn="not-ect")
            verdict = self.vars.should_drop(judged, now, self.draws)
            spared = self.keeps_last and not self.queue
            if verdict in ("early", "forced") and not spared:
                self.dropped(packet, verdict)
                continue
            if self.vars.marks:
                self.marked(packet, "early")
            return packet
        self.vars.empty(now)
        return None

    def state(self) -> dict[str, float]:
        v = self.vars
        return {"count": v.count, "p_drop": v.p_drop, "dropping": v.dropping}


SLOW = {"line_bits_per_s": 1_000_000, "load": 1.5}
CASES = [
    *grid({"limit": 40}, profile=["linux", "ns3"], ecn=[False, True], interval=["100 ms", "10 ms"]),
    *grid({"limit": 40, "ecn": True, "target": "1 ms", "interval": "1 ms", "trial": {"load": 2}},
          profile=["linux", "ns3"]),
    *grid({"limit_bytes": 30000, "interval": "10 ms", "target": "2 ms"}, p_inc=[0.0, 0.05],
          mtu=[0, 600]),
    *grid({"limit": 40, "interval": "20 ms", "trial": SLOW}, profile=["linux", "ns3"]),
    *grid({"profile": "ns3", "limit_bytes": 60000, "ecn": True, "p_inc": 0.05, "trial": SLOW},
          blue_threshold=["400 ms", "50 ms"]),
    {"limit": 20, "limit_bytes": 15000, "p_inc": 0.1, "p_dec": 0.05},
    {"limit": 20, "ecn": True, "p_inc": 0.1, "p_dec": 0.01, "target": "20 ms"},
]  # fmt: skip
