"""Writes predictions and the inferred set as files, with hashes that reveal later changes."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomlkit

from aqmlab.errors import StoreError
from aqmlab.io import files
from aqmlab.io.documents import read_toml
from aqmlab.simulator import engine

from .unknowns import Value, Values

if TYPE_CHECKING:
    from .predictions import Prediction

FOLDER = "predictions"
LIST = "predictions.json"
SET = "inferred.toml"


def documents(predictions: list[Prediction], values: Values, command: str) -> dict[str, bytes]:
    """The files of an inference by name: its set, one CSV for each table, and the list of these
    tables."""
    tables = {f"{one.id}.csv": _csv(one).encode() for one in predictions}
    version = engine.version()
    described = {
        "command": command,
        "made": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "aqmlab": version.version,
        "build": version.build,
        "commit": version.commit,
        "set": dict(values),
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in tables.items()},
    }
    found = {SET: _set(values, command)}
    if tables:
        listed = json.dumps(described, indent=2, ensure_ascii=False) + "\n"
        found |= {f"{FOLDER}/{name}": content for name, content in tables.items()}
        found[f"{FOLDER}/{LIST}"] = listed.encode()
    return found


def place(folder: Path) -> str:
    """The folder for today's predictions, relative to a study's folder. Earlier predictions are
    never overwritten: later ones get a folder named by their date."""
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    for name in (FOLDER, f"{FOLDER}/{today}"):
        if not (folder / name / LIST).exists():
            return name
    raise StoreError(
        f"{folder / FOLDER} holds predictions already, also of {today}: leave out --keep, or move "
        "them away first"
    )


def keep(folder: Path, files_: Mapping[str, bytes]) -> None:
    """Writes the files into a study's own folder: predictions into the folder of `place`; the set
    is overwritten."""
    where = place(folder)
    for name, content in files_.items():
        path = folder / (name.replace(FOLDER, where, 1) if name.startswith(FOLDER) else name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with files.whole(path) as draft:
            draft.write_bytes(content)


def check(folder: Path) -> list[str]:
    """Names of prediction files below `folder/predictions` that are missing or were changed since
    they were written."""
    changed = []
    for listed in sorted((folder / FOLDER).rglob(LIST)):
        described = json.loads(listed.read_text("utf-8"))
        changed += [
            str((listed.parent / name).relative_to(folder / FOLDER))
            for name, known in described["sha256"].items()
            if not (listed.parent / name).is_file()
            or hashlib.sha256((listed.parent / name).read_bytes()).hexdigest() != known
        ]
    return changed


def _csv(one: Prediction) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, one.columns, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows({k: _plain(v) for k, v in row.items()} for row in one.rows)
    return out.getvalue()


def _plain(value: Any) -> Any:
    """A value for a CSV file, with six significant digits, which are more than any prediction
    has."""
    return f"{value:.6g}" if isinstance(value, float) else value


def _set(values: Values, command: str) -> bytes:
    document = tomlkit.document()
    document.add(tomlkit.comment(f"Written by `{command}`: values of the unknowns of infer.toml."))
    table = tomlkit.table()
    for name, value in values.items():
        table.add(name, value)
    document.add("set", table)
    return tomlkit.dumps(document).encode()


def read_set(path: Path) -> dict[str, Value]:
    """The values of the unknowns in a set's file."""
    return dict(read_toml(path).get("set", {}))
