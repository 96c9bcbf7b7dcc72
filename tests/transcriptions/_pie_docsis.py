"""DOCSIS-PIE: RFC 8034; CableLabs' simulator, `dual-queue-coupled-aqm.cc`."""

from __future__ import annotations

from .base import PASS, Draws, Packet, Parameters, Verdict, drop, ns


def divisor(p: float) -> float:
    """RFC 8033 section 4.2: the smaller the probability, the smaller its steps."""
    steps = ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2))
    return next((by for bound, by in steps if p < bound), 1)


class Docsis:
    """RFC 8034 for a cable modem: the probability is per byte, and the burst allowance is earned
    by a quiet second."""

    MEAN, MIN, LATENCY_LOW, LATENCY_HIGH = 1024, 64, 0.005, 0.2
    BURST_RESET = 1_000_000_000

    def __init__(self, parameters: Parameters, draws: Draws, buffer: float) -> None:
        self.draws, self.buffer = draws, buffer
        self.target = parameters.get("target", 0.01)
        self.t_update = ns(parameters.get("t_update", 0.016))
        self.alpha = parameters.get("alpha", 0.25)
        self.beta = parameters.get("beta", 2.5)
        self.max_burst = ns(parameters.get("max_burst", 0.142))
        self.mean = parameters.get("mean_packet_bytes", self.MEAN)
        self.cap_drop = parameters.flag("cap_drop", True)
        self.derandomise = parameters.flag("derandomise", True)
        self.p = self.qdelay = self.qdelay_old = self.accu = 0.0
        self.burst = self.quiet = 0
        self.phase = "inactive"

    def judge(self, waiting: int, size: int) -> Verdict:
        if self.burst > 0:
            return PASS
        if self.p == 0:
            self.accu = 0.0
        if self.phase == "inactive":
            if waiting < self.buffer / 3:
                return PASS
            self.phase, self.quiet = "quiescent", 0
        p1 = min(self.p * size / self.mean, 0.85)
        self.accu += p1
        if (self.qdelay_old < self.target / 2 and self.p < 0.2) or waiting <= 2 * self.mean:
            return PASS
        if self.derandomise and self.accu < 0.85:
            return PASS
        sure = self.derandomise and self.accu >= 8.5
        if not sure and self.draws.uniform() >= p1:
            return PASS
        self.accu = 0.0
        if self.phase == "quiescent":
            self.phase, self.burst = "active", self.max_burst
        return drop("early")

    def departed(self, packet: Packet, left: int, now: int) -> None:
        """The delay is not measured."""

    def update(self, left: float, rate: int) -> None:
        old = self.qdelay_old
        self.qdelay = left * 8 / rate
        if self.burst > 0:
            self.p = 0.0
            self.burst = max(0, self.burst - self.t_update)
        else:
            delta = self.alpha * (self.qdelay - self.target) + self.beta * (self.qdelay - old)
            delta /= divisor(self.p)
            if self.p >= 0.1:
                delta *= 2 if self.p < 1 else 8 if self.p < 10 else 32
                if self.cap_drop:
                    delta = min(delta, 0.02)
            self.p += delta
            if self.qdelay < self.LATENCY_LOW and old < self.LATENCY_LOW:
                self.p *= 0.98
            elif self.qdelay > self.LATENCY_HIGH:
                self.p += 0.02
            self.p = min(max(self.p, 0.0), 0.85 * self.mean / self.MIN)
        self.qdelay_old = self.qdelay
        low = self.qdelay < self.target / 2 and old < self.target / 2
        quiet = low and self.p == 0 and self.burst == 0
        if self.phase == "active" and quiet:
            self.phase, self.quiet = "quiescent", 0
        elif self.phase == "quiescent":
            self.quiet = self.quiet + self.t_update if quiet else 0
            if self.quiet > self.BURST_RESET:
                self.phase = "inactive"

    def state(self) -> dict[str, float]:
        return {
            "p": self.p,
            "qdelay": self.qdelay,
            "burst_allowance": self.burst / 1e9,
            "accu_prob": self.accu,
        }
