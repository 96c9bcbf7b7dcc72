"""The laws, random calls and test vectors of ours, over a discipline of a user's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aqmlab.errors import SpecError

from . import source
from .process import DisciplineError, Process


def check(name: str, notify: Callable[[str], object] = lambda _: None) -> dict[str, Any]:
    """The report on `FILE[:CLASS]`, or on one of ours by its name (`crates/testvec/src/check.rs`).

    `notify` is called before each check. A discipline that crashes or hangs is reported with the
    in which it did.
    """
    at = "its first call"

    def received(what: Any) -> bool:
        nonlocal at
        if isinstance(what, str) and what != at:
            at = what
            notify(what)
        return True

    tables = [source.table(name, Path())] if source.names_file(name) else []
    process = Process()
    try:
        answer = process.ask("check_aqm", tables, *([] if tables else [name]), progress=received)
    except DisciplineError as error:
        raise DisciplineError(f"{error} (in the check: {at})") from error
    finally:
        process.end()
    return json.loads(answer)


def write_vectors(report: dict[str, Any], path: Path) -> None:
    """Writes the test vectors of a report (vectors/README.md)."""
    if report["vectors"] is None:
        raise SpecError(f"{report['name']} has no test vectors, as the report says: mend it first")
    path.write_text(report["vectors"])
