"""Nonlinear RED: Zhou, Yeung and Li, Computer Networks 50(18), 2006; ns-3 RedQueueDisc with NLRED.

RED with p_b = 1.5 max_p ((avg - min_th)/(max_th - min_th))^2 between the thresholds.
"""

from ._red_ns import NsRed
from ._red_paper import PaperRed, RedFifo
from .base import Parameters, grid


class _Squared:
    low = high = avg = max_p = 0.0

    def p_b(self) -> float:
        if not self.low <= self.avg < self.high:
            return super().p_b()  # type: ignore[misc]
        way = (self.avg - self.low) / (self.high - self.low)
        return min(1.5 * self.max_p * way**2, 1.0)


class PaperNonlinear(_Squared, PaperRed):
    pass


class NsNonlinear(_Squared, NsRed):
    pass


class Nlred(RedFifo):
    def setup(self, p: Parameters) -> None:
        ns3 = p.choice("profile", "fj93") == "ns3"
        self.ecn, self.limit = p.flag("ecn"), p.get("limit", 60)
        low, high, w = p.get("min_th", 5), p.get("max_th", 15), p.get("w_q", 0.002)
        max_p, gentle = p.get("max_p", 0.02 if ns3 else 0.1), p.flag("gentle", ns3)
        mean = p.get("mean_packet_bytes", 500 if ns3 else 1000)
        common = {"gentle": gentle, "hard": True, "s": self.packet_seconds(mean)}
        if ns3:
            self.red = NsNonlinear(self.draws, low, high, w, max_p, wait=True, mean=mean, **common)
        else:
            self.red = PaperNonlinear(self.draws, low, high, w, max_p, **common)


BUSY = {"min_th": 2, "max_th": 6, "w_q": 1 / 16}
CASES = [
    {"min_th": 2, "max_th": 4, "w_q": 0.01, "trial": {"load": 8}},
    *grid({}, profile=["fj93", "ns3"]),
    *grid({**BUSY, "w_q": 1}, profile=["fj93", "ns3"], max_p=[0.3, 0.9]),
    *grid(BUSY, profile=["fj93", "ns3"], ecn=[False, True], gentle=[False, True]),
    *grid({**BUSY, "limit": 9}, profile=["fj93", "ns3"], mean_packet_bytes=[300]),
]
