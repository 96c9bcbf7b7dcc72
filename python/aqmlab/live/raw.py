"""The file by which the process of a live run passes its result to the command: a line of JSON,
then the columns' bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write(path: Path, raw: dict[str, Any]) -> None:
    """Writes the result of `_core.live_run` to the file."""
    blobs: list[bytes] = []
    tables = {}
    for name, table in raw["tables"].items():
        columns = []
        for column, kind, data in table["columns"]:
            columns.append([column, kind, len(data)])
            blobs.append(data)
        tables[name] = {"columns": columns, "every_s": table["every_s"]}
    with path.open("wb") as file:
        file.write(json.dumps({**raw, "tables": tables}).encode() + b"\n")
        file.writelines(blobs)


def read(path: Path) -> Any:
    """The result from the file; empty if the first line was not written to its end."""
    with path.open("rb") as file:
        try:
            raw = json.loads(file.readline())
        except ValueError:
            return {}
        for table in raw.get("tables", {}).values():
            table["columns"] = [
                (name, kind, file.read(length)) for name, kind, length in table["columns"]
            ]
    return raw
