"""What a discipline in Python is made of: `aqmlab.Discipline` and `aqmlab.parameter`.

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
"""Answers of `admit`: the packet may wait; its sender should slow down (it is marked where ECN
allows, else dropped); it is dropped whatever its ECN field says. The plain ones are counted as
random early decisions, those with FORCED as certain ones."""

METHODS = ("admit", "decided", "idle", "enqueue", "dequeue", "tick")

T = TypeVar("T", bound=type)


@dataclass(frozen=True)
class Parameter:
    """A parameter as a class declares it; of an object the attribute is its value."""

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

    The default says its type: True or False, a whole number, a number, a quantity with its unit
    (`"5 ms"`, `"10 Mbit/s"`, `"60 kB"`, `"30 packets"`), or one of `choices`. `unit` (time, rate,
    packets, bytes, count) is only needed for a bare number, or where the default is None. `least`
    and `most` are allowed themselves, `above` is not. In the object times are seconds, rates bit/s.
    """
    return Parameter(default, meaning, unit, least, most, above, tuple(choices), source)


class Discipline:
    """A queue discipline of one's own. The sentence under the class is its summary.

    Either a *judge* with `admit(self, packet, queue)`, which answers PASS, SIGNAL or DROP; queue,
    limit and ECN are then aqmlab's, and the parameters `limit`, `limit_bytes` and `ecn` are there.
    It may have `decided(self, what, why, queue)` (what became of a packet that it signalled or that
    did not fit: marked or dropped) and `idle(self, queue)` (nothing waits any more).

    Or a *holder* with `enqueue(self, packet, queue)` and `dequeue(self, queue)`, which keeps the
    packets, answers with the next one or None, and says `queue.drop(packet)` and
    `queue.mark(packet)`.

    Either may have `tick(self, queue)`, called every `period` seconds or at `queue.wake_at(s)`.
    Time and random numbers are the queue's (`queue.now_s`, `queue.uniform()`): a discipline that
    takes others cannot be repeated. `__init__(self)` finds the parameters set, and
    `line_bits_per_s`; a ValueError there refuses them.
    """

    name: ClassVar[str] = ""
    """What it is called; without one the class's name in small letters."""
    source: ClassVar[str] = ""
    """Whom it follows."""
    gauges: Sequence[str] = ()
    """Attributes that are recorded as its state."""
    period: float | None = None
    """Seconds between two ticks."""
    limit_first: ClassVar[bool] = False
    """Of a judge: whether what does not fit is dropped before `admit` sees it."""
    line_bits_per_s: int = 0
    """Rate of the line behind the queue."""
    line_header_bytes: int = 0
    """Bytes of link-layer header that sizes of packets include."""


def discipline(name: str) -> Callable[[T], T]:
    """Names a class, `@aqmlab.discipline("my_aqm")`, and says that it is the one of its file; a
    congestion control, too."""

    def named(cls: T) -> T:
        cls.name = name
        return cls

    return named


def name_of(cls: type) -> str:
    """What a class is called in scenarios."""
    return cls.__dict__.get("name") or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
