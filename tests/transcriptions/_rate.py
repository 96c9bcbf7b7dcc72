"""The exponential average of a rate over time: Stoica, Shenker and Zhang, SIGCOMM 1998, eq. 3."""

from __future__ import annotations

import math


class Rate:
    """Bytes per second with time constant K, in seconds."""

    def __init__(self, k: float) -> None:
        self.k, self.value = k, 0.0
        self.last: int | None = None

    def add(self, size: int, now: int) -> None:
        t = 0 if self.last is None else now - self.last
        self.last = now
        if not t:
            self.value += size / self.k
            return
        t /= 1e9
        kept = math.exp(-t / self.k)
        self.value = (1 - kept) * size / t + kept * self.value

    def aged(self, now: int) -> float:
        """As a packet of no bytes would find it."""
        t = 0 if self.last is None else now - self.last
        return self.value * math.exp(-t / 1e9 / self.k)
