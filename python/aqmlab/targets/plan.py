"""The plan of queues for both directions of a line, from which a target's commands are made.

Downloads come in from the line and uploads go out into it. A router shapes both before the line;
at the line itself each direction has its own end. A target gets the directions together
(`arrange`), since one device or one section of a configuration often serves both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .framing import Framing
from .translation import Queue
from .words import Entry, Given

DOWN, UP = "downloads", "uploads"
DEVICE = "DEV"
"""Placeholder for the device towards the line, if its name is not known."""
FAR = "FARDEV"
"""Placeholder for the device at the other end of the line, whose name is never known."""
UNDO = "to undo it: "
"""The beginning of the sentence on how to remove the configuration."""
LONGEST = 15
"""Longest device name in Linux, in characters (IFNAMSIZ without the zero byte)."""


@dataclass(frozen=True)
class Direction:
    """One direction of the line: its queue, and whether it is below a shaper."""

    queue: Queue
    """The queue; `queue.line` is the rate of the shaper, or else of the line, in bit/s."""
    shaped: bool = True
    """Whether the queue belongs to a shaper at a router before the line; else it is the line's
    own."""
    framing: Framing = field(default_factory=Framing)


@dataclass(frozen=True)
class Plan:
    """The planned queues of both directions of a line; None leaves a direction unchanged."""

    down: Direction | None = None
    up: Direction | None = None

    def directions(self) -> Iterator[tuple[str, Direction]]:
        """The directions that are planned, with their names."""
        for way, one in ((DOWN, self.down), (UP, self.up)):
            if one is not None:
                yield way, one


@dataclass(frozen=True)
class Lane:
    """One direction of a line in a target's words."""

    way: str
    """The direction: `downloads` or `uploads`."""
    entry: Entry
    words: list[str]
    line: str
    """The rate of the shaper or line, as the target writes it."""
    given: Given
    shaped: bool
    framing: Framing

    @property
    def down(self) -> bool:
        """Whether the planned queue is in the direction from the line to the users."""
        return self.way == DOWN

    @property
    def discipline(self) -> str:
        """The name of the discipline, followed by its parameters in the target's words."""
        return " ".join([self.entry.name, *self.words])

    def device(self, dev: str) -> str:
        """The device that has the queue: without a shaper, downloads wait at the other end of the
        line."""
        return FAR if self.down and not self.shaped else dev


def ifb(dev: str) -> str:
    """The name of the ifb device through which packets received at `dev` are sent, as in SQM."""
    return f"ifb4{dev}"[:LONGEST]
