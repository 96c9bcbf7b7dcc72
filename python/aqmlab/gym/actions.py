"""The actions of an agent: the number that it sets at a queue before every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from aqmlab.errors import SpecError


class Action(Protocol):
    """A parameter of the simulated queue whose value the agent sets before each step."""

    @property
    def name(self) -> str:
        """Name of the parameter that the agent sets."""
        ...

    @property
    def low(self) -> float:
        """Smallest value of the parameter."""
        ...

    @property
    def high(self) -> float:
        """Largest value of the parameter."""
        ...

    @property
    def first(self) -> float:
        """Value of the parameter until the first step."""
        ...

    def queue(self, written: Any) -> Any:
        """The queue to simulate, given the scenario's queue `written`."""
        ...


@dataclass(frozen=True)
class Probability:
    """The agent is the discipline: packets are dropped or marked with the probability that the
    agent sets."""

    limit: int = 1000
    """Largest number of packets in the queue."""
    ecn: bool = False
    """Whether ECN-capable packets are marked instead of dropped."""
    high: float = 1.0
    """Largest probability that the agent may set."""
    name: str = "p"
    low: float = 0.0
    first: float = 0.0

    def queue(self, written: Any) -> Any:  # noqa: ARG002 - the agent's queue replaces it
        """A queue controlled by the agent, in place of the scenario's."""
        return {"aqm": "agent", "limit": self.limit, "ecn": self.ecn}


@dataclass(frozen=True)
class Parameter:
    """The agent tunes a parameter of the scenario's own discipline.

    Parameters that can change during a run: `max_p` of `red`, `target` (seconds) of `pie`.
    """

    name: str
    low: float
    high: float
    first: float

    def queue(self, written: Any) -> Any:
        """Returns the scenario's queue unchanged; SpecError if the scenario states none."""
        if written is None:
            raise SpecError(f"queue: the port has none written whose {self.name} could be tuned")
        return written
