"""The JSON schemas of our files, shipped for editors (docs/how-to/editor.md).

They are generated: `make docs` writes them, and a test holds them to what they are made of.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aqmlab.errors import SpecError

FOLDER = Path(__file__).parent / "schemas"
KINDS = ("scenario", "experiment", "infer")


def file(kind: str) -> Path:
    """The shipped schema of this kind of files."""
    if kind not in KINDS:
        raise SpecError(f'no schema of "{kind}": give scenario, experiment or infer')
    return FOLDER / f"{kind}.json"


def generated() -> Iterator[tuple[Path, str]]:
    """Every shipped schema: where it lies, and what it is made of now."""
    from aqmlab.infer import spec
    from aqmlab.pipeline import schema
    from aqmlab.simulator import engine

    made: tuple[dict[str, Any], ...] = (engine.schema(), schema.experiment(), spec.schema())
    for kind, one in zip(KINDS, made, strict=True):
        yield file(kind), json.dumps(one, indent=0, ensure_ascii=False) + "\n"
