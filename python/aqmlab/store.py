"""Results on disk: tables as Parquet, what they are as `manifest.json`.

    results/<name>/manifest.json            the experiment: scenario, axes, seeds, version, runs
                   runs/<key>/              one finished run
                       manifest.json        scenario, seed, version, build, fingerprint,
                                            created, names of the tables
                       summary.json  <table>.parquet …
                   cache/                   calibrations
                   result.json, report.html, tables/, figures/       of a study
                   reference/               published tables, put there by people

A run's key is the hash of its canonical scenario, seed, version and build (a hash of the
simulator's sources): the same command again finds what is finished. Everything is written beside
its place and moved there whole, so that neither Ctrl-C nor `kill -9` leaves half a result.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import engine
from aqmlab.engine import Outcome, Version
from aqmlab.errors import StoreError

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

FORMAT = 1
MANIFEST = "manifest.json"
_FOLDERS = ("runs", "cache", "tables", "figures")
_FILES = (MANIFEST, "result.json", "report.html")
_USERS = ("reference",)
"""What people put into a results folder: never removed."""


def content_key(canonical: Mapping[str, Any], version: Version) -> str:
    """The hash under which a run is kept; the scenario's name is not part of it."""
    bare = {key: value for key, value in canonical.items() if key != "name"}
    identity = [FORMAT, bare, version.version, version.build]
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class StoredRun:
    """A finished run in its folder."""

    folder: Path

    @property
    def manifest(self) -> dict[str, Any]:
        """What was run."""
        return read_json(self.folder / MANIFEST)

    @property
    def summary(self) -> dict[str, Any]:
        """What came out, in numbers."""
        return read_json(self.folder / "summary.json")

    def is_whole(self) -> bool:
        """Whether everything that was written is there and can be read."""
        try:
            tables = self.manifest.get("tables")
            return (
                isinstance(tables, list)
                and bool(self.summary)
                and all(_is_parquet(self.folder / f"{name}.parquet") for name in tables)
            )
        except StoreError:
            return False

    def tables(self) -> list[str]:
        """The names of its tables."""
        return sorted(path.stem for path in self.folder.glob("*.parquet"))

    def table(self, name: str) -> pl.DataFrame:
        """One table."""
        import polars as pl

        return pl.read_parquet(self.folder / f"{name}.parquet")


