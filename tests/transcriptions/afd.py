"""AFD: Pan, Breslau, Prabhakar and Shenker, ACM CCR 33(2), 2003, figure 3.

One of s arrivals is noted in a shadow buffer of b entries; a flow with m_i of them is signalled
with 1 - m_fair/m_i. m_fair follows the queue. Here the oldest entry makes room, as in both
implementations read (the paper: a random one).
"""

from collections import Counter, deque

from ._pi import limits
from .base import PASS, Fifo, Packet, Parameters, Verdict, grid, ns, signal


class Afd(Fifo):
    limit_first = True

    def setup(self, p: Parameters) -> None:
        self.ecn = p.flag("ecn")
        self.limit, self.limit_bytes = limits(p, 250)
        self.b, self.s, self.target = p.get("b", 500), p.get("s", 5), p.get("q_target", 50)
        self.alpha, self.beta = p.get("alpha", 1.7), p.get("beta", 1.8)
        self.period = self.due = ns(p.get("T", 1 / 160))
        self.least = self.m_fair = p.get("m_fair_min", 10)
        self.q_old = 0
        self.shadow: deque[int] = deque()
        self.m: Counter[int] = Counter()

    def tick(self, now: int) -> None:
        q = len(self.queue)
        up, down = self.alpha * (self.q_old - self.target), self.beta * (q - self.target)
        self.m_fair = min(max(self.m_fair + up - down, self.least), self.b)
        self.q_old, self.due = q, now + self.period

    def judge(self, packet: Packet, now: int) -> Verdict:
        m = self.m[packet.flow]
        d = max(0.0, 1 - self.m_fair / m) if m else 0.0
        hit = d > 0 and self.draws.uniform() < d
        if self.draws.uniform() < 1 / self.s:
            self.note(packet.flow)
        return signal("early") if hit else PASS

    def note(self, flow: int) -> None:
        if len(self.shadow) >= self.b:
            oldest = self.shadow.popleft()
            self.m[oldest] -= 1
        self.shadow.append(flow)
        self.m[flow] += 1

    def state(self) -> dict[str, float]:
        return {"m_fair": self.m_fair, "flows": sum(n > 0 for n in self.m.values())}


FAST = {"q_target": 3, "b": 30, "s": 2, "m_fair_min": 1}
CASES = [
    {"trial": {"load": 2}},
    *grid(FAST, ecn=[False, True], limit=[6, 60], T=["1 ms", "20 ms"]),
    *grid({**FAST, "s": 1, "limit_bytes": 20000}, b=[1, 9], alpha=[0.2], beta=[0.3], ecn=[True]),
]
