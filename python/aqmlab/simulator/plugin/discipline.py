"""The base class of disciplines in Python, `aqmlab.Discipline`, and `aqmlab.parameter`.

    import aqmlab

    class Threshold(aqmlab.Discipline):
        \"\"\"Drops at random above a number of packets.\"\"\"

        threshold = aqmlab.parameter(20, "where it begins", unit="packets", least=1)
        p = aqmlab.parameter(0.1, "how often it signals above", most=1.0)

        def admit(self, packet, queue):
            if queue.packets >= self.threshold and queue.uniform() < self.p:
                return aqmlab.SIGNAL

docs/own-discipline.md is the tutorial.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

PASS, SIGNAL, SIGNAL_FORCED, DROP, DROP_FORCED = range(5)
"""Return values of `admit`: PASS enqueues the packet; SIGNAL marks it if it is ECN-capable, else
drops it; DROP drops it with any ECN field. Drops and marks are counted as early (random) decisions,
those of FORCED as certain ones."""

METHODS = ("admit", "decided", "idle", "enqueue", "dequeue", "tick")

T = TypeVar("T", bound=type)


@dataclass(frozen=True)
class Parameter:
    """A parameter as a class declares it; an object has the parameter's value in this attribute."""

    default: object
    meaning: str
    unit: str | None
    least: str | float | None
    most: str | float | None
    above: str | float | None
    choices: tuple[str, ...]
    source: str


def parameter(
    default: object,
    meaning: str = "",
    *,
    unit: str | None = None,
    least: str | float | None = None,
    most: str | float | None = None,
    above: str | float | None = None,
    choices: Sequence[str] = (),
    source: str = "",
) -> Any:
    """A parameter that scenarios and sweeps may set.

    The default determines the type: True or False, a whole number, a number, a quantity with its
    unit (`"5 ms"`, `"10 Mbit/s"`, `"60 kB"`, `"30 packets"`), or one of `choices`. `unit` (time,
    rate, packets, bytes, count) is only needed for a bare number, or where the default is None.
    `least` and `most` are themselves allowed values, `above` is not. An object has times in seconds
    and rates in bit/s.
    """
    return Parameter(default, meaning, unit, least, most, above, tuple(choices), source)


class Discipline:
    """The base class of a user's own queue discipline. The class's docstring is its summary.

    The first kind of class decides on arrivals by `admit(self, packet, queue)`, which returns PASS,
    SIGNAL or DROP. aqmlab then provides the queue, its limit and ECN, and the parameters `limit`,
    `limit_bytes` and `ecn`. Optional methods are `decided(self, what, why, queue)` (called when a
    packet that was signalled, or did not fit, has been marked or dropped) and `idle(self, queue)`
    (called when the queue has become empty).

    The second kind keeps the packets itself, by `enqueue(self, packet, queue)` and `dequeue(self,
    queue)`, which returns the next packet or None. It calls `queue.drop(packet)` and
    `queue.mark(packet)`.

    Both kinds may have `tick(self, queue)`, called every `period` seconds or at `queue.wake_at(s)`.
    Time and random numbers are from the queue (`queue.now_s`, `queue.uniform()`): runs of a
    discipline that uses others are not repeatable. In `__init__(self)` the parameters and
    `line_bits_per_s` are set already; a ValueError there refuses them.
    """

    name: ClassVar[str] = ""
    """Name of the discipline; by default the class's name in snake case."""
    source: ClassVar[str] = ""
    """Source of the algorithm, such as a paper."""
    gauges: Sequence[str] = ()
    """Names of attributes that are recorded as the discipline's state."""
    period: float | None = None
    """Seconds between two ticks."""
    limit_first: ClassVar[bool] = False
    """For a class with `admit`: whether a packet that does not fit is dropped without calling
    it."""
    line_bits_per_s: int = 0
    """Rate of the line behind the queue."""
    line_header_bytes: int = 0
    """Bytes of link-layer header that sizes of packets include."""


def discipline(name: str) -> Callable[[T], T]:
    """Names a class, as in `@aqmlab.discipline("my_aqm")`, and selects it if its file has several;
    also for congestion controls."""

    def named(cls: T) -> T:
        cls.name = name
        return cls

    return named


def name_of(cls: type) -> str:
    """The name of a class in scenarios."""
    return cls.__dict__.get("name") or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
