"""The command `aqmlab`: what it takes and how it answers."""

from __future__ import annotations


def main() -> None:
    """Runs the command."""
    from . import room

    room.check()
    from . import answering

    answering.main()
