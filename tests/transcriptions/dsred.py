"""Double-slope RED: Zheng and Atiquzzaman, LCN 2000, equation 2.

RED with p_b on two lines that meet at K_m = (K_l + K_h)/2 and 1 - gamma; 1 from K_h on.
"""

from ._red_paper import PaperRed, RedFifo
from .base import Parameters, grid


class TwoSlopes(PaperRed):
    gamma = 0.0

    def p_b(self) -> float:
        k_l, k_h = self.low, self.high
        k_m = (k_l + k_h) / 2
        alpha, beta = 2 * (1 - self.gamma) / (k_h - k_l), 2 * self.gamma / (k_h - k_l)
        if self.avg < k_l:
            return 0.0
        if self.avg < k_m:
            return alpha * (self.avg - k_l)
        return 1 - self.gamma + beta * (self.avg - k_m) if self.avg < k_h else 1.0


class Dsred(RedFifo):
    def setup(self, p: Parameters) -> None:
        self.ecn, self.limit = p.flag("ecn"), p.get("limit", 60)
        low, high, w = p.get("min_th", 5), p.get("max_th", 15), p.get("w_q", 0.002)
        s = self.packet_seconds(p.get("mean_packet_bytes", 1000))
        self.red = TwoSlopes(self.draws, low, high, w, 1.0, gentle=False, hard=True, s=s)
        self.red.gamma = p.get("gamma", 0.96)


BUSY = {"min_th": 2, "max_th": 6, "w_q": 1 / 16}
CASES = [
    {},
    {"min_th": 2, "max_th": 4, "w_q": 0.01, "trial": {"load": 8}},
    *grid(BUSY, ecn=[False, True], gamma=[0.96, 0.5, 0.99]),
    {**BUSY, "w_q": 1, "limit": 9, "mean_packet_bytes": 300},
]
