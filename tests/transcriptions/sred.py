"""SRED: Ott, Lakshman and Wong, INFOCOM 1999.

Each arrival is compared with a random one of M remembered ones, the zombies: how often they are of
one flow estimates the number of flows, by whose square the drop probability grows.
"""

from __future__ import annotations

from .base import PASS, Fifo, Packet, Parameters, Verdict, grid, signal


class Sred(Fifo):
    def setup(self, p: Parameters) -> None:
        self.full = p.choice("form", "full") == "full"
        self.M = int(p.get("M", 1000))
        self.r = p.get("r", 0.25)
        self.alpha = p.get("alpha", self.r / self.M)
        self.p_max = p.get("p_max", 0.15)
        self.many = p.get("many_flows", 256)
        self.limit = p.get("limit", 60)
        self.ecn = p.flag("ecn")
        self.zombies: list[int] = []
        self.P = 0.0  # the hit frequency; 1/P flows

    def compare(self, flow: int) -> bool:
        """Whether the arrival hits; the list takes note of it."""
        if len(self.zombies) < self.M:
            self.zombies.append(flow)
            return False
        z = self.draws.below(self.M)
        hit = self.zombies[z] == flow
        if not hit and self.draws.uniform() < self.r:
            self.zombies[z] = flow
        self.P = (1 - self.alpha) * self.P + self.alpha * hit
        return hit

    def judge(self, packet: Packet, now: int) -> Verdict:
        hit = self.compare(packet.flow)
        q, B = len(self.queue), self.limit  # noqa: N806
        p = self.p_max if q >= B / 3 else self.p_max / 4 if q >= B / 6 else 0.0
        if self.P > 0:
            p *= min(1.0, 1 / (self.many * self.P) ** 2)
            if self.full:
                p = min(p * (1 + hit / self.P), 1.0)
        if p > 0 and self.draws.uniform() < p:
            return signal()
        return PASS

    def state(self) -> dict[str, float]:
        return {"P": self.P, "flows": 1 / self.P if self.P else 0, "zombies": len(self.zombies)}


CASES = [
    {},
    *grid({"M": 50, "limit": 30, "many_flows": 5}, form=["full", "simple"], ecn=[False, True]),
    {"M": 20, "r": 0.9, "alpha": 0.05, "p_max": 0.9, "many_flows": 8, "limit": 13},
]
