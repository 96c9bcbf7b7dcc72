"""RED of the simulators: ns-2.35 `queue/red.cc`, ns-3 `red-queue-disc.cc`.

Against the paper: nothing happens while the queue holds at most one packet (one byte!); the first
packet above min_th is never tested; with `wait`, signals are at least 1/p_b apart; an idle time of
m packets ages the average m + 1 times.
"""

from collections.abc import Callable

from ._red_paper import slope
from .base import PASS, Draws, Verdict, drop, packets_in, signal


class NsRed:
    adapt: Callable[[float, int], None] | None = None
    gentle_max_p: float | None = None  # set: the gentle slope keeps starting there

    def __init__(self, draws: Draws, low: float, high: float, w: float, max_p: float, *,
                 gentle: bool, hard: bool, s: float, wait: bool, mean: float,
                 in_bytes: bool = False, scaled: bool = False, mark_p: float | None = None,
                 fixed: bool = False, forgets: tuple[str, ...] = ()) -> None:  # fmt: skip
        self.draws, self.w, self.max_p, self.mean = draws, w, max_p, mean
        self.unit = mean if in_bytes else 1.0
        self.low, self.high = low * self.unit, high * self.unit
        self.gentle, self.hard, self.s, self.wait = gentle, hard, s, wait
        self.scaled, self.mark_p, self.fixed, self.forgets = scaled, mark_p, fixed, forgets
        self.avg, self.count, self.count_bytes, self.old = 0.0, 0, 0, False
        self.idle_time: int | None = None

    def arrive(self, size: int, q: float, now: int) -> Verdict:
        m = 0
        if self.idle_time is not None:
            m = packets_in(now - self.idle_time, self.s)
            self.idle_time = None
        self.avg = self.avg * (1 - self.w) ** (m + 1) + self.w * q
        if self.adapt:
            self.adapt(self.avg, now)
        self.count += 1
        self.count_bytes += size
        certain = self.mark_p is None and self.avg >= self.high * (2 if self.gentle else 1)
        if certain and (q > 1 or self.fixed):
            return drop("forced") if self.hard else signal("forced")
        if self.avg < self.low or q <= 1:
            self.old = False
            return PASS
        if not self.old:
            self.count, self.count_bytes, self.old = 1, size, True
            return PASS
        p_b = self.p_b()
        if self.draws.uniform() >= self.spaced(p_b, size):
            return PASS
        self.count = self.count_bytes = 0
        if self.mark_p is not None and p_b >= self.mark_p:
            return drop("early")
        return signal("early")

    def p_b(self) -> float:
        start = self.max_p
        if self.avg >= self.high and self.gentle_max_p is not None:
            start = self.gentle_max_p
        return min(slope(self.avg, self.low, self.high, start, self.gentle), 1.0)

    def spaced(self, p: float, size: int) -> float:
        """p_a."""
        c = self.count_bytes // self.mean if self.scaled else self.count
        if self.wait:
            p = 0.0 if c * p < 1 else p / (2 - c * p) if c * p < 2 else 1.0
        else:
            p = p / (1 - c * p) if c * p < 1 else 1.0
        if self.scaled and p < 1:
            p = min(p * size / self.mean, 1.0)
        return p

    def idle(self, now: int) -> None:
        self.idle_time = now

    def lost(self, why: str) -> None:
        if why in self.forgets:
            self.count = self.count_bytes = 0

    def state(self) -> dict[str, float]:
        return {"avg": self.avg / self.unit, "p_b": self.p_b(), "count": self.count}
