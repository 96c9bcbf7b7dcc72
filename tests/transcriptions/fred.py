"""FRED: Lin and Morris, SIGCOMM 1997, figure 4.

RED, with a count of waiting packets and of strikes for each flow that has some waiting: a flow
below its fair share is not tested, one far above it loses all.
"""

from __future__ import annotations

from fractions import Fraction

from .base import PASS, Fifo, Packet, Parameters, Verdict, drop, grid


class Flow:
    qlen = strike = 0


class Fred(Fifo):
    def setup(self, p: Parameters) -> None:
        self.limit = p.get("limit", 60)
        self.min_th = p.get("min_th", self.limit / 4)
        self.max_th = p.get("max_th", 2 * self.min_th)
        self.w_q = p.get("w_q", 0.002)
        self.max_p = p.get("max_p", 0.02)
        self.min_q = p.get("min_q", 2)
        self.mean = p.get("mean_packet_bytes", 1000)
        self.avg, self.count = 0.0, -1
        self.flows: dict[int, Flow] = {}
        self.q_time: Fraction | None = None  # idle, and aged up to here, ns
        self.aged_to: Fraction | None = None  # the same, of the idle time that the arrival met

    def p_b(self) -> float:
        return self.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th)

    def average(self) -> None:
        self.avg = (1 - self.w_q) * self.avg + self.w_q * len(self.queue)

    def judge(self, packet: Packet, now: int) -> Verdict:
        self.aged_to = None
        if self.q_time is not None:
            one = Fraction(int(self.mean * 8e9), self.rate)
            m = (now - self.q_time) // one
            self.avg *= (1 - self.w_q) ** m
            self.aged_to, self.q_time = self.q_time + m * one, None
        flow = self.flows.get(packet.flow) or Flow()
        max_q = 2 if self.avg >= self.max_th else self.min_th
        avgcq = max(1, self.avg / max(len(self.flows), 1))
        if (
            flow.qlen >= max_q
            or (self.avg >= self.max_th and flow.qlen > 2 * avgcq)
            or (flow.qlen >= avgcq and flow.strike > 1)
        ):
            flow.strike += 1
            return drop("forced")
        if self.avg < self.min_th:
            self.count = -1
            return PASS
        if self.avg >= self.max_th:
            self.count = 0
            return drop("forced")
        self.count += 1
        if flow.qlen >= max(self.min_q, avgcq):
            p_b = self.p_b()
            p_a = p_b / (1 - self.count * p_b) if self.count * p_b < 1 else 1.0
            if self.draws.uniform() < p_a:
                self.count = 0
                return drop("early")
        return PASS

    def accept(self, packet: Packet) -> None:
        if self.aged_to is None:
            self.average()
        self.flows.setdefault(packet.flow, Flow()).qlen += 1
        super().accept(packet)

    def lost(self, why: str) -> None:
        self.q_time = self.aged_to  # a line that was idle stays so

    def dequeue(self, now: int) -> Packet | None:
        packet = super().dequeue(now)
        if packet:
            flow = self.flows[packet.flow]
            flow.qlen -= 1
            if flow.qlen == 0:
                del self.flows[packet.flow]
            self.average()
        return packet

    def idle(self, now: int) -> None:
        self.q_time = Fraction(now)

    def state(self) -> dict[str, float]:
        p_b = 1.0 if self.avg >= self.max_th else max(self.p_b(), 0.0)
        return {"avg": self.avg, "p_b": p_b, "count": self.count, "active": len(self.flows)}


CASES = [
    {},
    {"limit": 40, "w_q": 0.3, "min_th": 1, "max_th": 1.5},
    *grid({"limit": 20, "w_q": 0.05}, max_p=[0.02, 0.3], min_q=[0, 2, 4]),
    *grid({"limit": 40, "w_q": 0.02, "min_th": 3, "max_th": 12, "max_p": 0.1},
          mean_packet_bytes=[1000, 100]),
    {"limit": 30, "w_q": 0.1, "min_th": 2, "max_th": 4, "max_p": 0.5},
    # The line idles while arrivals are dropped, closer together than packets of the idle clock.
    *grid({"w_q": 0.005, "min_th": 2, "max_th": 3, "trial": {"load": 8, "flows": 60}},
          mean_packet_bytes=[1000, 3000]),
]  # fmt: skip
NEVER = ("marked early",)
