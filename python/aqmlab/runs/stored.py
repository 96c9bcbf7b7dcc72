"""What a results folder keeps: a finished run, and numbers by name. Both are checked when used."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

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

    def scan(self, name: str) -> pl.LazyFrame:
        """The same without holding it: its file is checked now and read when it is asked for."""
        import polars as pl

        path = self.folder / f"{name}.parquet"
        try:
            whole = files.digest_of(path) == self.files[path.name]["blake2b"]
        except OSError:
            whole = False
        if not whole:
            self.store.again(self, Damaged(f"{path} is not what was written"))
        return pl.scan_parquet(path, glob=False)

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


class Packed(Mapping[str, "pa.Table"]):
    """Tables as the files in which they are kept: so they travel, and are read when asked for."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = contents

    @classmethod
    def of(cls, tables: Mapping[str, pa.Table]) -> Packed:
        """Tables of a run that ends here and is kept elsewhere."""
        return cls({name: parquet(table) for name, table in tables.items()})

    def __getitem__(self, name: str) -> pa.Table:
        import pyarrow.parquet as pq

        return pq.read_table(io.BytesIO(self._contents[name]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._contents)

    def __len__(self) -> int:
        return len(self._contents)

    def content(self, name: str) -> bytes:
        """The file of a table."""
        return self._contents[name]


def write_tables(tables: Mapping[str, pa.Table], folder: Path) -> None:
    """Every table as its file."""
    for name in tables:
        # Handed over open: what takes a name takes it for a URL, and only in UTF-8.
        with (folder / f"{name}.parquet").open("wb") as file:
            if isinstance(tables, Packed):
                file.write(tables.content(name))
            else:
                write_parquet(tables[name], file)


def parquet(table: pa.Table) -> bytes:
    """A table as the content of its file."""
    with io.BytesIO() as content:
        write_parquet(table, content)
        return content.getvalue()


def write_parquet(table: pa.Table, file: IO[bytes]) -> None:
    """Zstandard; times are split by byte (equally spaced floats do not repeat, their bytes do)."""
    import pyarrow.parquet as pq

    times = [name for name in table.column_names if name == "time_s"]
    pq.write_table(
        table,
        file,
        compression="zstd",
        # A list is allowed, whatever the annotation says.
        use_dictionary=[name for name in table.column_names if name not in times],  # pyright: ignore[reportArgumentType]
        column_encoding=dict.fromkeys(times, "BYTE_STREAM_SPLIT") or None,
    )
