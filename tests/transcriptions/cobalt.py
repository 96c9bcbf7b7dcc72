"""COBALT: Linux `sch_cake.c` (`cobalt_*`), ns-3 CobaltQueueDisc; Hoiland-Jorgensen et al. 2018.

CoDel written so that `drop_next` is also the clock of the first signal, in parallel with BLUE,
whose probability overflows raise and empty queues lower. One FIFO that refuses arrivals when full;
its last packet is never dropped (CAKE's rule).
"""

from __future__ import annotations

import math

from .base import MARKABLE, Draws, Fifo, Packet, Parameters, grid, ns


class Vars:
    """The state of one queue: Linux `struct cobalt_vars`."""

    count = drop_next = 0
    dropping = False
    p_drop = 0.0
    blue_timer = -math.inf  # a queue never used counts as last visited long ago

    def __init__(self, target: int, interval: int, p_inc: float, p_dec: float) -> None:
        self.target, self.interval, self.p_inc, self.p_dec = target, interval, p_inc, p_dec

    def control(self, t: int) -> int:
        return t + ns(self.interval / math.sqrt(max(self.count, 1)) / 1e9)

    def full(self, now: int) -> None:
        """`cobalt_queue_full`: an overflow."""
        if now - self.blue_timer > self.target:
            self.p_drop = min(self.p_drop + self.p_inc, 1.0)
            self.blue_timer = now
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
            self.drop_next = self.control(self.drop_next)

    def should_drop(self, packet: Packet, now: int, draws: Draws, target: float) -> str:
        """`cobalt_should_drop`: "", "mark", "early" (a drop by CoDel) or "forced" (by BLUE)."""
        verdict = ""
        late = now - self.drop_next
        due = self.count > 0 and late >= 0
        if now - packet.arrived > target:
            if not self.dropping:
                self.dropping = True
                self.drop_next = self.control(now)
            self.count = max(self.count, 1)
        else:
            self.dropping = False
        if due and self.dropping:
            verdict = "mark" if packet.ecn in MARKABLE else "early"
            self.count += 1
            self.drop_next = self.control(self.drop_next)
            late = now - self.drop_next
        else:
            while due:
                self.count -= 1
                self.drop_next = self.control(self.drop_next)
                late = now - self.drop_next
                due = self.count > 0 and late >= 0
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
        self.target = ns(parameters.get("target", 0.005))
        self.vars = Vars(
            self.target,
            ns(parameters.get("interval", 0.1)),
            parameters.get("p_inc", 1 / 256),
            parameters.get("p_dec", 1 / 4096),
        )
        self.ecn = parameters.flag("ecn")
        self.limit_bytes = parameters.get("limit_bytes", math.inf)
        bytes_given = parameters.given("limit_bytes")
        self.limit = parameters.get("limit", math.inf if bytes_given else 1000)

    def overflowed(self, now: int) -> None:
        self.vars.full(now)

    def dequeue(self, now: int) -> Packet | None:
        if not self.queue:
            self.vars.empty(now)
            return None
        while True:
            packet = self.queue.popleft()
            self.bytes -= packet.bytes
            judged = packet
            if not self.ecn:  # no mark is possible
                judged = Packet(packet.id, packet.flow, packet.bytes, arrived=packet.arrived)
            verdict = self.vars.should_drop(judged, now, self.draws, self.target)
            if verdict in ("early", "forced") and self.queue:
                self.dropped(packet, verdict)
                continue
            if verdict == "mark":
                self.marked(packet, "early")
            return packet

    def state(self) -> dict[str, float]:
        v = self.vars
        return {"count": v.count, "p_drop": v.p_drop, "dropping": v.dropping}


CASES = [
    {"limit": 40, "ecn": True, "target": "1 ms", "interval": "1 ms", "trial": {"load": 2}},
    *grid({"limit": 40}, ecn=[False, True], interval=["100 ms", "10 ms"]),
    *grid({"limit_bytes": 30000, "interval": "10 ms", "target": "2 ms"}, p_inc=[0.0, 0.05]),
    {"limit": 20, "limit_bytes": 15000, "p_inc": 0.1, "p_dec": 0.05},
    {"limit": 20, "ecn": True, "p_inc": 0.1, "p_dec": 0.01, "target": "20 ms"},
]
