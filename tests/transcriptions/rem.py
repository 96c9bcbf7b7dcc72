"""REM: Athuraliya, Li, Low and Yin, IEEE Network 15(3), 2001; ns-2.35 `queue/rem.cc`.

A price mu follows backlog and rate mismatch; a packet is signalled with 1 - phi^-mu.
"""

import math

from .base import MARKABLE, PASS, Fifo, Packet, Parameters, Verdict, grid, ns, signal


class Rem(Fifo):
    limit_first = True

    def setup(self, p: Parameters) -> None:
        self.marks, self.ns2 = p.flag("ecn"), p.choice("profile", "standard") == "ns2"
        self.spares = p.flag("spare_short_queue")
        self.ecn = self.marks and not self.ns2
        self.target, self.gamma = p.get("b_star", 20), p.get("gamma", 0.001)
        self.alpha, self.phi, self.inw = p.get("alpha", 0.1), p.get("phi", 1.001), p.get("inw", 1)
        tau, self.mean = p.get("tau", 0.002), p.get("mean_packet_bytes", 1000)
        self.bytewise = p.flag("queue_in_bytes")
        self.c = tau * self.rate / 8 / self.mean
        self.period = self.due = ns(tau)
        unlimited = p.given("limit_bytes")
        self.limit = p.get("limit", math.inf if unlimited else 50 if self.ns2 else 100)
        self.limit_bytes = p.get("limit_bytes", math.inf)
        if self.ns2 and self.bytewise and not unlimited:
            self.limit, self.limit_bytes = math.inf, self.limit * self.mean
        self.arrivals = self.x = self.price = self.p = 0.0

    def fits(self, packet: Packet) -> bool:
        packets, size = len(self.queue) + 1, self.bytes + packet.bytes
        if self.ns2:
            return packets < self.limit and size < self.limit_bytes
        return packets <= self.limit and size <= self.limit_bytes

    def tick(self, now: int) -> None:
        b = self.bytes / self.mean if self.bytewise else len(self.queue)
        self.x = (1 - self.inw) * self.x + self.inw * self.arrivals
        mismatch = self.x - self.c + self.alpha * (b - self.target)
        self.price = max(0.0, self.price + self.gamma * mismatch)
        self.p = 1 - self.phi**-self.price
        self.arrivals, self.due = 0.0, now + self.period

    def hits(self, packet: Packet) -> bool:
        p = self.p * (packet.bytes / self.mean if self.bytewise else 1)
        return self.draws.uniform() < p and not (self.spares and len(self.queue) <= 1)

    def enqueue(self, packet: Packet, now: int) -> None:
        self.arrivals += packet.bytes / self.mean if self.bytewise else 1
        super().enqueue(packet, now)

    def judge(self, packet: Packet, now: int) -> Verdict:
        if self.ns2 and self.marks:
            return PASS
        return signal("early") if self.hits(packet) else PASS

    def dequeue(self, now: int) -> Packet | None:
        packet = super().dequeue(now)
        departs = self.ns2 and self.marks and packet is not None
        if departs and self.hits(packet) and packet.ecn in MARKABLE:
            self.marked(packet, "early")
        return packet

    def state(self) -> dict[str, float]:
        return {"price": self.price, "p": self.p}


FAST = {"b_star": 3, "phi": 1.1, "gamma": 0.3}
CASES = [
    *grid({"trial": {"load": 2}}, profile=["standard", "ns2"]),
    *grid({**FAST, "spare_short_queue": True}, ecn=[False, True]),
    *grid(FAST, profile=["standard", "ns2"], ecn=[False, True], queue_in_bytes=[False, True],
          limit=[5, 60]),
    *grid({**FAST, "mean_packet_bytes": 500, "tau": "5 ms"}, profile=["standard", "ns2"],
          inw=[0.2], limit_bytes=[9000], alpha=[0.5], queue_in_bytes=[False, True]),
]  # fmt: skip
