"""What a results folder keeps: a finished run, and numbers by name. Both are checked when used."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.errors import StoreError
from aqmlab.io import files
from aqmlab.io.files import Damaged, reported
from aqmlab.io.terminal import say

from .contents import MANIFEST, Contents

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from .store import Store

SUMMARY = "summary.json"


@dataclass(frozen=True)
class StoredRun:
    """A finished run in its folder."""

    folder: Path
    summary: Mapping[str, Any] = field(compare=False, repr=False)
    """What came out, in numbers."""
    files: Mapping[str, Mapping[str, Any]] = field(compare=False, repr=False)
    """Every file's length and hash."""
    store: Store = field(compare=False, repr=False)

    @property
    def manifest(self) -> dict[str, Any]:
        """What was run."""
        return files.read_sealed(self.folder / MANIFEST)

    def tables(self) -> list[str]:
        """The names of its tables."""
        return sorted(name.removesuffix(".parquet") for name in self.files if name != SUMMARY)

    def table(self, name: str) -> pl.DataFrame:
        """One table; if its file is not what was written, the run is done again."""
        import polars as pl

        try:
            content = self._content(f"{name}.parquet")
        except Damaged as damage:
            content = self.store.again(self, damage)._content(f"{name}.parquet")
        return pl.read_parquet(io.BytesIO(content))

    def _content(self, name: str) -> bytes:
        return checked(self.folder / name, self.files[name])

    def is_whole(self) -> bool:
        """Whether every file is what was written: reads them all."""
        try:
            return all(self._content(name) is not None for name in self.files)
        except Damaged:
            return False


def checked(path: Path, known: Mapping[str, Any]) -> bytes:
    """What a file of a run holds, if that is what was written."""
    try:
        content = files.read(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Damaged(f"{path} cannot be read ({reason})") from error
    if files.digest(content) != known["blake2b"]:
        raise Damaged(f"{path} is not what was written")
    return content


class Cache:
    """Numbers that are worth keeping, by name; each carries its own hash and name."""

    def __init__(self, folder: Path, listed: Contents | None = None) -> None:
        self.folder = folder
        self._listed = listed

    def get(self, name: str) -> dict[str, Any] | None:
        """What was kept under this name; a damaged entry is as good as none, and said."""
        path = self._path(name)
        if not path.exists():
            return None
        with contextlib.suppress(StoreError):
            content = files.read_sealed(path)
            if content.pop("name", None) == name:
                return content
        say(f"{path} is damaged: it is computed again")
        return None

    def put(self, name: str, content: Mapping[str, Any]) -> None:
        """Keeps it."""
        with reported(self.folder):
            if self._listed is not None:
                self._listed.record_sealed(f"{self.folder.name}/{name}.json")
            files.make_way(self._path(name))
            files.write_json(self._path(name), files.sealed({**content, "name": name}))

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"


def write_parquet(table: pa.Table, path: Path) -> None:
    """Zstandard; times are split by byte (equally spaced floats do not repeat, their bytes do)."""
    import pyarrow.parquet as pq

    times = [name for name in table.column_names if name == "time_s"]
    # Handed over open: what takes a name takes it for a URL, and only in UTF-8.
    with path.open("wb") as file:
        pq.write_table(
            table,
            file,
            compression="zstd",
            # A list is allowed, whatever the annotation says.
            use_dictionary=[name for name in table.column_names if name not in times],  # pyright: ignore[reportArgumentType]
            column_encoding=dict.fromkeys(times, "BYTE_STREAM_SPLIT") or None,
        )
