"""The proportional-integral law of Hollot, Misra, Towsley and Gong, INFOCOM 2001."""

import math

from .base import Parameters, ns

A, B, T = 1.822e-5, 1.816e-5, 1 / 170


class PiLaw:
    """p(kT) = p((k-1)T) + a (q - q_ref) - b (q_old - q_ref), kept in [0, 1]."""

    def __init__(self, p: Parameters, rate: int) -> None:
        self.mean = p.get("mean_packet_bytes", 500)
        self.a, self.b = A, B
        period = p.get("T", T)
        if p.given("n_min"):
            self.design(rate / 8 / self.mean, p.get("n_min"), p.get("r_max"), period)
        self.a, self.b = p.get("a", self.a), p.get("b", self.b)
        self.q_ref, self.period = p.get("q_ref", 50), ns(period)
        self.in_bytes = p.flag("queue_in_bytes")
        self.p, self.q_old = 0.0, 0.0

    def design(self, c: float, n: float, r: float, t: float) -> None:
        """The paper's gains for at least n flows, round trips of at most r, c packets/s."""
        z = 2 * n / (r**2 * c)
        k = z * math.hypot(1, z * r) / ((r * c) ** 3 / (2 * n) ** 2)
        self.a, self.b = k * (1 / z + t / 2), k * (1 / z - t / 2)

    def measure(self, packets: int, size: int) -> float:
        return size / self.mean if self.in_bytes else packets

    def update(self, packets: int, size: int) -> None:
        q = self.measure(packets, size)
        step = self.a * (q - self.q_ref) - self.b * (self.q_old - self.q_ref)
        self.p, self.q_old = min(max(self.p + step, 0.0), 1.0), q


def limits(p: Parameters, default: float) -> tuple[float, float]:
    """Packets and bytes that may wait."""
    packets = p.get("limit", math.inf if p.given("limit_bytes") else default)
    return packets, p.get("limit_bytes", math.inf)
