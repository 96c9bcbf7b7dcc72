"""Generated documentation is what the registry says today."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
pytestmark = pytest.mark.usefixtures("real_core")


def test_the_page_of_disciplines_is_not_stale():
    generate = runpy.run_path(str(DOCS / "generate.py"))
    assert (DOCS / "algorithms.md").read_text(encoding="utf-8") == generate["text"](), (
        "docs/algorithms.md is stale: run `make docs`"
    )


def test_every_discipline_has_its_picture():
    generate = runpy.run_path(str(DOCS / "generate.py"))
    for entry in generate["engine"].catalogue()["aqm"]:
        assert (DOCS / "images" / "aqm" / f"{entry['name']}.svg").exists(), entry["name"]


def test_every_discipline_has_its_cost_of_a_packet():
    generate = runpy.run_path(str(DOCS / "generate.py"))
    page = (DOCS / "performance.md").read_text(encoding="utf-8")
    for entry in generate["engine"].catalogue()["aqm"]:
        assert f"| `{entry['name']}` | " in page, f"{entry['name']} is not in docs/performance.md"