class Store:
    """One results folder."""

    def __init__(self, folder: Path, version: Version) -> None:
        self.folder = folder
        self.version = version

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, fresh: bool = False) -> Store:
        """Opens or creates a results folder of this version of aqmlab.

        `fresh` empties it first, but only if it is a results folder.
        """
        store = cls(Path(folder), engine.version())
        with reported(store.folder):
            store._claim(fresh)
            if not (store.folder / MANIFEST).exists():
                store.write_manifest({})
            (store.folder / "runs").mkdir(parents=True, exist_ok=True)
            store._sweep_up()
        return store

    @classmethod
    def is_stale(cls, folder: str | os.PathLike[str]) -> bool:
        """Whether the folder holds results of another version."""
        path = Path(folder) / MANIFEST
        if not path.exists():
            return False
        try:
            cls(Path(folder), engine.version())._same_version(read_json(path))
        except StoreError:
            return True
        return False

    def _claim(self, fresh: bool) -> None:
        path = self.folder / MANIFEST
        if not self.folder.exists():
            return
        if not self.folder.is_dir():
            raise StoreError(f"{self.folder} is a file: choose another folder with --out")
        if fresh and self._is_damaged():
            self._clear()
            return
        manifest = read_json(path) if path.exists() else {}
        if not {"format", "version", "build"} <= manifest.keys():
            if any(path.name not in _USERS for path in self.folder.iterdir()):
                raise StoreError(
                    f"{self.folder} holds files that are no results of aqmlab: "
                    "choose another folder with --out"
                )
        elif fresh:
            self._clear()
        else:
            self._same_version(manifest)

    def _is_damaged(self) -> bool:
        """Whether only the manifest is broken: nothing in the folder looks like another's."""
        try:
            read_json(self.folder / MANIFEST)
            return False
        except StoreError:
            there = {path.name for path in self.folder.iterdir()}
        runs = self.folder / "runs"
        return (
            MANIFEST in there
            and there <= {*_FOLDERS, *_FILES, *_USERS}
            and (not runs.exists() or all(path.is_dir() for path in runs.iterdir()))
        )

    def _same_version(self, manifest: Mapping[str, Any]) -> None:
        known = (manifest.get("format"), manifest.get("version"), manifest.get("build"))
        if known != (FORMAT, self.version.version, self.version.build):
            raise StoreError(
                f"{self.folder} holds results of aqmlab {known[1]} (build {known[2]}) and this is "
                f"{self.version}: give --fresh to replace them or another folder with --out"
            )

    def _clear(self) -> None:
        for name in _FOLDERS:
            shutil.rmtree(self.folder / name, ignore_errors=True)
        for name in _FILES:
            (self.folder / name).unlink(missing_ok=True)

    def _sweep_up(self) -> None:
        """Removes what a killed process left half-written."""
        for leftover in (self.folder / "runs").glob(".tmp-*"):
            if not _alive(leftover.name.split("-")[1]):
                shutil.rmtree(leftover, ignore_errors=True)
        for place in (self.folder, *(self.folder / name for name in _FOLDERS)):
            for leftover in place.glob(".*"):
                owner = _owner(leftover)
                if owner is not None and not _alive(owner):
                    leftover.unlink(missing_ok=True)

    @property
    def cache(self) -> Path:
        """Where calibrations are kept."""
        return self.folder / "cache"

    def find(self, key: str) -> StoredRun | None:
        """The finished run of that key, if there is one; a damaged one is as good as none."""
        run = StoredRun(self.folder / "runs" / key)
        return run if run.is_whole() else None

    def save(self, key: str, scenario: Mapping[str, Any], seed: int, outcome: Outcome) -> StoredRun:
        """Writes a finished run; it appears under its key all at once. Safe between threads."""
        place = self.folder / "runs" / key
        draft = place.with_name(f".tmp-{os.getpid()}-{threading.get_ident()}-{key}")
        with reported(self.folder):
            try:
                draft.mkdir(parents=True)
                for name, table in outcome.tables.items():
                    write_parquet(table, draft / f"{name}.parquet")
                _dump(draft / "summary.json", outcome.summary)
                _dump(draft / MANIFEST, self._run_manifest(scenario, seed, outcome))
                if not StoredRun(place).is_whole():
                    shutil.rmtree(place, ignore_errors=True)
                    _move(draft, place)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
        return StoredRun(place)

    def _run_manifest(
        self, scenario: Mapping[str, Any], seed: int, outcome: Outcome
    ) -> dict[str, Any]:
        return {
            **self._stamp(),
            "scenario": scenario,
            "seed": seed,
            "fingerprint": outcome.summary.get("fingerprint"),
            "tables": sorted(outcome.tables),
        }

    def _stamp(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": self.version.version,
            "build": self.version.build,
            "commit": self.version.commit,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    def write_manifest(self, content: Mapping[str, Any]) -> None:
        """Says in the folder what its results are."""
        with reported(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_json(self.folder / MANIFEST, {**self._stamp(), **content})

    @property
    def manifest(self) -> dict[str, Any]:
        """What the folder's results are."""
        return read_json(self.folder / MANIFEST)


def write_parquet(table: pa.Table, path: Path) -> None:
    """Zstandard; times are split by byte (equally spaced floats do not repeat, their bytes do)."""
    import pyarrow.parquet as pq

    times = [name for name in table.column_names if name == "time_s"]
    pq.write_table(
        table,
        path,
        compression="zstd",
        # A list is allowed, whatever the annotation says.
        use_dictionary=[name for name in table.column_names if name not in times],  # pyright: ignore[reportArgumentType]
        column_encoding=dict.fromkeys(times, "BYTE_STREAM_SPLIT") or None,
    )


def _is_parquet(path: Path) -> bool:
    """Whether a file begins and ends as Parquet does: a cut one does not."""
    magic = b"PAR1"
    try:
        with path.open("rb") as file:
            first = file.read(4)
            file.seek(-4, os.SEEK_END)
            return first == magic == file.read(4)
    except OSError:
        return False


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object; a missing or broken file is one sentence."""
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError as error:
        raise StoreError(
            f"{path} is missing: give a folder written by `aqmlab run` or `aqmlab study`"
        ) from error
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{path} cannot be read ({error}): remove the folder or choose another with --out"
        ) from error
    if not isinstance(content, dict):
        raise StoreError(
            f"{path} is not a JSON object: remove the folder or choose another with --out"
        )
    return content


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A draft beside `path` to write to, moved there at the end: the file appears whole or not at
    all, also when two processes write the same one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")  # see _owner
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_json(path: Path, content: Any) -> None:
    """Writes a JSON file all at once."""
    with whole(path) as draft:
        _dump(draft, content)


def _dump(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _move(draft: Path, place: Path) -> None:
    """Renames a folder, unless another process has just put the same one there."""
    try:
        draft.replace(place)
    except OSError:
        if not place.exists():
            raise


@contextlib.contextmanager
def reported(folder: Path) -> Iterator[None]:
    """A folder that cannot be written as one sentence."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StoreError(
            f"{folder} cannot be written ({reason}): choose another folder with --out"
        ) from error


def _owner(draft: Path) -> str | None:
    """The process that writes this draft (see `whole`); none of a file that is no draft."""
    found = re.fullmatch(r"\..+\.(\d+)\.\d+", draft.name)
    return found[1] if found else None


def _alive(pid: str) -> bool:
    """Whether the process of this number, as a name has it, is there."""
    if not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
