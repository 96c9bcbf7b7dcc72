"""Step marking: Alizadeh et al., *Data Center TCP*, SIGCOMM 2010, section 3.1.

An arrival that finds K packets waiting is marked; others see a plain buffer.
"""

import math

from .base import MARKABLE, PASS, Fifo, Packet, Parameters, Verdict, grid, signal


class DctcpStep(Fifo):
    ecn = True

    def setup(self, p: Parameters) -> None:
        mean, limit = p.get("mean_packet_bytes", 1500), p.get("limit", 1000)
        k = p.get("K", 65)
        if p.given("rtt"):  # K > C rtt/7
            k = math.floor(p.get("rtt") * self.rate / 8 / mean / 7) + 1
        self.bytewise = p.choice("units", "packet") == "byte"
        self.k = k * mean if self.bytewise else k
        if self.bytewise:
            self.limit_bytes = limit * mean
        else:
            self.limit = limit
        self.drops_others = p.choice("not_ect", "pass") == "drop"

    def judge(self, packet: Packet, now: int) -> Verdict:
        q = self.bytes if self.bytewise else len(self.queue)
        if q >= self.k and (packet.ecn in MARKABLE or self.drops_others):
            return signal("forced")
        return PASS


NEVER = ("marked early", "dropped early")
CASES = [
    {"trial": {"load": 2}},
    *grid({"K": 3}, units=["packet", "byte"], not_ect=["pass", "drop"], limit=[3, 9]),
    *grid({}, rtt=["5 ms", "17 ms", "0.5 ms"], units=["packet", "byte"], mean_packet_bytes=[700]),
]
