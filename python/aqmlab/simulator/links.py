"""Links as they are written, completed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import engine


def complete_link(link: Mapping[str, Any]) -> dict[str, Any]:
    """A link as written, with the values of its access where it gives none itself."""
    fields = next(
        (
            entry["fields"]
            for entry in (engine.catalogue()["access"] if "access" in link else [])
            if entry["name"] == link["access"]
        ),
        [],
    )
    filled = {}
    for name, value in ((field["name"], field["default"]) for field in fields):
        prefix = "reverse_" if name.startswith("reverse_") else ""
        changes = [f"{prefix}{how}" for how in ("rate_steps", "rate_trace")]
        own = any(change in link for change in changes)
        if not (own and name in (*changes, f"{prefix}rate_repeat")):
            filled[name] = value
    return {**filled, **link}
