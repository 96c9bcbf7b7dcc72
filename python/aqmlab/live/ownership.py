"""Gives a live run's files to the user who called it, also through sudo."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def caller() -> tuple[int, int] | None:
    """User and group of the caller who has become root by sudo: programs run as this user, and
    files belong to them."""
    user, group = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if root and user.isdecimal() and group.isdecimal():
        return int(user), int(group)
    return None


@contextmanager
def given_to_caller(*places: Path) -> Iterator[None]:
    """Gives everything at these paths, and the folders made for it, to the caller at the end.

    This also happens after an error or Ctrl-C, since finished results are kept then, too.
    """
    tops = [_first_missing(place) for place in places]
    try:
        yield
    finally:
        owner = caller()
        if owner is not None:
            for top in tops:
                _give(top, owner)


def _first_missing(place: Path) -> Path:
    """The path, or the topmost folder above it that does not exist yet."""
    place = place.absolute()
    missing = [folder for folder in (place, *place.parents) if not folder.exists()]
    return missing[-1] if missing else place


def _give(top: Path, owner: tuple[int, int]) -> None:
    """Changes the owner of a tree, never through a link, since an unprivileged user may replace
    names below it meanwhile."""
    if not top.exists():
        return
    os.chown(top, *owner, follow_symlinks=False)
    if top.is_dir() and not top.is_symlink():
        for _, folders, files, fd in os.fwalk(top):
            for name in (*folders, *files):
                found = os.stat(name, dir_fd=fd, follow_symlinks=False)
                if stat.S_ISDIR(found.st_mode) or found.st_nlink == 1:
                    os.chown(name, *owner, dir_fd=fd, follow_symlinks=False)
