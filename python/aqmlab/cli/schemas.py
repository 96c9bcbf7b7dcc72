"""The JSON schemas of our files, for editors (docs/how-to/editor.md).

They are made when one is needed, of the tables that the checks are made of.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from aqmlab.errors import SpecError
from aqmlab.io import files
from aqmlab.simulator.forms import Schema


def _scenario() -> Schema:
    from aqmlab.simulator import engine

    return engine.schema()


def _experiment() -> Schema:
    from aqmlab.pipeline import schema

    return schema.experiment()


def _infer() -> Schema:
    from aqmlab.infer import spec

    return spec.schema()


KINDS: dict[str, Callable[[], Schema]] = {
    "scenario": _scenario,
    "experiment": _experiment,
    "infer": _infer,
}


def text(kind: str) -> str:
    """The schema of this kind of files."""
    if kind not in KINDS:
        raise SpecError(f'no schema of "{kind}": give scenario, experiment or infer')
    return files.lined(KINDS[kind]()) + "\n"


def place(kind: str) -> Path:
    """A file with the schema, in the user's cache, where this version's is written if another's
    stands there; always one path, which editors may keep."""
    schema = text(kind).encode()
    folder = files.user_cache()
    if folder is None:
        raise SpecError("there is no home to keep the schema in: set XDG_CACHE_HOME to a folder")
    file = folder / "schemas" / f"{kind}.json"
    if not file.is_file() or file.read_bytes() != schema:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(f".{os.getpid()}")
        draft.write_bytes(schema)
        draft.replace(file)
    return file
