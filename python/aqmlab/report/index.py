"""One page above the reports of several studies: what each asks, and how its claims fared."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from .report import HERE, environment

NAME = "index.html"


def write(folder: Path, results: Sequence[Mapping]) -> Path:
    """Writes `index.html` for these results (as `registry.run` gives them) into `folder`."""
    path = folder / NAME
    studies = [_entry(result, folder) for result in results]
    page = (
        environment()
        .get_template("index.html.jinja")
        .render(studies=studies, style=Markup((HERE / "page.css").read_text("utf-8")))
    )
    draft = path.with_name(f".{NAME}")
    draft.write_text(page, encoding="utf-8")
    draft.replace(path)
    return path


def _entry(result: Mapping, folder: Path) -> dict:
    verdicts = Counter(claim["verdict"] for claim in result["claims"])
    return {
        "title": result["title"],
        "subtitle": result["subtitle"],
        "question": result["question"],
        "quick": result["quick"],
        "report": os.path.relpath(result["report"], folder),
        "holds": verdicts["holds"],
        "fails": verdicts["does not hold"],
        "undecided": verdicts["undecided"],
        "total": len(result["claims"]),
    }
