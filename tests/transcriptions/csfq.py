"""CSFQ: Stoica, Shenker and Zhang, SIGCOMM 1998, figure 3, edge and core in one router.

The edge labels packets with the estimated rate of their flow; the core drops with 1 - alpha/label.
"""

from __future__ import annotations

import math

from ._pi import limits
from ._rate import Rate
from .base import PASS, Fifo, Packet, Parameters, Verdict, drop, grid, ns


class Csfq(Fifo):
    def setup(self, p: Parameters) -> None:
        self.limit, self.limit_bytes = limits(p, 100)
        self.k, self.k_c = p.get("K", 0.1), ns(p.get("K_c", 0.2))
        self.A, self.F = Rate(p.get("K_alpha", 0.2)), Rate(p.get("K_alpha", 0.2))
        self.C = self.alpha = self.rate / 8
        self.step, self.most = p.get("overflow_step", 0.01), p.get("overflow_most", 0.25)
        self.part = p.get("congested_from", 0.5)
        self.floor = self.tmp_alpha = 0.0
        self.congested, self.start_time = False, 0
        self.flows: dict[int, Rate] = {}
        self.silence = self.due = max(10 * ns(self.k), 1_000_000)

    def tick(self, now: int) -> None:
        lately = self.silence
        self.flows = {f: r for f, r in self.flows.items() if now - (r.last or 0) < lately}
        self.due = now + self.silence

    def busy(self) -> bool:
        """Whether enough of the buffer is in use to call the line congested."""
        packets, size = self.limit, self.limit_bytes
        return (packets < math.inf and len(self.queue) >= int(packets * self.part)) or (
            size < math.inf and self.bytes >= int(size * self.part)
        )

    def judge(self, packet: Packet, now: int) -> Verdict:
        flow = self.flows.setdefault(packet.flow, Rate(self.k))
        flow.add(packet.bytes, now)
        label = flow.value
        prob = max(0.0, 1 - self.alpha / label)
        dropped = prob > 0 and self.draws.uniform() < prob
        self.estimate_alpha(packet, label, dropped, now)
        return drop("early") if dropped else PASS

    def estimate_alpha(self, packet: Packet, label: float, dropped: bool, now: int) -> None:
        self.A.add(packet.bytes, now)
        if not dropped:
            self.F.add(packet.bytes, now)
        if self.A.value >= self.C and (self.congested or self.busy()):
            if not self.congested:
                self.congested, self.start_time = True, now
            elif now > self.start_time + self.k_c:
                self.renew(self.alpha * self.C / self.F.value if self.F.value else self.alpha, now)
        elif self.congested:
            self.congested, self.start_time, self.tmp_alpha = False, now, 0.0
        else:
            self.tmp_alpha = max(self.tmp_alpha, label)
            if now >= self.start_time + self.k_c:
                self.renew(self.tmp_alpha, now)
                self.tmp_alpha = 0.0

    def renew(self, alpha: float, now: int) -> None:
        self.alpha, self.start_time = alpha, now
        self.floor = alpha * (1 - self.most)

    def overflowed(self, now: int) -> None:
        self.alpha = max(self.alpha * (1 - self.step), self.floor)

    def state(self) -> dict[str, float]:
        rates = {"alpha": self.alpha, "A": self.A.value, "F": self.F.value}
        return {**{name: 8 * rate for name, rate in rates.items()}, "flows": len(self.flows)}


FAST = {"K": "10 ms", "K_alpha": "20 ms", "K_c": "20 ms"}
CASES = [
    {"trial": {"load": 2}},
    *grid(FAST, limit=[6, 60], congested_from=[0, 0.5], trial=[{"load": 1.2}, {"load": 3}]),
    {**FAST, "limit": 5, "overflow_step": 0.2, "overflow_most": 0.5, "trial": {"load": 4}},
    {**FAST, "limit_bytes": 9000, "K": "1 ms", "trial": {"load": 2}},
]
NEVER = ("marked early",)
