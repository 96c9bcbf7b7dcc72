"""What a step was worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Reward = Callable[[Mapping[str, float]], float]
"""Of the numbers of `OBSERVED`, by name."""


@dataclass(frozen=True)
class ThroughputAndDelay:
    """The share of the line that was used, less the mean wait in units of `delay_scale_s`.

    Constructed: with 0.1 s, 10 ms of waiting cost as much as a tenth of the line.
    """

    capacity_bits_per_s: float
    """Of the line, in IP bits."""
    delay_scale_s: float = 0.1

    def __call__(self, seen: Mapping[str, float]) -> float:
        """Of one step."""
        used = seen["throughput_bits_per_s"] / self.capacity_bits_per_s
        return used - seen["delay_mean_s"] / self.delay_scale_s
