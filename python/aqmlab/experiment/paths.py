"""Paths of a scenario's fields; a path with braces stands for several."""

from __future__ import annotations

import re
from typing import Any

_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def braces(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields and their values, where a path with alternatives in braces is repeated for each of
    them."""
    return {path: value for given, value in fields.items() for path in alternatives(given)}


def alternatives(path: str) -> list[str]:
    """The paths that a path with braces denotes, such as two for `link.0.{forward,reverse}`."""
    found = _BRACES.search(path)
    if found is None:
        return [path]
    before, after = path[: found.start()], path[found.end() :]
    parts = found[1].split(",")
    return [whole for part in parts for whole in alternatives(before + part.strip() + after)]
