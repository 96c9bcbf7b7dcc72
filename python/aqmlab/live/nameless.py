"""Unnamed temporary files, by which the processes of a live run pass data to each other.

They are inherited as file descriptors and vanish with the last process that has them open, however
it ends, so that nothing has to be cleaned up after `kill -9`.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Self

from aqmlab.io import files


class Nameless:
    """Unnamed files in the folder for temporary files, each identified by a key."""

    def __init__(self) -> None:
        self._files: dict[str, IO[bytes]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def path(self, name: str) -> Path:
        """The path at which a process that has inherited the file finds it; the file is made at the
        first call."""
        if name not in self._files:
            self._files[name] = tempfile.TemporaryFile(prefix="aqmlab-live-")  # noqa: SIM115
        return of_number(self._files[name].fileno())

    def number(self, name: str) -> int:
        """The descriptor number of the file, which is equal in every process that inherits it."""
        self.path(name)
        return self._files[name].fileno()

    @property
    def numbers(self) -> list[int]:
        """The file descriptors of all files."""
        return [file.fileno() for file in self._files.values()]


def of_number(number: int) -> Path:
    """The path that opens the file of an inherited descriptor."""
    return Path(f"/proc/self/fd/{number}")


@contextlib.contextmanager
def appearing(path: Path) -> Iterator[tuple[Path, list[int]]]:
    """A path to write to, and the descriptors that a child must inherit for it. The file appears at
    `path` only at the end, complete. On a file system without unnamed files a draft with a name is
    used."""
    path = path.absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        number = os.open(path.parent, os.O_TMPFILE | os.O_RDWR, 0o666)
    except OSError:
        with files.whole(path) as draft:
            yield draft, []
        return
    try:
        yield of_number(number), [number]
        with files.whole(path) as draft:
            # With a folder's descriptor Python uses linkat(2), which follows the link in /proc to
            # the file.
            os.link(of_number(number), draft, src_dir_fd=number, follow_symlinks=True)
    finally:
        os.close(number)
