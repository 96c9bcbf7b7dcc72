"""The files of a results folder: finished runs, and cached numbers by name. Both are checked when
they are used."""

from __future__ import annotations

import contextlib
import io
import json
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypedDict, cast

from aqmlab.errors import StoreError
from aqmlab.io import files
from aqmlab.io.documents import Document
from aqmlab.io.files import Damaged, reported
from aqmlab.io.terminal import say
from aqmlab.simulator.forms import Scenario
from aqmlab.simulator.renamed import Numbers, Summary

from . import archive
from .contents import MANIFEST, Contents

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from .store import Store

SUMMARY = "summary.json"


class FileKnown(TypedDict):
    """A manifest's entry for a file of its run: length and hash."""

    bytes: int
    blake2b: str


class Stamp(TypedDict):
    """The program that wrote a manifest, and the time."""

    format: int
    version: str
    build: str
    commit: str
    created: str


class BareManifest(Stamp):
    """The manifest of a finished run without its files: scenario, seed, build, fingerprint and
    names of tables. It is used only after its hash has been checked."""

    key: str
    scenario: Scenario
    seed: int
    fingerprint: str | None
    tables: list[str]


class RunManifest(BareManifest):
    """The manifest of a finished run, with the length and hash of every file."""

    files: dict[str, FileKnown]


@dataclass(frozen=True)
class StoredRun:
    """A finished run, in a folder or in one file (`archive`)."""

    folder: Path
    """The path of the run's folder or file."""
    compressed: bytes = field(compare=False, repr=False)
    """The run's summary, compressed, since tens of thousands are held in memory at once."""
    files: Mapping[str, FileKnown] = field(compare=False, repr=False)
    """Length and hash of every file, by its name."""
    store: Store = field(compare=False, repr=False)
    recorded: tuple[str, ...] = field(compare=False, repr=False)
    """The names of all tables that the run made, kept or not."""

    @property
    def summary(self) -> Numbers:
        """The numbers of the run's summary."""
        return _summary(self.compressed)

    @property
    def key(self) -> str:
        """The key of the run: a hash of scenario, seed, version and build."""
        return key_of(self.folder)

    @property
    def manifest(self) -> RunManifest:
        """The run's manifest, read from disk."""
        return manifest(self.folder)

    def tables(self) -> list[str]:
        """The names of the run's tables; one that is not kept is made again when it is needed."""
        return sorted(self.recorded)

    def kept(self) -> list[str]:
        """The names of the tables that are kept."""
        return sorted(name.removesuffix(".parquet") for name in self.files if name != SUMMARY)

    def is_there(self) -> bool:
        """Whether the run's folder or file still exists."""
        place = self.folder
        return place.is_file() if is_file(place) else (place / MANIFEST).exists()

    def table(self, name: str) -> pl.DataFrame:
        """One table; if its file is damaged or not kept, the run is repeated."""
        import polars as pl

        return pl.read_parquet(io.BytesIO(self._table(name)))

    def _table(self, name: str) -> bytes:
        """The Parquet file of a table."""
        try:
            return self._content(f"{name}.parquet")
        except Damaged as damage:
            return self.store.again(self, damage, name)._content(f"{name}.parquet")

    def scan(self, name: str) -> pl.LazyFrame:
        """A table as a lazy frame: its file is checked now and read when it is needed."""
        import polars as pl

        if is_file(self.folder):
            return pl.scan_parquet(io.BytesIO(self._table(name)))
        path = self.folder / f"{name}.parquet"
        try:
            whole = files.digest_of(path) == self.files[path.name]["blake2b"]
        except OSError:
            whole = False
        if not whole:
            self.store.again(self, Damaged(f"{path} is not what was written"), name)
        return pl.scan_parquet(path, glob=False)

    def _content(self, name: str) -> bytes:
        if name not in self.files:
            raise Damaged(f"{self.folder} does not keep {name}")
        return checked(self.folder, name, self.files[name])

    def is_whole(self) -> bool:
        """Whether all files are as they were written, which reads all of them."""
        try:
            return all(self._content(name) is not None for name in self.files)
        except Damaged:
            return False


@lru_cache(maxsize=1024)
def _summary(compressed: bytes) -> Numbers:
    """A decompressed summary, cached because each column of a table reads it again."""
    return json.loads(zlib.decompress(compressed), object_hook=Summary)


def compressed(summary: Numbers) -> bytes:
    """A summary, compressed for memory."""
    return zlib.compress(json.dumps(summary).encode(), 1)


def is_file(place: Path) -> bool:
    """Whether a run at this path is kept as one file."""
    return place.suffix == archive.SUFFIX


def key_of(place: Path) -> str:
    """The key of the run that is kept at this path."""
    return place.name.removesuffix(archive.SUFFIX)


def manifest(place: Path) -> RunManifest:
    """The manifest of the run that is kept at this path."""
    if is_file(place):
        return cast(RunManifest, archive.read_sealed(place, MANIFEST))
    return cast(RunManifest, files.read_sealed(place / MANIFEST))


