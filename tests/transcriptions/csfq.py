"""CSFQ: Stoica, Shenker and Zhang, SIGCOMM 1998, edge and core in one router.

The edge labels packets with the estimated rate of their flow; the core drops with 1 - alpha/label.
alpha is estimated as in figure 3, or as in the authors' program for ns-2.
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
        self.ns2 = p.choice("fair_share", "ns2") == "ns2"
        self.step, self.most = p.get("overflow_step", 0.01), p.get("overflow_most", 0.25)
        self.part = p.get("congested_from", 0.5)
        self.floor = self.tmp_alpha = 0.0
        self.congested, self.start_time = self.ns2, 0
        if self.ns2:
            self.alpha = math.inf
        self.reductions = self.most_reductions()
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

    def most_reductions(self) -> int:
        """The program: steps until `overflow_most` is taken, and one more."""
        if not 0 < self.step < 1 or self.most >= 1:
            return 1
        return math.ceil(math.log(1 - self.most) / math.log(1 - self.step)) + 1

    def estimate_as_ns2(self, label: float, now: int) -> None:
        full = self.busy()
        if self.alpha == math.inf:
            if not full:
                self.tmp_alpha = max(self.tmp_alpha, label)
                return
            self.alpha, self.tmp_alpha = self.tmp_alpha or self.C / 2, 0.0
        congested, over = self.A.value >= self.C, now - self.start_time >= self.k_c
        if congested and not self.congested:
            self.congested, self.start_time, self.reductions = True, now, self.most_reductions()
        elif self.congested and not congested:
            self.congested, self.start_time, self.tmp_alpha = False, now, 0.0
        elif congested:
            if over:
                accepted = self.F.value
                self.renew(min(self.alpha * self.C / accepted, self.C) if accepted else self.C, now)
        elif not over:
            self.tmp_alpha = max(self.tmp_alpha, label)
        elif full and self.tmp_alpha > 0:
            self.renew(self.tmp_alpha, now)
            self.tmp_alpha = 0.0
        else:
            self.alpha, self.start_time = math.inf, now

    def estimate_alpha(self, packet: Packet, label: float, dropped: bool, now: int) -> None:
        self.A.add(packet.bytes, now)
        if not dropped:
            self.F.add(packet.bytes, now)
        if self.ns2:
            self.estimate_as_ns2(label, now)
        elif self.A.value >= self.C and (self.congested or self.busy()):
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
        less = self.alpha * (1 - self.step)
        if not self.ns2:
            self.alpha = max(less, self.floor)
        elif self.reductions > 0:
            self.reductions, self.alpha = self.reductions - 1, less

    def state(self) -> dict[str, float]:
        rates = {
            "alpha": self.alpha if math.isfinite(self.alpha) else 0.0,
            "A": self.A.value,
            "F": self.F.value,
        }
        return {**{name: 8 * rate for name, rate in rates.items()}, "flows": len(self.flows)}


FAST = {"K": "10 ms", "K_alpha": "20 ms", "K_c": "20 ms"}
CASES = [
    {"trial": {"load": 2}},
    {"fair_share": "paper", "trial": {"load": 2}},
    *grid({**FAST, "fair_share": "paper"}, limit=[6, 60], trial=[{"load": 1.2}, {"load": 3}]),
    *grid(FAST, limit=[6, 60], congested_from=[0, 0.5], trial=[{"load": 1.2}, {"load": 3}]),
    {**FAST, "limit": 5, "overflow_step": 0.2, "overflow_most": 0.5, "trial": {"load": 4}},
    {**FAST, "limit_bytes": 9000, "K": "1 ms", "trial": {"load": 2}},
]
NEVER = ("marked early",)
