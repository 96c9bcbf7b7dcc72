"""BRED: Anjum and Tassiulas, INFOCOM 1999 (a reconstruction; its constants are weakly known).

Arrivals are judged by how much of its part W_m of the buffer their flow holds; a flow that has
just lost a packet (its gap is small) is spared.
"""

from __future__ import annotations

from .base import PASS, Fifo, Packet, Parameters, Verdict, drop, grid


class Flow:
    qlen = gap = 0


class Bred(Fifo):
    def setup(self, p: Parameters) -> None:
        self.whole = p.choice("share", "1/(N+1)") == "1/(N+1)"
        self.w_over_l2 = p.get("W_m_over_l2", 1.3)
        self.l2_over_l1 = p.get("l2_over_l1", 2)
        self.p1_divisor = p.get("p1_divisor", 10)
        self.p2_over_p1 = p.get("p2_over_p1", 10)
        self.limit = p.get("limit", 60)
        self.flows: dict[int, Flow] = {}

    def part(self, active: int) -> float:
        return self.limit / (active + 1) if self.whole else self.limit / (2 * active)

    def judge(self, packet: Packet, now: int) -> Verdict:
        new = packet.flow not in self.flows
        flow = Flow() if new else self.flows[packet.flow]
        w_m = self.part(len(self.flows) + new)
        l2 = w_m / self.w_over_l2
        l1 = l2 / self.l2_over_l1
        p1 = l1 / w_m / self.p1_divisor
        p2 = min(1.0, self.p2_over_p1 * p1)
        lost = None
        if len(self.queue) >= self.limit:
            lost = "overflow"
        elif flow.qlen >= w_m:
            lost = "forced"
        elif flow.qlen >= l2:
            lost = "early" if flow.gap > l2 and self.draws.uniform() < p2 else None
        elif flow.qlen >= l1:
            lost = "early" if flow.gap > l1 and self.draws.uniform() < p1 else None
        if lost:
            flow.gap = 0
            return drop(lost)
        self.flows[packet.flow] = flow
        flow.qlen += 1
        flow.gap += 1
        return PASS

    def dequeue(self, now: int) -> Packet | None:
        packet = super().dequeue(now)
        if packet:
            self.flows[packet.flow].qlen -= 1
            if not self.flows[packet.flow].qlen:
                del self.flows[packet.flow]
        return packet

    def state(self) -> dict[str, float]:
        active = len(self.flows)
        return {"active": active, "W_m": self.part(max(active, 1))}


CASES = [
    {},
    *grid({"limit": 40}, share=["1/(N+1)", "1/(2N)"], p2_over_p1=[10, 50]),
    {"limit": 30, "W_m_over_l2": 2, "l2_over_l1": 3, "p1_divisor": 2},
]
NEVER = ("marked early",)
