"""Types of the report on the check of a user's program."""

from __future__ import annotations

from typing import Any, TypedDict


class Check(TypedDict):
    """A law: its name, its statement, and how it is broken (`why`, `parameters`; None: kept)."""

    name: str
    says: str
    broken: dict[str, Any] | None


class Information(TypedDict):
    """A number that no law demands, with its value for Reno."""

    name: str
    value: float
    reno: float | None


class Report(TypedDict):
    """The results of a check. `happened` counts packets by event; `vectors` is the text of the test
    vectors of a discipline that keeps the laws; `information` is for congestion controls only."""

    name: str
    sets: int
    checks: list[Check]
    happened: dict[str, int]
    vectors: str | None
    information: list[Information]