def checked(place: Path, name: str, known: FileKnown) -> bytes:
    """The content of a run's file; raises `Damaged` if it differs from what was written."""
    path = place / name
    try:
        content = archive.read(place, name) if is_file(place) else files.read(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Damaged(f"{path} cannot be read ({reason})") from error
    if files.digest(content) != known["blake2b"]:
        raise Damaged(f"{path} is not what was written")
    return content


def summary(place: Path, about: RunManifest) -> Numbers:
    """The summary of the run that is kept at this path; `about` is its manifest."""
    return files.parse_json(checked(place, SUMMARY, about["files"][SUMMARY]), place / SUMMARY)


def lengths(place: Path, names: Collection[str]) -> dict[str, int]:
    """The sizes of a run's files in bytes, by name."""
    if is_file(place):
        return archive.lengths(place)
    try:
        return {name: (place / name).stat().st_size for name in names}
    except OSError as error:
        raise Damaged(f"{error.filename} is missing") from error


def known(content: bytes) -> FileKnown:
    """The manifest's entry for a file with this content."""
    return {"bytes": len(content), "blake2b": files.digest(content)}


class Cache:
    """A cache of numbers by name, with a file for each entry that contains its own hash and
    name."""

    def __init__(self, folder: Path, listed: Contents | None = None) -> None:
        self.folder = folder
        self._listed = listed

    def get(self, name: str) -> Document | None:
        """The entry of this name; None if there is none, or if it is damaged, which is reported."""
        path = self._path(name)
        if not path.exists():
            return None
        with contextlib.suppress(StoreError):
            content = files.read_sealed(path)
            if content.pop("name", None) == name:
                return content
        say(f"{path} is damaged: it is computed again")
        return None

    def put(self, name: str, content: Mapping[str, object]) -> None:
        """Writes the entry called `name` into the folder."""
        with reported(self.folder):
            if self._listed is not None:
                self._listed.record_sealed(f"{self.folder.name}/{name}.json")
            files.make_way(self._path(name))
            files.write_json(self._path(name), files.sealed({**content, "name": name}))

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"


class Packed(Mapping[str, "pa.Table"]):
    """Tables in the form of their Parquet files, for the transfer from a worker; each is read when
    needed.

    The mapping has the names of all tables of a run; only tables that are kept have a file.
    """

    def __init__(self, contents: Mapping[str, bytes | None]) -> None:
        self._contents = contents

    @classmethod
    def of(cls, tables: Mapping[str, pa.Table], keep: Collection[str] | None = None) -> Packed:
        """The files of a run's tables, of all or of those that `keep` names."""
        kept = tables if keep is None else keep
        return cls({name: parquet(tables[name]) if name in kept else None for name in tables})

    def __getitem__(self, name: str) -> pa.Table:
        import pyarrow.parquet as pq

        return pq.read_table(io.BytesIO(self.content(name)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._contents)

    def __len__(self) -> int:
        return len(self._contents)

    def content(self, name: str) -> bytes:
        """The Parquet file of a table."""
        content = self._contents[name]
        if content is None:
            raise KeyError(name)
        return content


def write_tables(tables: Mapping[str, pa.Table], folder: Path) -> None:
    """Writes every table to a file of a folder."""
    for name in tables:
        # The file is opened here: given a name, pyarrow treats it as a URL, and only in UTF-8.
        with (folder / f"{name}.parquet").open("wb") as file:
            if isinstance(tables, Packed):
                file.write(tables.content(name))
            else:
                write_parquet(tables[name], file)


def table_files(tables: Mapping[str, pa.Table], keep: Collection[str]) -> dict[str, bytes]:
    """The Parquet files of the tables that are kept, by file name."""
    names = sorted(set(tables) & set(keep))
    if isinstance(tables, Packed):
        return {f"{name}.parquet": tables.content(name) for name in names}
    return {f"{name}.parquet": parquet(tables[name]) for name in names}


def parquet(table: pa.Table) -> bytes:
    """A table as the bytes of its Parquet file."""
    with io.BytesIO() as content:
        write_parquet(table, content)
        return content.getvalue()


def write_parquet(table: pa.Table, file: IO[bytes]) -> None:
    """Writes a Parquet file with Zstandard. Times in seconds are split by byte (equally spaced
    floats do not repeat, but some of their bytes do); times in whole nanoseconds are stored as
    differences.

    A table with more columns than rows (seconds of thousands of links) consists mostly of the
    description of its columns, and is written uncompressed, in less than half of the time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if table.num_columns > table.num_rows:
        pq.write_table(
            table, file, compression="none", use_dictionary=False, write_statistics=False
        )
        return
    encoding = {"time_s": "BYTE_STREAM_SPLIT"} if "time_s" in table.column_names else {}
    for column in table.schema:
        if column.name.endswith("_ns") and pa.types.is_integer(column.type):
            encoding[column.name] = "DELTA_BINARY_PACKED"
    pq.write_table(
        table,
        file,
        compression="zstd",
        # pyarrow accepts a list, though its annotation does not.
        use_dictionary=[name for name in table.column_names if name not in encoding],  # pyright: ignore[reportArgumentType]
        column_encoding=encoding or None,
    )
