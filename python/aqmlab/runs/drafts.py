"""Temporary folders of runs, which are renamed when they are complete."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from aqmlab.io import files

from .contents import MANIFEST
from .run_files import SUMMARY, FileKnown


def known(path: Path) -> FileKnown:
    """The manifest's entry for a file: length and hash."""
    return {"bytes": path.stat().st_size, "blake2b": files.digest_of(path)}


def move(draft: Path, place: Path, is_whole: Callable[[], bool]) -> None:
    """Renames a draft to its final place, unless another process has just put an intact run there.
    The files of a damaged run are replaced, the manifest last."""
    try:
        draft.rename(place)
    except OSError:
        if place.is_symlink() or not place.is_dir():
            raise
        if not is_whole():
            for path in sorted(draft.iterdir(), key=lambda path: path.name == MANIFEST):
                files.make_way(place / path.name)
                path.replace(place / path.name)


def remove(draft: Path) -> None:
    """Removes a run's draft; only files that belong to a run are deleted."""
    if draft.is_symlink() or not draft.is_dir():
        return
    for path in draft.iterdir():
        if is_of_a_run(path):
            path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        draft.rmdir()


def is_of_a_run(path: Path) -> bool:
    """Whether a file with this name is one of the files of a run."""
    return path.suffix == ".parquet" or path.name in (SUMMARY, MANIFEST)
