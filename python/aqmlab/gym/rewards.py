"""Rewards: the value of a step for the agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Reward = Callable[[Mapping[str, float]], float]
"""A function of the observed numbers (`OBSERVED`, by name)."""


@dataclass(frozen=True)
class ThroughputAndDelay:
    """Utilisation of the line minus the mean queueing delay in units of `delay_scale_s`.

    The default is our own choice, without a source: with 0.1 s, 10 ms of delay cost as much as a
    tenth of the line's rate.
    """

    capacity_bits_per_s: float
    """Rate of the line, in IP bits per second."""
    delay_scale_s: float = 0.1

    def __call__(self, seen: Mapping[str, float]) -> float:
        """The reward of one step: the used share of the line, less the mean queueing delay as a
        multiple of `delay_scale_s`."""
        used = seen["throughput_bits_per_s"] / self.capacity_bits_per_s
        return used - seen["delay_mean_s"] / self.delay_scale_s
