"""Results on disk: tables as Parquet files, described by `manifest.json`.

    results/<name>/contents.txt             the folder's mark, and a list of all below
                   manifest.json            the experiment: scenario, axes, seeds, version, runs
                   runs/<key>/              one finished run; or runs/<key>.zip, the run in one file
                       manifest.json        scenario, seed, version, build, fingerprint,
                                            created, names of the tables, hashes of the files
                       summary.json  <table>.parquet …
                   cache/                   calibrations
                   result.json, report.html, tables/, figures/       of a study
                   reference/               published tables, put there by people

A run's key is the hash of its canonical scenario, seed, version and build (a hash of the
simulator's sources): a second call of a command finds finished runs. Everything is written to a
temporary name and then renamed, so that neither Ctrl-C nor `kill -9` leaves half a result.

All files are protected by hashes: manifests and calibrations contain their own (`files.sealed`),
the hashes of all other files are in the run's manifest or in the folder's list (`contents`). A file
is checked when it is used. If it does not fit, the run is repeated, and one line reports it.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from aqmlab.errors import StoreError
from aqmlab.io import files
from aqmlab.io.documents import Document
from aqmlab.io.files import Damaged, reported
from aqmlab.io.terminal import say
from aqmlab.simulator import engine
from aqmlab.simulator.engine import Outcome, Version
from aqmlab.simulator.forms import Draft, Scenario

from . import archive, contents, drafts, run_files
from .contents import FOLDERS, MANIFEST, MARK, Contents
from .run_files import SUMMARY, BareManifest, Cache, Stamp, StoredRun, write_tables

FORMAT = 2
_USERS = ("reference",)
"""Folders that users put into a results folder; never removed."""


def content_key(canonical: Draft, version: Version) -> str:
    """The hash under which a run is kept; the scenario's name is not part of it."""
    bare = {key: value for key, value in canonical.items() if key != "name"}
    return files.identity([FORMAT, bare, version.version, version.build])[:20]


