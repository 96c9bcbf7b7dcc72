"""Lines of a score card that need no evaluation: stored ones, and blank ones.

This module is separate from `scorecard`, so that code that only reads verdicts does not load the
modules that make them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.errors import StoreError
from aqmlab.experiment import compiled
from aqmlab.io import files
from aqmlab.runs.store import Store

from .judge import INCONCLUSIVE

if TYPE_CHECKING:
    from aqmlab.experiment.rules import Claim
    from aqmlab.tables.document import Line


def digest(claim: Claim) -> str:
    """A short hash of the rule, in words and as conditions: it changes when either does. Changes of
    scenarios, metrics and statistics are covered by the version of the program instead.
    """
    from aqmlab.experiment.shapes import written

    return files.identity({"rule": claim.rule, "condition": written(claim.conditions)})[:12]


def blank(study: str, claim: Claim) -> Line:
    """The score card's line for a claim that has not been run."""
    return {
        "id": claim.id,
        "study": study,
        "claim": claim.claim,
        "rule": f"{claim.rule} (version {claim.version})",
        "verdict": INCONCLUSIVE,
        "estimate": None,
        "interval": None,
        "replications": 0,
        "why": "not run",
        "kind": claim.kind,
        "part": claim.part,
        "version": claim.version,
        "digest": digest(claim),
        "conditions": [],
        "deciding": None,
        "revisits": claim.revisits,
    }


def stored(folder: Path, study: str) -> list[Line] | None:
    """The score card of a study's results folder; None if it has none."""
    path = folder / "result.json"
    if not path.is_file():
        return None
    result = Store.existing(folder).read_json(path.name)
    if result.get("name", study) != study:
        raise StoreError(
            f"{folder} holds the study {result['name']}: name it with --study or give the folder "
            f"of {study} with --out"
        )
    return renamed(result.get("claims"))


def renamed(claims: list[Line] | None) -> list[Line] | None:
    """Stored claims with today's name of a verdict: until 0.1 "inconclusive" was called
    "undecided"."""
    for claim in claims or ():
        for judged in (claim, claim.get("deciding") or {}, *(claim.get("conditions") or ())):
            if judged.get("verdict") == "undecided":
                judged["verdict"] = INCONCLUSIVE
    return claims


def lines(study: str, file: Path) -> list[Line]:
    """For every claim of an experiment, its line of the score card before the claim is run. `study`
    is the experiment's name in the lines."""

    def read() -> list[Line]:
        from aqmlab.experiment.experiment import claims

        return [blank(study, claim) for claim in claims(file)]

    # The cached lines of a shipped experiment may have been written under another study's name.
    found: list[Line] = compiled.described(file, "verdicts", read)
    return [{**line, "study": study} for line in found]


def current(line: Line, known: Line | None) -> Line:
    """The stored line of a claim, unless there is none or the rule has changed since the
    verdict."""
    if known is None or known.get("digest") == line["digest"]:
        return known or line
    why = f"judged under version {known.get('version')} of the rule, this is another"
    return {**line, "why": f"{why}: run the study again"}
