"""A queue for both directions of a line, and how a target is made to have it.

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
"""The device towards the line, where its name is not known."""
FAR = "FARDEV"
"""The device at the other end of the line, whose name is never known."""
UNDO = "to undo it: "
"""How the sentence begins that says how all is taken back."""
LONGEST = 15
"""Characters of a device's name in Linux (IFNAMSIZ less its zero byte)."""


@dataclass(frozen=True)
class Direction:
    """One direction of the line: its queue, and whether a shaper stands below it."""

    queue: Queue
    """`queue.line` is the rate of the shaper, or of the line where there is none, in bit/s."""
    shaped: bool = True
    """Whether the queue stands at a router before the line; else it is the line's own."""
    framing: Framing = field(default_factory=Framing)


@dataclass(frozen=True)
class Plan:
    """What both directions of a line shall have; None leaves a direction as it is."""

    down: Direction | None = None
    up: Direction | None = None

    def directions(self) -> Iterator[tuple[str, Direction]]:
        """The directions that are planned, with their names."""
        for way, one in ((DOWN, self.down), (UP, self.up)):
            if one is not None:
                yield way, one


@dataclass(frozen=True)
class Lane:
    """One direction in a target's words, to be put together with the other."""

    way: str
    """`downloads` or `uploads`."""
    entry: Entry
    words: list[str]
    line: str
    """The rate of the shaper or line, as the target writes it."""
    given: Given
    shaped: bool
    framing: Framing

    @property
    def down(self) -> bool:
        """Whether it is the direction from the line to the users."""
        return self.way == DOWN

    @property
    def discipline(self) -> str:
        """The discipline with its parameters."""
        return " ".join([self.entry.name, *self.words])

    def device(self, dev: str) -> str:
        """The device whose queue it is: at a line, downloads wait at the other end."""
        return FAR if self.down and not self.shaped else dev


def ifb(dev: str) -> str:
    """The intermediate device through which what comes in at `dev` is sent, as SQM names it."""
    return f"ifb4{dev}"[:LONGEST]
