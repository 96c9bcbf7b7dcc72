"""The release build gives the fingerprints that the debug build's tests wrote down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

core = pytest.importorskip(
    "aqmlab._core", reason="the compiled simulator is missing: run `make setup`"
)
GOLDEN = Path(__file__).parent.parent / "crates" / "sim" / "tests" / "golden"
ROWS = [line.split() for line in (GOLDEN / "table.txt").read_text().splitlines()[1:]]


def test_the_table_has_every_scenario():
    assert {row[0] for row in ROWS} == {path.stem for path in GOLDEN.glob("*.json")}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_golden_scenario_gives_its_fingerprint(row):
    outcome = core.run((GOLDEN / f"{row[0]}.json").read_text())
    summary = json.loads(outcome["summary"])
    assert summary["fingerprint"] == row[-1]
    assert summary["arrivals"] == int(row[1])
