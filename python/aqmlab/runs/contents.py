"""What aqmlab wrote into a results folder: the folder's mark, and the list by which it deletes.

    contents.txt    aqmlab results <identity> <check>
                    <check> <hash> "<path>"             one line for every file, as it is written

The identity is drawn when the folder is made, and every check is a hash keyed by it, so that no
folder is taken for ours by accident and no damaged line names a file. Lines are only added; of
several for one path the last one counts, and it stands there before its file does. What is
deleted is on the list, lies in a real folder (no link) and is a regular file; all else stays.
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
"""The manifest's entry with the folder's identity: the mark survives where either file does."""
_TITLE = "aqmlab results"
_UNKNOWN = "-"


class Contents:
    """The list of one results folder."""

    def __init__(self, folder: Path, identity: str, lines: list[str]) -> None:
        self.folder = folder
        self.identity = identity
        self._lines = lines

    @cached_property
    def _digests(self) -> dict[str, str]:
        """Every file's hash, or what stands for one; of a large study this takes a while."""
        return dict(_entries(self._lines, self.identity))

    def _digest(self, path: str) -> str | None:
        """One file's hash, without reading about all others."""
        if "_digests" in self.__dict__:
            return self._digests.get(path)
        ending = f" {json.dumps(path)}"
        about = (line for line in reversed(self._lines) if line.endswith(ending))
        return next((known for line in about for _, known in _entries([line], self.identity)), None)

    @classmethod
    def create(cls, folder: Path) -> Contents:
        """Marks a folder as ours; if another process has just done so, its mark counts."""
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
            except OSError:  # a file system without hard links
                draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        found = cls.load(folder)
        if found is None:
            raise StoreError(f"{path} cannot be read back: choose another folder with --out")
        return found

    @classmethod
    def load(cls, folder: Path) -> Contents | None:
        """The list of a folder that bears our mark, in the list or in the manifest."""
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
        with contextlib.suppress(OSError, StoreError):  # a folder that can only be read is read
            contents._rewrite()
        return contents

    def _rewrite(self) -> None:
        make_way(self.folder / NAME)
        with whole(self.folder / NAME) as draft:
            lines = "".join(self._line(path, known) for path, known in self._digests.items())
            draft.write_text(_header(self.identity) + lines, encoding="utf-8")

    def check_there(self) -> None:
        """A folder that was removed or replaced under a running process is one sentence."""
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
        """Adds files (path below the folder to hash) that are about to appear."""
        new = {path: known for path, known in digests.items() if self._digests.get(path) != known}
        if not new:
            return
        self.check_there()
        # A line that was cut ends at this line's beginning.
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
        """Adds files that carry their own hash."""
        self.record(dict.fromkeys(paths, _UNKNOWN))

    def _line(self, path: str, known: str) -> str:
        entry = f"{known} {json.dumps(path)}"
        return f"{keyed(self.identity, entry)} {entry}\n"

    def holds(self, path: str) -> bool:
        """Whether we wrote a file of this name."""
        return self._digest(path) is not None

    def read(self, path: str) -> bytes:
        """A file's content, if it is what was written."""
        if self._digest(path) == _UNKNOWN:
            read_sealed(self.folder / path)  # it carries its own hash
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
        """Removes every file that we wrote, and the folders that are empty then."""
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
        """Files that say themselves that they are ours, also if a damaged line does not."""
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
    """Whether a path is one of those that aqmlab writes to: never outside the folder."""
    parts = PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts or "\\" in path or "\0" in path:
        return False
    return path in FILES or (2 <= len(parts) <= 3 and parts[0] in FOLDERS)


def _is_folder(path: Path) -> bool:
    """A folder itself, no link to one."""
    with contextlib.suppress(OSError):
        return stat.S_ISDIR(path.lstat().st_mode)
    return False
