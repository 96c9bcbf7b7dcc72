"""RIO-PS: Guo and Matta, *The war between mice and elephants*, ICNP 2001.

The edge tags the first L_t packets of a flow Short; the core is RIO with Short as In. Every T_c,
L_t moves one packet towards the wished ratio of short to long (SLR).
"""

from ._rio import InOut
from .base import Packet, Parameters, grid, ns


class RioPs(InOut):
    def setup(self, p: Parameters) -> None:
        self.setup_rio(p)
        self.l_t, self.slr = int(p.get("L_t", 8)), p.get("SLR", 3)
        self.by_packets = p.choice("ratio", "flows") == "packets"
        self.t_u, self.t_c = ns(p.get("T_u", 1)), ns(p.get("T_c", 10))
        self.due = self.t_c
        self.flows: dict[int, tuple[int, int]] = {}  # packets, last arrival
        self.packets = {True: 0, False: 0}

    def is_in(self, packet: Packet) -> bool:
        n, last = self.flows.get(packet.flow, (0, 0))
        if packet.arrived - last > self.t_u:
            n = 0
        self.flows[packet.flow] = (n + 1, packet.arrived)
        short = n + 1 <= self.l_t
        self.packets[short] += 1
        return short

    def tick(self, now: int) -> None:
        self.due = now + self.t_c
        self.flows = {f: (n, t) for f, (n, t) in self.flows.items() if now - t <= self.t_u}
        short = sum(n <= self.l_t for n, _ in self.flows.values())
        long = len(self.flows) - short
        if self.by_packets:
            short, long = self.packets[True], self.packets[False]
            self.packets = {True: 0, False: 0}
        if short > self.slr * long:
            self.l_t = max(1, self.l_t - 1)
        elif short < self.slr * long:
            self.l_t += 1

    def state(self) -> dict[str, float]:
        return {**super().state(), "L_t": self.l_t, "flows": len(self.flows)}


LOW = {"in_min_th": 2, "in_max_th": 5, "in_max_p": 0.2, "out_min_th": 1, "out_max_th": 6,
       "out_max_p": 0.4, "w_q": 1 / 8, "T_u": "10 ms", "T_c": "50 ms"}  # fmt: skip
CASES = [
    {"T_c": "100 ms", "trial": {"load": 1.4}},
    *grid(LOW, ecn=[False, True], ratio=["flows", "packets"], SLR=[0.5, 1, 3], L_t=[1, 8]),
    {**LOW, "T_u": "3 ms", "limit": 7, "mean_packet_bytes": 250, "trial": {"flows": 60}},
]
