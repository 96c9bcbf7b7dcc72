"""`printed.json`: the results of full runs of a study as printed.

A report of the reconstructed set alone shows these numbers and verdicts, with their date, in place
of new results of the printed set. `python docs/score_cards.py` writes the file from a finished
study.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from aqmlab.experiment.experiment import Experiment
from aqmlab.io import files
from aqmlab.tables.document import StudyDocument

FILE = "printed.json"
NUMBERS = ("metric", "ours", "low", "high", "n", "paper")


class Printed(TypedDict):
    """The part of `result.json` of full runs of the printed set that is kept: the rows of tables
    with published numbers, and the verdicts of the claims."""

    made: str
    commit: str
    quick: bool
    seeds: int
    tables: list[Mapping[str, Any]]
    claims: list[Mapping[str, Any]]


def of(experiment: Experiment) -> Printed | None:
    """The recorded result of an experiment as it is printed, if its folder has one."""
    path = experiment.folder / FILE
    return json.loads(path.read_text("utf-8")) if path.is_file() else None


def document(result: StudyDocument, made: str) -> Printed:
    """The part of a `result.json` that is kept in `printed.json`. The result is that of a study run
    with the printed values; `made` is the date on which it was run."""
    return {
        "made": made,
        "commit": result["versions"]["commit"],
        "quick": result["quick"],
        "seeds": result["seeds"],
        "tables": [
            {
                "id": table["id"],
                "rows": [
                    {key: row[key] for key in (*table["keys"], *NUMBERS)} for row in table["rows"]
                ],
            }
            for table in result["tables"]
            if table["has_reference"]
        ],
        "claims": [
            {key: claim[key] for key in ("id", "verdict", "why", "deciding")}
            for claim in result["claims"]
        ],
    }


def write(folder: Path, result: StudyDocument, made: str) -> Path:
    """Writes the file into a study's folder."""
    path = folder / FILE
    path.write_text(files.lined(document(result, made)) + "\n", "utf-8")
    return path
