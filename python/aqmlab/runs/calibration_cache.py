"""Finished calibrations, in the results folder and in a cache of the user for all folders.

A calibration depends only on its complete scenarios, seeds, version and build, not on the folder
for which it was measured, so that a second file with equal users needs no new one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from aqmlab.errors import StoreError
from aqmlab.io import files
from aqmlab.io.documents import Document

from .run_files import Cache

MOST = 4096
"""Largest number of files in the user's cache; if there are more, the older half is removed."""


class KnownCalibrations:
    """The calibrations of a results folder (if there is one), then those of the user's cache (if
    the user has a home directory)."""

    def __init__(self, own: Cache | None) -> None:
        self._own = own
        place = files.user_cache()
        self._users = place and Cache(place / "calibrations")

    def get(self, name: str) -> Document | None:
        """The numbers of this name; those of the user's cache are copied into the folder."""
        if self._own and (known := self._own.get(name)):
            return known
        with contextlib.suppress(OSError, StoreError):
            known = self._users.get(name) if self._users else None
            if known and self._own:
                self._own.put(name, known)
            return known
        return None

    def put(self, name: str, content: Mapping[str, object]) -> None:
        """Keeps the numbers in both. A user's cache that cannot be written is ignored."""
        if self._own:
            self._own.put(name, content)
        if self._users:
            with contextlib.suppress(OSError, StoreError):
                self._users.put(name, content)
                _thin(self._users.folder)


def _thin(folder: Path) -> None:
    found = list(folder.glob("*.json"))
    if len(found) <= MOST:
        return
    found.sort(key=lambda path: path.stat().st_mtime)
    for path in found[: len(found) // 2]:
        path.unlink(missing_ok=True)
