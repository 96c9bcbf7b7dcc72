"""The JSON schemas of our files, shipped for editors (docs/how-to/editor.md).

They are generated: `make docs` writes them, and a test holds them to what they are made of. An
experiment holds scenarios, so that its schema is shipped without the definitions that stand in the
scenario's, and put together when it is printed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from aqmlab.errors import SpecError
from aqmlab.io import files
from aqmlab.simulator.forms import Schema

FOLDER = Path(__file__).parent / "schemas"
KINDS = ("scenario", "experiment", "infer")
BUILT = "experiment"
"""The kind whose schema builds on the scenario's."""
SHORT = 80
"""Characters of a property that is not worth a definition of its own."""


def shipped(kind: str) -> Path:
    """The file of the package with the schema of this kind, or with its own part of it."""
    if kind not in KINDS:
        raise SpecError(f'no schema of "{kind}": give scenario, experiment or infer')
    return FOLDER / f"{kind}.json"


def text(kind: str) -> str:
    """The schema of this kind of files, whole."""
    own = shipped(kind).read_text("utf-8")
    if kind != BUILT:
        return own
    of_scenarios = json.loads(shipped("scenario").read_text("utf-8"))
    return files.lined(_with(of_scenarios["$defs"], json.loads(own))) + "\n"


def place(kind: str) -> Path:
    """A file with the whole schema: the package's, or one in the user's cache."""
    if kind != BUILT:
        return shipped(kind)
    whole = text(kind).encode()
    folder = files.user_cache()
    if folder is None:
        raise SpecError("there is no home to keep the schema in: set XDG_CACHE_HOME to a folder")
    file = folder / f"{kind}-{hashlib.blake2b(whole, digest_size=6).hexdigest()}.json"
    if not file.is_file() or file.read_bytes() != whole:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(f".{os.getpid()}")
        draft.write_bytes(whole)
        draft.replace(file)
    return file


def generated() -> Iterator[tuple[Path, str]]:
    """Every shipped schema: where it lies, and what it is made of now."""
    from aqmlab.infer import spec
    from aqmlab.pipeline import schema
    from aqmlab.simulator import engine

    made: tuple[Schema, ...] = (engine.schema(), schema.experiment(), spec.schema())
    of_scenarios = _names(made[0])
    whole = {
        kind: _shared(one, _names(one, of_scenarios, made[0]) if kind == BUILT else None)
        for kind, one in zip(KINDS, made, strict=True)
    }
    known = whole["scenario"]["$defs"]
    for kind, one in whole.items():
        yield shipped(kind), files.lined(_without(known, one) if kind == BUILT else one) + "\n"


def _with(known: Schema, schema: Schema) -> Schema:
    """The schema with these definitions beside its own."""
    return {**schema, "$defs": dict(sorted({**known, **schema["$defs"]}.items()))}


def _without(known: Schema, schema: Schema) -> Schema:
    """The schema without the definitions that are these."""
    own = {name: one for name, one in schema["$defs"].items() if known.get(name) != one}
    return {**schema, "$defs": own}


def _names(
    schema: Schema, known: Mapping[str, str] | None = None, base: Schema | None = None
) -> dict[str, str]:
    """Every long property that stands in several places, as a line, with the name of its place in
    `$defs`. What the schema has of its `base` is shared as there, under the names `known`."""
    found = Counter(files.on_a_line(value) for _, value in _properties(schema))
    there = {files.on_a_line(value) for _, value in _properties(base or {})}
    names = dict(known or {})
    taken = {*schema.get("$defs", {}), *names.values()}
    for name, value in _properties(schema):
        line = files.on_a_line(value)
        if found[line] > 1 and len(line) > SHORT and line not in names and line not in there:
            names[line] = next(n for i in count(1) if (n := f"{name}-{i}") not in taken)
            taken.add(names[line])
    return names


def _shared(schema: Schema, names: Mapping[str, str] | None = None) -> Schema:
    """The schema with every long property that stands in several places in `$defs`, once."""
    names = _names(schema) if names is None else names
    defs: Schema = dict(schema.get("$defs", {}))
    defs |= {name: json.loads(line) for line, name in names.items()}

    def shared(value: Any, top: bool = False) -> Any:
        if isinstance(value, list):
            return [shared(inner) for inner in value]
        if not isinstance(value, dict):
            return value
        if not top and files.on_a_line(value) in names:
            return {"$ref": f"#/$defs/{names[files.on_a_line(value)]}"}
        return {key: shared(inner) for key, inner in value.items()}

    return {
        key: {name: shared(one, top=True) for name, one in defs.items()}
        if key == "$defs"
        else shared(value)
        for key, value in schema.items()
    }


def _properties(schema: Any) -> Iterator[tuple[str, Schema]]:
    """Names and schemas of all properties of objects, also of those within."""
    inside = schema.values() if isinstance(schema, dict) else schema
    for inner in inside:
        if isinstance(inner, dict | list):
            yield from _properties(inner)
    if isinstance(schema, dict) and isinstance(schema.get("properties"), dict):
        yield from schema["properties"].items()
