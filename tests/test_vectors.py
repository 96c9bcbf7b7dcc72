"""What the page of the test vectors promises to somebody with another program."""

from __future__ import annotations

import gzip
import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from aqmlab.simulator import engine

VECTORS = Path(__file__).parent.parent / "vectors"
CALL_KEYS = ["at_ns", "call", "packet", "sent", "draws", "events", "state"]
CASE_KEYS = ["title", "parameters", "line_bits_per_s", "seed", "state", "calls"]
PACKET_KEYS = ["id", "flow", "bytes", "ecn", "dscp", "ack", "source", "destination"]


def files() -> list[Path]:
    return sorted(VECTORS.glob("*.json.gz"))


def text_of(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode()


def test_the_example_agrees_with_its_file():
    done = subprocess.run(
        [sys.executable, str(VECTORS / "example.py")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "a small queue" in done.stdout


@pytest.mark.parametrize(
    ("call", "key", "wrong"),
    [
        (lambda c: "draws" in c, "draws", []),
        (lambda c: "draws" in c, "draws", [0.0]),
        (lambda c: c["call"] == "enqueue", "events", []),
        (lambda c: c["call"] == "dequeue" and c["sent"], "sent", None),
        (lambda c: "avg" in c.get("state", {}), "state", {"avg": 0.1}),
    ],
)
def test_the_example_notices_what_differs(call, key, wrong):
    check = runpy.run_path(str(VECTORS / "example.py"))["check"]
    cases = json.loads(text_of(VECTORS / "red.json.gz"))["cases"]
    (case,) = [case for case in cases if case["title"] == "a small queue"]
    next(c for c in case["calls"] if call(c))[key] = wrong
    with pytest.raises((AssertionError, StopIteration)):
        check(case)


def test_the_page_explains_every_key_and_nothing_else_occurs():
    page = (VECTORS / "README.md").read_text(encoding="utf-8")
    for key in CALL_KEYS + CASE_KEYS + PACKET_KEYS:
        assert f"`{key}`" in page, key
    assert len(files()) > 20
    for path in files():
        text = text_of(path)
        document = json.loads(text, parse_constant=pytest.fail)
        assert list(document) == ["format", "discipline", "source", "cases"]
        assert document["discipline"] == path.name.removesuffix(".json.gz")
        titles = [case["title"] for case in document["cases"]]
        assert len(set(titles)) == len(titles), path
        for case in document["cases"]:
            assert set(case) <= set(CASE_KEYS), path
            for call in case["calls"]:
                assert set(call) <= set(CALL_KEYS), path
                for _, _, *why in call.get("events", []):
                    assert all(f"`{word}`" in page for word in why), f"{path}: {why}"
                assert set(call.get("packet", {})) <= set(PACKET_KEYS), path


def test_a_listed_case_can_be_asked_again(real_core):
    for path in files()[:5]:
        case = json.loads(text_of(path))["cases"][-1]
        arrivals = [
            {"at_ns": call["at_ns"], "packet": call["packet"]}
            for call in case["calls"]
            if call["call"] == "enqueue"
        ]
        keys = ["title", "parameters", "line_bits_per_s", "seed"]
        request = {
            "discipline": path.name.removesuffix(".json.gz"),
            "arrivals": arrivals,
            **{k: case[k] for k in keys},
        }
        assert engine.trial(request)["cases"] == [case], path
