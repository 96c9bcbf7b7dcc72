"""What an agent may do to a queue in every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from aqmlab.errors import SpecError


class Action(Protocol):
    """One number of a queue that is set between two slices of time."""

    @property
    def name(self) -> str:
        """The parameter that is set."""
        ...

    @property
    def low(self) -> float:
        """Its least value."""
        ...

    @property
    def high(self) -> float:
        """Its largest."""
        ...

    @property
    def first(self) -> float:
        """Its value until the first step."""
        ...

    def queue(self, written: Any) -> Any:
        """The queue to simulate, where the scenario has `written`."""
        ...


@dataclass(frozen=True)
class Probability:
    """The agent is the discipline: packets are dropped or marked with the probability it says."""

    limit: int = 1000
    """Packets that the queue holds."""
    ecn: bool = False
    """Whether ECN-capable packets are marked where others are dropped."""
    high: float = 1.0
    """Largest probability that may be said."""
    name: str = "p"
    low: float = 0.0
    first: float = 0.0

    def queue(self, written: Any) -> Any:  # noqa: ARG002 - the agent replaces what was there
        """The algorithm that the agent controls, in place of the one that was written."""
        return {"aqm": "agent", "limit": self.limit, "ecn": self.ecn}


@dataclass(frozen=True)
class Parameter:
    """The agent tunes a parameter of the scenario's own discipline.

    What can be tuned while a queue works: `max_p` of `red`, `target` (seconds) of `pie`.
    """

    name: str
    low: float
    high: float
    first: float

    def queue(self, written: Any) -> Any:
        """The scenario's own."""
        if written is None:
            raise SpecError(f"queue: the port has none written whose {self.name} could be tuned")
        return written
