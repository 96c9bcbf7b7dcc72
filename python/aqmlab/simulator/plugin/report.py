"""What the check of a user's program finds. Types alone."""

from __future__ import annotations

from typing import Any, TypedDict


class Check(TypedDict):
    """A law: its name, what it says, and how it is broken (`why`, `parameters`; None: kept)."""

    name: str
    says: str
    broken: dict[str, Any] | None


class Information(TypedDict):
    """A number that is no law, next to what it is of Reno."""

    name: str
    value: float
    reno: float | None


class Report(TypedDict):
    """What a check found. `happened` counts packets; `vectors` is the text of the test vectors of a
    discipline that keeps the laws, `information` is of controls."""

    name: str
    sets: int
    checks: list[Check]
    happened: dict[str, int]
    vectors: str | None
    information: list[Information]
