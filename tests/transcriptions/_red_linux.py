"""RED of Linux: `include/net/red.h`, and what `tc` computes for it (iproute2 `tc/tc_red.c`).

Whole bytes; the average is kept multiplied by 2^Wlog. One random number per signal: a packet is
signalled where count p_b passes it.
"""

import math

from .base import PASS, Draws, Verdict, drop, signal


def wlog_for(low: float, high: float) -> int:
    """The smallest Wlog, i.e. largest weight, that lets a burst of (2 min + max)/3 pass."""
    burst = int((2 * low + high) / 3)
    excess = burst + 1 - low
    return next(n for n in range(1, 32) if excess <= (1 - (1 - 2**-n) ** burst) * 2**n)


class LinuxRed:
    def __init__(self, draws: Draws, low: float, high: float, wlog: int, max_p: float, *,
                 mean: float, packet_us: float, hard: bool = False) -> None:  # fmt: skip
        self.draws, self.wlog, self.mean, self.hard = draws, wlog, mean, hard
        self.low, self.high = int(low * mean + 0.5), int(high * mean + 0.5)
        self.set_max_p(int(max_p * 2**32))
        # tc reckons the cells in its ticks of 64 ns; the kernel counts microseconds (`age`).
        rate = -math.log(1 - 2.0**-wlog) / (packet_us * 15.625)
        self.cell = next(c for c in range(32) if 31 / rate / 2**c < 512)
        self.table = [min(int((i << self.cell) * rate), 31) for i in range(255)] + [31]
        self.avg, self.count, self.r = 0, -1, 0
        self.idle_start: int | None = None

    def set_max_p(self, max_p: int) -> None:
        """In units of 2^-32."""
        self.max_p = max_p
        self.per_byte = max(max_p // max(self.high - self.low, 1), 1)

    def average(self, backlog: int, now: int) -> None:
        if self.idle_start is None:
            self.avg += backlog - (self.avg >> self.wlog)
        else:
            self.avg = self.aged(now)
            self.idle_start = None

    def aged(self, now: int) -> int:
        assert self.idle_start is not None
        idle_us = min((now - self.idle_start) // 1000, 255 << self.cell)
        if shift := self.table[idle_us >> self.cell]:
            return self.avg >> shift
        loss = self.avg * idle_us >> self.cell
        return self.avg - loss if loss < self.avg >> 1 else self.avg >> 1

    def decide(self, avg: int) -> Verdict:
        low, high = self.low << self.wlog, self.high << self.wlog
        if avg < low:
            self.count = -1
            return PASS
        if avg >= high:
            self.count = -1
            return drop("forced") if self.hard else signal("forced")
        self.count += 1
        if self.count == 0:
            self.r = self.random()
        elif (avg - low >> self.wlog) * self.count >= self.r:
            self.count, self.r = 0, self.random()
            return signal("early")
        return PASS

    def random(self) -> int:
        return self.draws.below(2**32) // self.per_byte

    def arrive(self, size: int, q: int, now: int) -> Verdict:
        self.average(q, now)
        return self.decide(self.avg)

    def idle(self, now: int) -> None:
        self.idle_start = now

    def lost(self, why: str) -> None:
        """Nothing to forget."""

    def packets(self) -> float:
        return self.avg / 2**self.wlog / self.mean

    def state(self) -> dict[str, float]:
        low, high = self.low << self.wlog, self.high << self.wlog
        p_b = ((self.avg - low) >> self.wlog) * self.per_byte / 2**32
        p_b = 0 if self.avg < low else p_b if self.avg < high else 1
        return {"avg": self.packets(), "p_b": p_b, "count": self.count}
