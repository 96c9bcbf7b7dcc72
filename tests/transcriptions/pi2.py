"""PI2: De Schepper, Bondarenko, Tsang and Briscoe, CoNEXT 2016.

One linear PI controller of the delay gives p'; Classic packets are signalled with its square
(two draws), Scalable ones with k times it.
"""

from __future__ import annotations

import math

from .base import PASS, Fifo, Packet, Parameters, Verdict, grid, ns, signal


class Pi2(Fifo):
    limit_first = True

    def setup(self, parameters: Parameters) -> None:
        self.target = parameters.get("target", 0.02)
        self.t_update = ns(parameters.get("t_update", 0.032))
        self.alpha = parameters.get("alpha", 0.3125)
        self.beta = parameters.get("beta", 3.125)
        self.k = parameters.get("k", 2)
        self.ecn = parameters.flag("ecn")
        self.limit_bytes = parameters.get("limit_bytes", math.inf)
        bytes_given = parameters.given("limit_bytes")
        self.limit = parameters.get("limit", math.inf if bytes_given else 10_000)
        self.p = self.qdelay = 0.0
        self.due = self.t_update

    def tick(self, now: int) -> None:
        before = self.qdelay
        self.qdelay = (now - self.queue[0].arrived) / 1e9 if self.queue else 0.0
        self.p += self.alpha * (self.qdelay - self.target) + self.beta * (self.qdelay - before)
        self.p = min(max(self.p, 0.0), 1.0)
        self.due = now + self.t_update

    def judge(self, packet: Packet, now: int) -> Verdict:
        if self.ecn and packet.ecn in ("ect1", "ce"):
            return signal() if self.draws.uniform() < self.k * self.p else PASS
        once = self.draws.uniform() < self.p
        return signal() if once and self.draws.uniform() < self.p else PASS

    def state(self) -> dict[str, float]:
        return {"p_base": self.p, "p": self.p**2, "qdelay": self.qdelay}


CASES = [
    *grid({"limit": 60, "ecn": True}, t_update=["32 ms", "5 ms"], k=[2, 4]),
    *grid({"limit": 60}, t_update=["32 ms", "5 ms"]),
    *grid({"limit_bytes": 40000, "ecn": True}, target=["5 ms"], alpha=[3], beta=[10]),
]
