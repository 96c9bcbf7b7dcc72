"""Random trials with what a careless disk, a stranger or a strange shell hand to us.

    python -m hostile [--seed N] [--seconds S | --trials N] [--only CLASS]      (in tests/)

Every class of trials is a module with `Trials`: `one(random)` does one trial and says in a word how
it ended, or fails. A failure is a traceback, an answer longer than a screen, a character that a
terminal obeys, a hang, a touched file of others, or a number that differs from the undamaged one.
`make fuzz` runs all of them for `FUZZ_SECONDS` each, `tests/test_hostile.py` a few of each.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from random import Random

CLASSES = ("damage", "study", "names", "toml", "environments", "strangers")


def trials(name: str, folder: Path) -> Callable[[Random], str]:
    """What does one trial of this class."""
    return importlib.import_module(f"hostile.{name}").Trials(folder).one
