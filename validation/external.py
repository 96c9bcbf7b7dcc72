"""Programs that are no part of aqmlab: where they are kept once built, and what is missing."""

from __future__ import annotations

import os
from pathlib import Path


class Missing(Exception):
    """What is not there, and how to get it, in one sentence."""


def cache(name: str) -> Path:
    """A folder outside the tree for what is built once."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aqmlab" / name
