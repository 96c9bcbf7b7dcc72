"""Programs that are no part of aqmlab: where they are kept once built, and what is missing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Missing(Exception):
    """What is not there, and how to get it, in one sentence."""


def there(program: str, ask: Callable[[], object]) -> bool:
    """Whether a program can be compared with; if not, one line says what is missing."""
    try:
        ask()
    except Missing as missing:
        print(f"no comparison with {program}: {missing}")
        return False
    return True


def cache(name: str) -> Path:
    """A folder outside the tree for what is built once."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aqmlab" / name


def several(function: Callable[[T], R], of: Iterable[T], jobs: int | None = None) -> Iterator[R]:
    """Results in the order of what they are of; as many calls at a time as cores, or as given."""
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        yield from pool.map(function, of)
