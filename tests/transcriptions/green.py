"""GREEN: Wydrowski and Zukerman, ICC 2002.

P goes up by delta_P at each update while the estimated rate of arrivals is at least the target, and
down while it is below.
"""

from ._pi import limits
from ._rate import Rate
from .base import PASS, Fifo, Packet, Parameters, Verdict, grid, ns, signal


class Green(Fifo):
    def setup(self, p: Parameters) -> None:
        self.ecn = p.flag("ecn")
        self.limit, self.limit_bytes = limits(p, 100)
        self.x_est = Rate(p.get("K", 0.1))
        self.c_t = p.get("target", 0.97) * self.rate / 8
        self.delta_p, self.p = p.get("delta_P", 0.001), 0.0
        self.period = self.due = ns(p.get("delta_T", 0.01))

    def tick(self, now: int) -> None:
        u = 1 if self.x_est.aged(now) >= self.c_t else -1
        self.p = min(max(self.p + u * self.delta_p, 0.0), 1.0)
        self.due = now + self.period

    def judge(self, packet: Packet, now: int) -> Verdict:
        self.x_est.add(packet.bytes, now)
        return signal("early") if self.p > 0 and self.draws.uniform() < self.p else PASS

    def state(self) -> dict[str, float]:
        return {"P": self.p, "x_est": self.x_est.value * 8}


FAST = {"delta_T": "2 ms", "K": "20 ms"}
CASES = [
    {"trial": {"load": 2}},
    *grid(FAST, ecn=[False, True], delta_P=[0.02, 0.2], limit=[6, 60]),
    {**FAST, "delta_P": 0.5, "target": 0.5, "limit_bytes": 9000},
]
