"""Reads a capture file with the compiled reader, in bounded memory, and reports progress by
bytes."""

from __future__ import annotations

import gzip
import ipaddress
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from aqmlab.errors import SpecError
from aqmlab.runs.progress import Progress
from aqmlab.simulator import engine, forms

if TYPE_CHECKING:
    from aqmlab._core import Learner

CHUNK = 1 << 20
"""Number of bytes of the capture that are read at a time."""
_GZIP = b"\x1f\x8b"
_OTHERS = {b"\x28\xb5\x2f\xfd": "zstd -d", b"\xfd7zX": "xz -d", b"BZh": "bzip2 -d"}


@dataclass(frozen=True)
class Learned:
    """The result of reading a capture: a report, and a temporary file with one line for each
    connection, as in the file of a traffic model."""

    report: forms.Learned
    lines: IO[bytes]
    """The temporary file: one line for each connection, in the order in which the connections
    ended."""
    index: np.ndarray
    """One row for every line of the file, in the order of the lines: the connection's start in
    microseconds, its serial number, and the length of the line in bytes."""


@contextmanager
def read(path: Path, inside: Sequence[str], progress: Progress) -> Iterator[Learned]:
    """A context manager that reads a capture. The temporary file, with one line for each
    connection, is deleted at the end of the `with` block."""
    learner = engine.learner([_prefix(text) for text in inside])
    rows = []
    with _opened(path) as file, tempfile.TemporaryFile() as lines:
        length = path.stat().st_size
        progress.begin("capture", [length], of_bytes=True)
        try:
            for chunk, place in _chunks(path, file):
                engine.feed(learner, chunk, path)
                rows.append(_take(learner, lines))
                progress.advance(0, place)
            progress.finish(0)
        finally:
            progress.end()
        report = engine.finish(learner, path)
        rows.append(_take(learner, lines))
        yield Learned(report, lines, np.concatenate(rows))


def _take(learner: Learner, lines: IO[bytes]) -> np.ndarray:
    text, numbers = learner.take()
    lines.write(text)
    return np.frombuffer(numbers, dtype="<u8").reshape(-1, 3)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The opened capture file; an error is one sentence."""
    try:
        file = path.open("rb")
    except FileNotFoundError as error:
        raise SpecError(f"{path}: no such file; give the path of a capture") from error
    except OSError as error:
        raise _unreadable(path, error) from error
    with file:
        yield file


def _chunks(path: Path, file: IO[bytes]) -> Iterator[tuple[bytes, int]]:
    """The capture's bytes, decompressed, each chunk with the position reached in the file."""
    try:
        first = file.read(4)
        file.seek(0)
    except OSError as error:
        raise _unreadable(path, error) from error
    for magic, command in _OTHERS.items():
        if first.startswith(magic):
            raise SpecError(f"{path} is compressed: unpack it first (`{command}`)")
    source: Any = gzip.GzipFile(fileobj=file) if first.startswith(_GZIP) else file
    while True:
        try:
            chunk = source.read1(CHUNK)
        except EOFError:  # a truncated file is read up to its end
            return
        except (gzip.BadGzipFile, zlib.error) as error:
            raise SpecError(f"{path}: its compressed bytes are damaged: copy it again") from error
        except OSError as error:
            raise _unreadable(path, error) from error
        if not chunk:
            return
        yield chunk, file.tell()


def _unreadable(path: Path, error: Exception) -> SpecError:
    reason = str(getattr(error, "strerror", None) or error).lower()
    return SpecError(f"{path}: cannot be read ({reason}); give the path of a capture")


def _prefix(text: str) -> tuple[bytes, int]:
    """An address prefix as the compiled reader takes it: 16 bytes, and the prefix length in
    bits."""
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError as error:
        raise SpecError(
            f'--inside "{text}" is no network: write for example 10.0.0.0/8 or 2001:db8::/32'
        ) from error
    address = network.network_address.packed
    if network.version == 6:
        return address, network.prefixlen
    return bytes(10) + b"\xff\xff" + address, network.prefixlen + 96
