"""Estimates the cost of further runs from those done so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping


class Pace:
    """Core seconds per simulated second, by kind of run.

    Runs of one scenario under other seeds are of one kind and cost about the same, while two
    scenarios of equal length may differ a hundredfold. An unknown kind is assumed to have the
    average cost of all.
    """

    def __init__(self) -> None:
        self._core_s: dict[Hashable, float] = defaultdict(float)
        self._simulated_s: dict[Hashable, float] = defaultdict(float)
        self._all = (0.0, 0.0)

    def learn(self, kind: Hashable, core_s: float, simulated_s: float) -> None:
        """Adds a measurement: a run of this kind, or a part of it, took `core_s` for
        `simulated_s`."""
        self._core_s[kind] += core_s
        self._simulated_s[kind] += simulated_s
        self._all = (self._all[0] + core_s, self._all[1] + simulated_s)

    @property
    def spent_s(self) -> float:
        """Core seconds spent so far."""
        return self._all[0]

    def cost_s(self, work: Mapping[Hashable, float]) -> float:
        """Estimated core seconds for these simulated seconds of each kind."""
        core, simulated = self._all
        usual = core / simulated if simulated > 0 else 0.0
        total = 0.0
        for kind, length in work.items():
            known = self._simulated_s.get(kind, 0.0)
            total += length * (self._core_s[kind] / known if known > 0 else usual)
        return total
