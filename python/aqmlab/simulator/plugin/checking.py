"""Checks a user's own discipline or congestion control by laws and random calls, and makes test
vectors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from aqmlab.errors import SpecError

from . import control_laws, source
from .process import DisciplineError, Process
from .report import Report


def check(name: str, notify: Callable[[str], object] = lambda _: None) -> Report:
    """The report on `FILE[:CLASS]`, or on a discipline of aqmlab by its name
    (`crates/testvec/src/check.rs`).

    `notify` is called before each check. A discipline that crashes or hangs is reported with the
    check in which it did.
    """
    return _checked("check_aqm", name, "aqm", notify)


def check_control(name: str, notify: Callable[[str], object] = lambda _: None) -> Report:
    """The report on a congestion control, like that of `check` on a discipline: laws over random
    calls (`crates/plugin/src/control/laws.rs`) and over whole connections (`control_laws`). It also
    has `information`, numbers that no law demands."""
    report = _checked("check_control", name, "congestion", notify)
    control = source.table(name, Path()) if source.names_file(name) else name
    report["checks"] += control_laws.check(control, notify)
    report["information"] = control_laws.informed(control, notify)
    return report


def _checked(function: str, name: str, kind: str, notify: Callable[[str], object]) -> Report:
    at = "its first call"

    def received(what: object) -> bool:
        nonlocal at
        if isinstance(what, str) and what != at:
            at = what
            notify(what)
        return True

    tables = [source.table(name, Path())] if source.names_file(name) else []
    if tables and source.described(tables[0]).get("kind") != kind:
        other, command = (
            ("discipline", "check-aqm") if kind != "aqm" else ("congestion control", "check-cc")
        )
        raise SpecError(f"{name} is a {other}: check it with aqmlab {command}")
    process = Process()
    try:
        answer = process.ask(function, tables, *([] if tables else [name]), progress=received)
    except DisciplineError as error:
        raise DisciplineError(f"{error} (in the check: {at})") from error
    finally:
        process.end()
    return json.loads(answer)


def write_vectors(report: Report, path: Path) -> None:
    """Writes the test vectors of a report (vectors/README.md)."""
    if report["vectors"] is None:
        raise SpecError(f"{report['name']} has no test vectors, as the report says: mend it first")
    path.write_text(report["vectors"])
