"""The evaluator of docs/how-to/evaluate.md, called offline as OpenEvolve's loop calls it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from aqmlab.evaluate import evaluation

PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "evaluate.md"


@pytest.fixture
def evaluator():
    """The evaluator's function from the page."""
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    names: dict[str, object] = {}
    exec(block, names)
    return names["evaluate"]


def answers(monkeypatch, text: str) -> list[list[str]]:
    """Replaces `subprocess.run` by one that prints `text`. Returns the list of commands it was
    called with."""
    called = []

    def run(command, **_):
        called.append(command)
        return SimpleNamespace(stdout=text)

    monkeypatch.setattr(subprocess, "run", run)
    return called


def test_a_candidate_has_the_score_and_the_grades_of_its_card(evaluator, monkeypatch):
    card = evaluation.evaluate("codel", sets=["train"], size=2, jobs=1, checked=False)
    called = answers(monkeypatch, json.dumps(card))
    metrics = evaluator("candidate.py")
    assert called == [["aqmlab", "evaluate", "candidate.py", "--set", "train", "--json"]]
    assert metrics["combined_score"] == card["sets"]["train"]["score"][0]
    assert 0 < metrics["combined_score"] < 1
    assert {"use", "delay"} <= set(metrics)
    assert all(isinstance(value, float) for value in metrics.values())


@pytest.mark.parametrize("text", ["", json.dumps({"valid": False, "sets": {}})])
def test_a_candidate_that_breaks_a_law_or_does_not_load_scores_nothing(
    evaluator, monkeypatch, text
):
    answers(monkeypatch, text)
    assert evaluator("candidate.py") == {"combined_score": 0.0}
