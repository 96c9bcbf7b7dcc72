"""A run in one file: a ZIP archive with the files of a run's folder.

The folders of tens of thousands of short runs would take more space than their contents, since each
folder and file takes whole blocks of the disk. JSON is compressed; tables are compressed already.
"""

from __future__ import annotations

import errno
import json
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from aqmlab.io.documents import Document
from aqmlab.io.files import Damaged, opened, parse_json, whole

SUFFIX = ".zip"
_DATE = (1980, 1, 1, 0, 0, 0)
"""Date of every entry, so that equal content gives equal bytes."""
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError),
    *(KeyError, ValueError, RuntimeError, NotImplementedError, OverflowError),
)
"""Exceptions that reading a damaged archive may raise."""


def encoded(content: object) -> bytes:
    """Compact JSON, in ASCII so that any name can be written."""
    return json.dumps(content, separators=(",", ":")).encode()


def write(path: Path, entries: Mapping[str, bytes]) -> None:
    """Writes the archive atomically."""
    with whole(path) as draft, zipfile.ZipFile(draft, "w") as archive:
        for name, content in entries.items():
            about = zipfile.ZipInfo(name, _DATE)
            packed = zipfile.ZIP_DEFLATED if name.endswith(".json") else zipfile.ZIP_STORED
            archive.writestr(about, content, packed, 9)


def lengths(path: Path) -> dict[str, int]:
    """The entries of an archive with their uncompressed sizes in bytes."""
    try:
        with _opened(path) as archive:
            return {about.filename: about.file_size for about in archive.infolist()}
    except _BROKEN as error:
        raise Damaged(f"{path} is damaged") from error


def read(path: Path, name: str) -> bytes:
    """The content of one entry of an archive."""
    try:
        with _opened(path) as archive:
            return archive.read(name)
    except _BROKEN as error:
        raise Damaged(f"{path} is damaged") from error


def read_sealed(path: Path, name: str) -> Document:
    """An entry that is a JSON object with its own hash: the object without the hash, which is
    checked."""
    return opened(parse_json(read(path, name), path), path)


def _opened(path: Path) -> zipfile.ZipFile:
    if not stat.S_ISREG(path.lstat().st_mode):
        raise OSError(errno.EINVAL, "is no file of its own", str(path))
    return zipfile.ZipFile(path)
