"""Lines of a score card without their evidence: those that a study has stored, and blank ones.

It is separate from `scorecard`, so that code that only reads verdicts does not load what makes
them.
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
    """A short hash of the rule, in words and as conditions: it changes with either.

    Not with what lies under the rule: scenarios, metrics and statistics have the version of the
    whole program.
    """
    from aqmlab.experiment.shapes import written

    return files.identity({"rule": claim.rule, "condition": written(claim.conditions)})[:12]


def blank(study: str, claim: Claim) -> Line:
    """The line of a claim that nothing was run for."""
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
    """The score card of a study's results folder, if it has one."""
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
    """Stored claims with today's words: until 0.1 an inconclusive verdict was "undecided"."""
    for claim in claims or ():
        for judged in (claim, claim.get("deciding") or {}, *(claim.get("conditions") or ())):
            if judged.get("verdict") == "undecided":
                judged["verdict"] = INCONCLUSIVE
    return claims


def lines(study: str, file: Path) -> list[Line]:
    """The blank lines of all claims of an experiment, named `study`."""

    def read() -> list[Line]:
        from aqmlab.experiment.experiment import claims

        return [blank(study, claim) for claim in claims(file)]

    # # What is kept beside a shipped experiment may have been written under another name.
    found: list[Line] = compiled.described(file, "verdicts", read)
    return [{**line, "study": study} for line in found]


def current(line: Line, known: Line | None) -> Line:
    """A stored line, unless there is none or the rule has changed since it was judged."""
    if known is None or known.get("digest") == line["digest"]:
        return known or line
    why = f"judged under version {known.get('version')} of the rule, this is another"
    return {**line, "why": f"{why}: run the study again"}
