"""Files without a name, by which the processes of a live run hand things to each other.

They are inherited by number and gone with the last process that has them open, however it ended. So
there is nothing to clean up after `kill -9`.
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
    """Files in the folder for temporary ones, each under a word of ours."""

    def __init__(self) -> None:
        self._files: dict[str, IO[bytes]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def path(self, name: str) -> Path:
        """Where a process that has inherited the file finds it; it is made at the first call."""
        if name not in self._files:
            self._files[name] = tempfile.TemporaryFile(prefix="aqmlab-live-")  # noqa: SIM115
        return of_number(self._files[name].fileno())

    def number(self, name: str) -> int:
        """Descriptor number of the file, in every process that has it."""
        self.path(name)
        return self._files[name].fileno()

    @property
    def numbers(self) -> list[int]:
        """Descriptor numbers of all files."""
        return [file.fileno() for file in self._files.values()]


def of_number(number: int) -> Path:
    """A path that opens an inherited file anew."""
    return Path(f"/proc/self/fd/{number}")


@contextlib.contextmanager
def appearing(path: Path) -> Iterator[tuple[Path, list[int]]]:
    """Where a process that has inherited these numbers writes a file that appears at `path` at the
    end, whole or not at all. On a file system without nameless files it has a draft's name."""
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
            # With a folder's number Python follows the link that /proc has of the file.
            os.link(of_number(number), draft, src_dir_fd=number, follow_symlinks=True)
    finally:
        os.close(number)
