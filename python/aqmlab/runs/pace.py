"""What runs cost: the time that work still takes, learned while it is done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping


class Pace:
    """The seconds of a core that a simulated second takes, by kind of run.

    Runs of one scenario under other seeds are of one kind and cost about the same, while two
    scenarios of equal length may differ a hundredfold. A kind that has not been met yet costs
    what all of them do on average.
    """

    def __init__(self) -> None:
        self._core_s: dict[Hashable, float] = defaultdict(float)
        self._simulated_s: dict[Hashable, float] = defaultdict(float)
        self._all = (0.0, 0.0)

    def learn(self, kind: Hashable, core_s: float, simulated_s: float) -> None:
        """A run of this kind, or a part of one, took so long."""
        self._core_s[kind] += core_s
        self._simulated_s[kind] += simulated_s
        self._all = (self._all[0] + core_s, self._all[1] + simulated_s)

    @property
    def spent_s(self) -> float:
        """Seconds of a core, so far."""
        return self._all[0]

    def cost_s(self, work: Mapping[Hashable, float]) -> float:
        """Seconds of a core that these simulated seconds of each kind take."""
        core, simulated = self._all
        usual = core / simulated if simulated > 0 else 0.0
        total = 0.0
        for kind, length in work.items():
            known = self._simulated_s.get(kind, 0.0)
            total += length * (self._core_s[kind] / known if known > 0 else usual)
        return total
