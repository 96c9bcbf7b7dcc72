"""A page that links to the reports of several studies, with each question and the counts of
verdicts."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from .templates import environment, style, write_page

NAME = "index.html"


def write(folder: Path, results: Sequence[Mapping]) -> Path:
    """Writes `index.html` for these results (documents of `aqmlab study --json`) into `folder`."""
    studies = [_entry(result, folder) for result in results]
    template = environment().get_template("index.html.jinja")
    page = template.render(studies=studies, style=style())
    return write_page(folder / NAME, page)


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
        "inconclusive": verdicts["inconclusive"],
        "total": len(result["claims"]),
    }