class Store:
    """The finished runs and calibrations in one results folder."""

    def __init__(self, folder: Path, listed: Contents, *, reads: bool = False) -> None:
        self.folder = folder
        self.contents = listed
        self._reads = reads
        """Whether the folder is only read: damaged runs are then not repeated."""

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, fresh: bool = False) -> Store:
        """Opens or creates a results folder of this version of aqmlab.

        `fresh` first removes all that aqmlab wrote there, but only if the folder is marked as a
        results folder.
        """
        place = Path(folder)
        with reported(place):
            store = cls(place, _claimed(place))
            known = None if fresh else store._manifest()
            if fresh:
                store.contents.clear()
            elif known is not None:
                _same_version(place, known, engine.version())
            if known is None:
                store.write_manifest({})
            (place / "runs").mkdir(exist_ok=True)
            store._sweep_up()
        return store

    @classmethod
    def existing(cls, folder: Path) -> Store:
        """A results folder of any version, to read what a study left there."""
        if not folder.is_dir():
            raise StoreError(f"{folder}: no such folder; give a results folder of aqmlab")
        listed = Contents.load(folder)
        if listed is None:
            raise StoreError(
                f"{folder} is no results folder of aqmlab (its {contents.NAME} is missing or "
                "damaged): run the study again into another folder with --out"
            )
        return cls(folder, listed, reads=True)

    @classmethod
    def is_stale(cls, folder: str | os.PathLike[str]) -> bool:
        """Whether the folder holds results of another version."""
        place = Path(folder)
        if not (place / MANIFEST).exists():
            return False
        try:
            _same_version(place, files.read_sealed(place / MANIFEST), engine.version())
        except Damaged:
            return Contents.load(place) is None
        except StoreError:
            return True
        return False

    def _manifest(self) -> Document | None:
        """The folder's manifest; None if it is missing, damaged or another folder's."""
        path = self.folder / MANIFEST
        if not path.exists():
            return None
        try:
            known = files.read_sealed(path)
        except Damaged:
            say(f"{path} is damaged: it is written anew")
            return None
        return known if known.get(MARK) == self.contents.identity else None

    def _sweep_up(self) -> None:
        """Removes incomplete files that a killed process left."""
        for leftover in (self.folder / "runs").glob(".tmp-*"):
            found = re.fullmatch(r"\.tmp-(\d+)-\d+-\w+", leftover.name)
            if found and not _alive(found[1]):
                drafts.remove(leftover)
        for place in (self.folder, *(self.folder / name for name in FOLDERS)):
            for leftover in place.glob(".*"):
                owner = files.owner(leftover)
                if owner is not None and not _alive(owner) and leftover.is_file():
                    leftover.unlink(missing_ok=True)

    @property
    def cache(self) -> Cache:
        """The cache of calibrations."""
        return Cache(self.folder / "cache", self.contents)

    def find(self, key: str) -> StoredRun | None:
        """The finished run of this key; None if there is none, or if it is damaged.

        The manifest and the summary are checked now; tables are only checked for their length, and
        for their content when they are read.
        """
        one_file = self._archive(key)
        if one_file.is_file() and not one_file.is_symlink():
            try:
                return self._read(one_file)
            except (Damaged, KeyError, TypeError, AttributeError):
                self._say_damaged(one_file, "damaged")
                return None
        place = self.folder / "runs" / key
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            what = "link" if place.is_symlink() else "file"
            raise StoreError(
                f"{place} is a {what} where a run's folder belongs: move it away and give the same "
                "command again"
            )
        if not place.exists():
            return None
        try:
            return self._read(place)
        except (Damaged, KeyError, TypeError, AttributeError):
            # Paths that cannot be cleared are reported before the run, not after it.
            for path in () if self._reads else place.iterdir():
                if drafts.is_of_a_run(path):
                    files.make_way(path)
            self._say_damaged(place, "damaged or incomplete")
            return None

    def _say_damaged(self, place: Path, how: str) -> None:
        say(f"{place} is {how}" + ("" if self._reads else ": it is run again"))

    def _archive(self, key: str) -> Path:
        """The path of a run that is kept as one file."""
        return self.folder / "runs" / f"{key}{archive.SUFFIX}"

    def _read(self, place: Path) -> StoredRun:
        about = run_files.manifest(place)
        if about["key"] != run_files.key_of(place):
            raise Damaged(f"{place} is another run's")
        known = about["files"]
        summary = run_files.compressed(run_files.summary(place, about))
        there = run_files.lengths(place, known)
        for name, of in known.items():
            if there[name] != of["bytes"]:
                raise Damaged(f"{place / name} is not what was written")
        return StoredRun(place, summary, known, self, tuple(about["tables"]))

    def save(
        self,
        key: str,
        scenario: Scenario,
        seed: int,
        outcome: Outcome,
        keep: Collection[str] | None = None,
    ) -> StoredRun:
        """Writes a finished run atomically under its key; may be called from several threads. With
        `keep` the run is one file with only these tables.
        """
        manifest = self._run_manifest(key, scenario, seed, outcome)
        if keep is not None:
            return self._save_archive(key, manifest, outcome, keep)
        place = self.folder / "runs" / key
        draft = place.with_name(f".tmp-{os.getpid()}-{threading.get_ident()}-{key}")
        with reported(self.folder):
            self.contents.check_there()
            try:
                draft.mkdir()
                write_tables(outcome.tables, draft)
                files.dump(draft / SUMMARY, outcome.summary)
                known = {path.name: drafts.known(path) for path in sorted(draft.iterdir())}
                files.dump(draft / MANIFEST, files.sealed({**manifest, "files": known}))
                for path in draft.iterdir():
                    files.settle(path)
                listed = {f"runs/{key}/{name}": of["blake2b"] for name, of in known.items()}
                self.contents.record({**listed, f"runs/{key}/{MANIFEST}": "-"})
                drafts.move(draft, place, lambda: self._is_whole(place))
            finally:
                drafts.remove(draft)
            return self._read(place)

    def _save_archive(
        self, key: str, manifest: BareManifest, outcome: Outcome, keep: Collection[str]
    ) -> StoredRun:
        place = self._archive(key)
        inside = {SUMMARY: archive.encoded(outcome.summary)}
        inside |= run_files.table_files(outcome.tables, keep)
        known = {name: run_files.known(content) for name, content in inside.items()}
        described = archive.encoded(files.sealed({**manifest, "files": known}))
        with reported(self.folder):
            self.contents.record_sealed(f"runs/{place.name}")
            files.make_way(place)
            archive.write(place, {MANIFEST: described} | inside)
            return self._read(place)

    def _is_whole(self, place: Path) -> bool:
        try:
            return self._read(place).is_whole()
        except (Damaged, KeyError, TypeError, AttributeError):
            return False

    def again(self, run: StoredRun, damage: Damaged, table: str) -> StoredRun:
        """Repeats a run of which a table is damaged or not kept; the new run replaces it and keeps
        that table. One line reports it."""
        from . import pool

        say(f"{damage}: it is run again")
        manifest = run.manifest
        scenario, seed = manifest["scenario"], manifest["seed"]

        def finish(_: int, outcome: Outcome) -> StoredRun:
            if outcome.summary.get("fingerprint") != manifest["fingerprint"]:
                raise StoreError(
                    f"{run.folder} came out differently when it was run again: give --fresh to "
                    "run everything again, and report it"
                )
            keep = {*run.kept(), table} if run_files.is_file(run.folder) else None
            return self.save(run.key, scenario, seed, outcome, keep)

        return pool.simulate_all([scenario], finish, title="damaged run")[0]

    def _run_manifest(
        self, key: str, scenario: Scenario, seed: int, outcome: Outcome
    ) -> BareManifest:
        return {
            **self._stamp(),
            "key": key,
            "scenario": scenario,
            "seed": seed,
            "fingerprint": outcome.summary.get("fingerprint"),
            "tables": sorted(outcome.tables),
        }

    def _stamp(self) -> Stamp:
        version = engine.version()
        return {
            "format": FORMAT,
            "version": version.version,
            "build": version.build,
            "commit": version.commit,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        """A draft of one of the folder's own files (`tables/1.csv`), which is renamed at the end,
        with its hash on the list."""
        self.contents.check_there()
        files.make_way(self.folder / name)
        with files.whole(self.folder / name) as draft:
            yield draft
            self.contents.record({name: files.digest_of(draft)})

    def write(self, name: str, content: bytes) -> None:
        """Writes one of the folder's own files."""
        with self.writing(name) as draft:
            draft.write_bytes(content)

    def write_json(self, name: str, content: object) -> None:
        """Writes one of the folder's own files as JSON."""
        with self.writing(name) as draft:
            files.dump(draft, content)

    def read_json(self, name: str) -> Document:
        """The content of one of the folder's own JSON files, whose hash is checked."""
        return files.parse_json(self.contents.read(name), self.folder / name)

    def write_manifest(self, content: Mapping[str, object]) -> None:
        """Writes the folder's manifest, which describes its results."""
        with reported(self.folder):
            self.contents.check_there()
            self.contents.record_sealed(MANIFEST)
            files.make_way(self.folder / MANIFEST)
            stamped = {**self._stamp(), MARK: self.contents.identity, **content}
            files.write_json(self.folder / MANIFEST, files.sealed(stamped))

    def finished(self) -> list[str]:
        """The keys of the runs in the folder, sorted."""
        runs = self.folder / "runs"
        archives = runs.glob(f"[!.]*{archive.SUFFIX}")
        places = (*archives, *(path.parent for path in runs.glob(f"[!.]*/{MANIFEST}")))
        return sorted({run_files.key_of(place) for place in places})

    def check_kept(self, runs: Iterable[StoredRun | None]) -> None:
        """Raises a StoreError if runs were removed while the command was running."""
        self.contents.check_there()
        gone = sum(not run.is_there() for run in runs if run is not None)
        if gone:
            were = "1 run was" if gone == 1 else f"{gone} runs were"
            raise StoreError(
                f"{were} removed from {self.folder} while this command went on: give the same "
                "command again"
            )

    @property
    def manifest(self) -> Document:
        """The folder's manifest, read from disk."""
        return files.read_sealed(self.folder / MANIFEST)


def _claimed(folder: Path) -> Contents:
    """The list of a results folder; an empty folder becomes one."""
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"{folder} is a file: choose another folder with --out")
    folder.mkdir(parents=True, exist_ok=True)
    for name in FOLDERS:
        if (folder / name).is_symlink():
            raise StoreError(
                f"{folder / name} is a link, and aqmlab writes and deletes only in real folders: "
                f"remove the link, or link the whole of {folder} to where there is room"
            )
        if (folder / name).is_file():
            raise StoreError(
                f"{folder / name} is a file where a folder belongs: move it away and give the same "
                "command again"
            )
    listed = Contents.load(folder)
    if listed is not None:
        return listed
    foreign = [p for p in folder.iterdir() if p.name not in _USERS and files.owner(p) is None]
    if foreign:
        raise StoreError(
            f"{folder} holds files that are no results of aqmlab, or of a version before "
            f"{contents.NAME}: choose another folder with --out, or remove it yourself"
        )
    return Contents.create(folder)


def _same_version(folder: Path, manifest: Mapping[str, object], version: Version) -> None:
    known = (manifest.get("format"), manifest.get("version"), manifest.get("build"))
    if known != (FORMAT, version.version, version.build):
        raise StoreError(
            f"{folder} holds results of aqmlab {known[1]} (build {known[2]}) and this is "
            f"{version}: give --fresh to replace them or another folder with --out"
        )


def _alive(pid: str) -> bool:
    """Whether the process with this number exists; the number is part of a file's name."""
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
