"""A learned model as the text that the application `replay` reads: fields that a replay does not
need are left out, so that they do not change a run's identity."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aqmlab.errors import SpecError
from aqmlab.io import files

FORMAT, VERSION = "aqmlab traffic model", 2


def read(path: Path) -> str:
    """The text of a model's file for `replay`; an error in the file is reported as one sentence."""
    try:
        text = files.read_given(path).decode()
        return "\n".join(_lines(path, io.StringIO(text, newline=None)))
    except FileNotFoundError as error:
        raise SpecError(f"{path}: no such file; give what `aqmlab learn` has written") from error
    except UnicodeDecodeError as error:
        raise _damaged(path, "is not UTF-8 text") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise _damaged(path, f"cannot be read ({reason})") from error


def _lines(path: Path, file: Iterator[str]) -> Iterator[str]:
    header = _object(path, 1, next(file, ""))
    if header.get("format") != FORMAT:
        raise _damaged(path, "is no traffic model")
    if header.get("version") != VERSION:
        raise _damaged(path, f"has version {header.get('version')}, not {VERSION}")
    yield f"recording {header.get('duration_us')} {header.get('connections')}"
    for number, line in enumerate(file, 2):
        try:
            yield connection(_object(path, number, line))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _damaged(path, f"line {number} is no connection") from error


def connection(of: Mapping[str, Any]) -> str:
    """One connection as a line of the recording's text, as the simulator reads it."""
    # A path's round-trip time is the sum of two halves, and unknown unless both are known.
    halves = [half for half in of.get("rtt_us", ()) if half is not None]
    round_trip = sum(halves) if len(halves) == 2 else "-"
    opener, acceptor = of.get("hosts", (0, 0))
    if "epochs" in of:
        talk = f"epochs {_rows(of['epochs'])}"
    else:
        talk = f"units {_rows(of['opener'])} / {_rows(of['acceptor'])}"
    # A side without a unit would leave two spaces.
    talk = talk.replace("  ", " ").strip()
    side = of.get("side", "-")
    end = f"{of['end']}+{of['ecn']}" if "ecn" in of else of["end"]
    return f"{of['at_us']} {round_trip} {side} {opener} {acceptor} {end} {talk}"


def _rows(rows: list[list[int]]) -> str:
    return " ".join(",".join(str(int(number)) for number in row) for row in rows)


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except ValueError as error:
        raise _damaged(path, f"line {number} is not JSON") from error
    if not isinstance(content, dict):
        raise _damaged(path, f"line {number} is no JSON object")
    return content


def _damaged(path: Path, why: str) -> SpecError:
    return SpecError(f"{path} {why}; write it again with `aqmlab learn`")
