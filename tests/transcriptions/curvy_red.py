"""Curvy RED: RFC 9332 appendix B, figures 9 and 10.

Signals follow the smoothed delay of the Classic queue: by comparison with the largest of U random
numbers for the Scalable (L4S) queue, of 2 U for the Classic one.
"""

from __future__ import annotations

import math
from collections import deque

from .base import MARKABLE, Discipline, Packet, Parameters, grid, ns


class CurvyRed(Discipline):
    def setup(self, p: Parameters) -> None:
        self.limit = p.get("limit", math.inf)
        line = max(int(self.rate / 8 * 0.25), 1)
        default = math.inf if p.given("limit") else line
        self.limit_bytes = p.get("limit_bytes", default)
        self.tshift, self.T = ns(p.get("tshift", 0.05)), ns(p.get("T", 0.001))
        self.gamma = 2.0 ** -p.get("g_C", 5)
        self.min_th, self.range_c = p.get("min_th", 0.0005), p.get("range_C", 0.5)
        self.range_l = self.range_c / 2 ** p.get("k_power", 1)
        self.U = int(p.get("U", 1))
        self.q_c = 0.0
        self.lq: deque[Packet] = deque()
        self.cq: deque[Packet] = deque()

    def enqueue(self, packet: Packet, now: int) -> None:
        waiting = [*self.lq, *self.cq]
        size = sum(other.bytes for other in waiting)
        if len(waiting) >= self.limit or size + packet.bytes > self.limit_bytes:
            return self.dropped(packet, "overflow")
        (self.lq if packet.ecn in ("ect1", "ce") else self.cq).append(packet)
        return self.queued(packet)

    def scheduler(self, now: int) -> deque[Packet]:
        if not self.lq or not self.cq:
            return self.lq or self.cq
        l_time, c_time = now - self.lq[0].arrived, now - self.cq[0].arrived
        return self.lq if l_time + self.tshift >= c_time else self.cq

    def maxrand(self, u: int) -> float:
        return max(self.draws.uniform() for _ in range(u))

    def dequeue(self, now: int) -> Packet | None:
        while self.lq or self.cq:
            queue = self.scheduler(now)
            packet = queue.popleft()
            time = now - packet.arrived
            if queue is self.lq:
                p_cl = (self.q_c - self.min_th) / self.range_l
                if time > self.T or (p_cl > 0 and p_cl > self.maxrand(self.U)):
                    self.marked(packet, "early")
                return packet
            self.q_c = self.gamma * time / 1e9 + (1 - self.gamma) * self.q_c
            sqrt_p_c = (self.q_c - self.min_th) / self.range_c
            if sqrt_p_c > 0 and sqrt_p_c > self.maxrand(2 * self.U):
                if packet.ecn not in MARKABLE:
                    self.dropped(packet, "early")
                    continue
                self.marked(packet, "early")
            return packet
        return None

    def state(self) -> dict[str, float]:
        return {
            "Q_C": self.q_c,
            "p_CL": min(max((self.q_c - self.min_th) / self.range_l, 0.0), 1.0),
            "classic_packets": len(self.cq),
            "scalable_packets": len(self.lq),
        }


STEEP = {"range_C": "20 ms", "g_C": 2}
CASES = [
    {},
    *grid({**STEEP, "limit": 60}, U=[1, 2], k_power=[0, 1, 2]),
    {**STEEP, "limit_bytes": 9000, "tshift": "1 ms", "T": "20 ms", "trial": {"load": 2}},
    {**STEEP, "limit": 20, "limit_bytes": 20000, "min_th": "5 ms"},
]
