"""Writes files atomically, and protects them by hashes: a file whose hash does not fit is not used.

Hashes are BLAKE2b (RFC 7693) of 128 bits. They find accidents: a flipped bit, a cut or swapped
file, a number changed by hand. They do not protect against an attacker, who can compute them anew.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import stat
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aqmlab.errors import StoreError

SEAL = "seal"
"""The key of a JSON object whose value is the hash of all other keys and values."""
LARGEST_GIVEN = 512 << 20
"""Largest size in bytes of a table, trace or model that a scenario names; all of it becomes part of
the run."""
_BYTES = 16


class Damaged(StoreError):
    """A file differs from what was written, and is treated as missing."""


def digest(content: bytes) -> str:
    """The hash of some bytes, in hexadecimal digits."""
    return hashlib.blake2b(content, digest_size=_BYTES).hexdigest()


def digest_of(path: Path) -> str:
    """The hash of a file's content, however long it is."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=_BYTES)).hexdigest()


def identity(content: object) -> str:
    """The hash that identifies content, independent of the order of keys: 64 hexadecimal digits."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def keyed(key: str, text: str) -> str:
    """A short keyed hash: it proves that the file was written by the holder of the key."""
    code = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=key.encode(), digest_size=8)
    return code.hexdigest()


def of_user(variable: str, *below: str) -> Path | None:
    """The folder that an environment variable names, or one below the user's home; None without a
    home. A path that is not absolute is ignored, as the XDG specification requires."""
    named = os.environ.get(variable)
    if named and Path(named).is_absolute():
        return Path(named)
    try:
        return Path.home().joinpath(*below)
    except RuntimeError:
        return None


def user_cache() -> Path | None:
    """The user's cache folder, which need not exist; None without a home."""
    place = of_user("XDG_CACHE_HOME", ".cache")
    return place and place / "aqmlab"


def sealed(content: Mapping[str, object]) -> dict[str, Any]:
    """A JSON object with the hash of its own content."""
    # The content is hashed in the form in which it will be read: tuples become lists, keys become
    # text.
    bare = json.loads(json.dumps({k: v for k, v in content.items() if k != SEAL}))
    return {**bare, SEAL: _seal(bare)}


def _seal(bare: Mapping[str, object]) -> str:
    return digest(json.dumps(bare, sort_keys=True, separators=(",", ":")).encode())


def read_sealed(path: Path) -> dict[str, Any]:
    """A JSON object that contains its own hash, without the hash; `Damaged` if it does not fit."""
    return opened(read_json(path), path)


def opened(content: dict[str, Any], path: Path) -> dict[str, Any]:
    """A JSON object that was read from this file, without its hash; `Damaged` if it does not
    fit."""
    seal = content.pop(SEAL, None)
    try:
        if seal == _seal(content):
            return content
    # The object has numbers or nesting that aqmlab never writes.
    except (ValueError, RecursionError):
        pass
    raise Damaged(f"{path} is damaged: give the command again that wrote it")


def read(path: Path) -> bytes:
    """The content of a regular file; a link or a device is refused."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise OSError(errno.EINVAL, "is no file of its own", str(path))
    return path.read_bytes()


def read_given(path: Path) -> bytes:
    """The content of a file that a user names; devices, which may have no end, and pipes, which may
    block, are refused."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "no regular file", str(path))
    with path.open("rb") as file:
        content = file.read(LARGEST_GIVEN + 1)
    if len(content) > LARGEST_GIVEN:
        raise OSError(errno.EFBIG, f"longer than {LARGEST_GIVEN:,} bytes", str(path))
    return content


def read_packed(path: Path) -> bytes:
    """The content of a file that a user names, unpacked if its name ends with .gz or .zst."""
    content = read_given(path)
    kind = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
    if kind is None:
        return content
    import pyarrow

    try:
        with pyarrow.CompressedInputStream(pyarrow.BufferReader(content), kind) as stream:
            unpacked = stream.read(LARGEST_GIVEN + 1)
    except OSError as error:
        raise OSError(errno.EINVAL, f"cut short, damaged or no {kind} file", str(path)) from error
    if len(unpacked) > LARGEST_GIVEN:
        raise OSError(errno.EFBIG, f"longer than {LARGEST_GIVEN:,} bytes", str(path))
    return unpacked


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file; a missing or broken file raises `Damaged` with one sentence."""
    try:
        return parse_json(read(path), path)
    except FileNotFoundError as error:
        raise Damaged(
            f"{path} is missing: give a folder written by `aqmlab run` or `aqmlab study`"
        ) from error
    except OSError as error:
        raise Damaged(
            f"{path} cannot be read ({error.strerror or error}): remove the folder or choose "
            "another with --out"
        ) from error


def parse_json(content: bytes, path: Path) -> dict[str, Any]:
    """The JSON object in a file's content; raises `Damaged` if it is none."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Damaged(
            f"{path} cannot be read ({error}): remove the folder or choose another with --out"
        ) from error
    if not isinstance(found, dict):
        raise Damaged(
            f"{path} is not a JSON object: remove the folder or choose another with --out"
        )
    return found


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary file next to `path`, which is renamed to it at the end: the file is complete or
    missing, even if two processes write it, and after a power failure.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # `owner` parses this name.
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        yield draft
        settle(draft)
        draft.replace(path)
    except OSError as error:
        # An error of a write names no file, and one of an open the draft.
        if error.filename in (None, str(draft)):
            error.filename = str(path)
        raise
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def make_way(path: Path) -> None:
    """Makes room for a file of a results folder: an empty folder at its path is removed; one with
    content, which must be the user's, is refused. (A link is replaced later by the file; its target
    stays.)"""
    if path.is_symlink() or not path.is_dir():
        return
    try:
        path.rmdir()
    except OSError as error:
        raise StoreError(
            f"{path} is a folder where a file belongs: move it away and give the same command again"
        ) from error


def settle(path: Path) -> None:
    """Waits until a file's content is on the disk, which must happen before the file is renamed."""
    place = os.open(path, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)


def owner(draft: Path) -> str | None:
    """The number of the process that writes this draft (see `whole`); None if the file is no
    draft."""
    found = re.fullmatch(r"\..+\.(\d+)\.\d+", draft.name)
    return found[1] if found else None


def write_json(path: Path, content: object) -> None:
    """Writes a JSON file atomically."""
    with whole(path) as draft:
        dump(draft, content)


def dump(path: Path, content: object) -> None:
    """Writes JSON in valid UTF-8: characters from paths that are not UTF-8 are escaped."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    escaped = re.sub("[\ud800-\udfff]", lambda one: f"\\u{ord(one[0]):04x}", text)
    path.write_text(escaped, encoding="utf-8")


def on_a_line(value: object) -> str:
    """A value as compact JSON on one line."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def lined(value: object) -> str:
    """Compact JSON with a short value on each line: small files whose differences can be read."""
    line = on_a_line(value)
    if len(line) <= 240 or not isinstance(value, dict | list):
        return line
    if isinstance(value, list):
        return "[\n" + ",\n".join(map(lined, value)) + "\n]"
    lines = [f"{json.dumps(key)}:{lined(inner)}" for key, inner in value.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


@contextlib.contextmanager
def reported(folder: Path) -> Iterator[None]:
    """Turns errors of writing a folder into a StoreError of one sentence."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        culprit = error.filename2 or error.filename
        if isinstance(culprit, str) and Path(culprit) != folder:
            reason += f": {Path(culprit).name}"
        raise StoreError(
            f"{folder} cannot be written ({reason}): choose another folder with --out"
        ) from error
