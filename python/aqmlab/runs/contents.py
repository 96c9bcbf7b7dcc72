"""The contents of a results folder: a mark that aqmlab made it, and the list of files that may be
deleted.

    contents.txt    aqmlab results <identity> <check>
                    <check> <hash> "<path>"             one line for every file, as it is written

The identity is drawn at random when the folder is made, and every check is a hash keyed by it, so
that no other folder is mistaken for one of aqmlab's and no damaged line names a file. Lines are
only appended, before the file is written; of several for one path the last one counts. Only regular
files on the list, in real folders (no links), are deleted; all else stays.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath

from aqmlab.errors import StoreError
from aqmlab.io.files import Damaged, digest, keyed, make_way, read, read_sealed, settle, whole

from . import archive

NAME = "contents.txt"
MANIFEST = "manifest.json"
FOLDERS = ("runs", "cache", "tables", "figures", "predictions")
FILES = (
    *(MANIFEST, "result.json", "report.html"),
    *("inference.json", "inference.html", "inferred.toml"),
)
MARK = "folder"
"""The key for the folder's identity in the manifest, which repeats it: aqmlab recognises its folder
as long as the contents file or the manifest exists."""
_TITLE = "aqmlab results"
_UNKNOWN = "-"


class Contents:
    """The list of the files that aqmlab wrote into one results folder, as `contents.txt` has it."""

    def __init__(self, folder: Path, identity: str, lines: list[str]) -> None:
        self.folder = folder
        self.identity = identity
        self._lines = lines

    @cached_property
    def _digests(self) -> dict[str, str]:
        """The hash of every file on the list by path, or `_UNKNOWN` for a file that contains its
        own hash; slow for a large study."""
        return dict(_entries(self._lines, self.identity))

    def _digest(self, path: str) -> str | None:
        """The hash of one file on the list (None if it is not there), without parsing the lines of
        all others."""
        if "_digests" in self.__dict__:
            return self._digests.get(path)
        ending = f" {json.dumps(path)}"
        about = (line for line in reversed(self._lines) if line.endswith(ending))
        return next((known for line in about for _, known in _entries([line], self.identity)), None)

    @classmethod
    def create(cls, folder: Path) -> Contents:
        """Marks a folder as a results folder of aqmlab; if another process has just done so, its
        mark counts."""
        identity = secrets.token_hex(16)
        path = folder / NAME
        draft = path.with_name(f".{NAME}.{os.getpid()}.0")
        try:
            draft.write_text(_header(identity), encoding="utf-8")
            settle(draft)
            try:
                os.link(draft, path)
            except FileExistsError:
                pass
            except OSError:  # the file system has no hard links
                draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        found = cls.load(folder)
        if found is None:
            raise StoreError(f"{path} cannot be read back: choose another folder with --out")
        return found

    @classmethod
    def load(cls, folder: Path) -> Contents | None:
        """The list of a folder that has aqmlab's mark in its contents file or in its manifest; None
        if the folder has no mark."""
        try:
            lines = read(folder / NAME).decode("utf-8", "replace").split("\n")
        except OSError:
            lines = [""]
        identity = _identity(lines[0])
        if identity is not None:
            return cls(folder, identity, lines[1:])
        try:
            identity = read_sealed(folder / MANIFEST).get(MARK)
        except StoreError:
            return None
        if not isinstance(identity, str) or not re.fullmatch(r"[0-9a-f]{32}", identity):
            return None
        contents = cls(folder, identity, lines[1:])
        # The list cannot be rewritten in a read-only folder.
        with contextlib.suppress(OSError, StoreError):
            contents._rewrite()
        return contents

    def _rewrite(self) -> None:
        make_way(self.folder / NAME)
        with whole(self.folder / NAME) as draft:
            lines = "".join(self._line(path, known) for path, known in self._digests.items())
            draft.write_text(_header(self.identity) + lines, encoding="utf-8")

    def check_there(self) -> None:
        """Raises a StoreError if the folder was removed or replaced while the process was
        running."""
        try:
            with (self.folder / NAME).open("rb") as file:
                first = file.readline(200).decode("ascii", "replace")
        except FileNotFoundError:
            first = ""
        if _identity(first.rstrip("\n")) != self.identity:
            raise StoreError(
                f"{self.folder} was removed or replaced while this command wrote into it: give "
                "the same command again"
            )

    def record(self, digests: Mapping[str, str]) -> None:
        """Appends to the list files that will be written next; `digests` maps their paths, relative
        to the folder, to the hashes of their content."""
        new = {path: known for path, known in digests.items() if self._digests.get(path) != known}
        if not new:
            return
        self.check_there()
        # The newline first ends a line that was cut off.
        text = "\n" + "".join(self._line(path, known) for path, known in new.items())
        place = os.open(self.folder / NAME, os.O_WRONLY | os.O_APPEND)
        try:
            content = memoryview(text.encode())
            while content:
                content = content[os.write(place, content) :]
        finally:
            os.close(place)
        self._digests.update(new)

    def record_sealed(self, *paths: str) -> None:
        """Appends to the list files that contain their own hash."""
        self.record(dict.fromkeys(paths, _UNKNOWN))

    def _line(self, path: str, known: str) -> str:
        entry = f"{known} {json.dumps(path)}"
        return f"{keyed(self.identity, entry)} {entry}\n"

    def holds(self, path: str) -> bool:
        """Whether a file of this path is on the list."""
        return self._digest(path) is not None

    def read(self, path: str) -> bytes:
        """A file's content; raises `Damaged` if it differs from what was written."""
        if self._digest(path) == _UNKNOWN:
            read_sealed(self.folder / path)  # checks the file by the hash that it contains
            return read(self.folder / path)
        place = self.folder / path
        try:
            content = read(place)
        except OSError as error:
            raise Damaged(
                f"{place} cannot be read ({(error.strerror or str(error)).lower()}): run the study "
                "again, finished runs are not repeated"
            ) from error
        if digest(content) != self._digest(path):
            raise Damaged(
                f"{place} is not what was written: run the study again, finished runs are not "
                "repeated"
            )
        return content

    def clear(self) -> None:
        """Removes every file that aqmlab wrote, and the folders that are then empty."""
        ours = [PurePosixPath(p) for p in {*self._digests, *self._by_their_seals()} if _is_ours(p)]
        for path in ours:
            self._remove(path)
        below = {above for path in ours for above in path.parents if above.name}
        for folder in sorted(below, key=lambda folder: -len(folder.parts)):
            with contextlib.suppress(OSError):
                (self.folder / folder).rmdir()
        self._digests = {}
        self._rewrite()

    def _by_their_seals(self) -> Iterator[str]:
        """Paths of the files whose own content proves that aqmlab wrote them, even if their lines
        in the list are damaged."""
        if self._sealed(MANIFEST).get(MARK) == self.identity:
            yield MANIFEST
        runs, cache = (self.folder / name for name in ("runs", "cache"))
        for run in sorted(runs.iterdir()) if _is_folder(runs) else []:
            if run.suffix == archive.SUFFIX and self._names_itself(run):
                yield f"runs/{run.name}"
            manifest = f"runs/{run.name}/{MANIFEST}"
            content = self._sealed(manifest) if _is_folder(run) else {}
            if content.get("key") == run.name:
                yield manifest
                yield from (f"runs/{run.name}/{name}" for name in content.get("files", {}))
        for entry in sorted(cache.glob("*.json")) if _is_folder(cache) else []:
            if self._sealed(f"cache/{entry.name}").get("name") == entry.stem:
                yield f"cache/{entry.name}"

    def _names_itself(self, run: Path) -> bool:
        with contextlib.suppress(StoreError):
            return archive.read_sealed(run, MANIFEST).get("key") == run.stem
        return False

    def _sealed(self, path: str) -> dict:
        try:
            return read_sealed(self.folder / path)
        except StoreError:
            return {}

    def _remove(self, path: PurePosixPath) -> None:
        place = self.folder
        for part in path.parts[:-1]:
            place = place / part
            if not _is_folder(place):
                return
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISREG((place / path.name).lstat().st_mode):
                (place / path.name).unlink()


def _header(identity: str) -> str:
    return f"{_TITLE} {identity} {keyed(identity, _TITLE)}\n"


def _identity(line: str) -> str | None:
    found = re.fullmatch(rf"{_TITLE} ([0-9a-f]{{32}}) ([0-9a-f]+)", line)
    return found[1] if found and keyed(found[1], _TITLE) == found[2] else None


def _entries(lines: list[str], identity: str) -> Iterator[tuple[str, str]]:
    for line in lines:
        check, _, entry = line.partition(" ")
        if entry and check == keyed(identity, entry):
            known, _, path = entry.partition(" ")
            yield json.loads(path), known


def _is_ours(path: str) -> bool:
    """Whether aqmlab writes files with this path, relative to a results folder; false for every
    path that leads out of the folder."""
    parts = PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts or "\\" in path or "\0" in path:
        return False
    return path in FILES or (2 <= len(parts) <= 3 and parts[0] in FOLDERS)


def _is_folder(path: Path) -> bool:
    """Whether a path is a real folder, not a link to one."""
    with contextlib.suppress(OSError):
        return stat.S_ISDIR(path.lstat().st_mode)
    return False
