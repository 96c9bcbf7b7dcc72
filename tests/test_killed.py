"""A study that is killed at any moment: the same command again ends as if nothing had happened."""

from __future__ import annotations

import json
import shutil
import signal
import time
from pathlib import Path

import pytest

from aqmlab.io import files
from aqmlab.runs.store import Store
from conftest import HERE, Command

PART = ("study", "small", "--quick", "--part", "fifo", "--jobs", 2)


@pytest.fixture
def small(tmp_path, monkeypatch) -> Command:
    """`aqmlab` with the small study."""
    monkeypatch.setenv("PYTHONHASHSEED", "0")  # the double's fingerprints are hashes
    return Command(tmp_path, [str(HERE / "small_command.py")])


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """The folder of a study that nobody stopped."""
    command = Command(tmp_path_factory.mktemp("clean"), [str(HERE / "small_command.py")])
    answer = command(*PART, "--out", "out", PYTHONHASHSEED="0")
    assert answer.returncode == 0, answer.stderr
    return command.folder / "out"


def left(out: Path) -> dict:
    result = json.loads((out / "result.json").read_text())
    table = (out / "tables" / "table-1.csv").read_text()
    return {"result": result, "table": table, "report": (out / "report.html").read_text()}


def is_draft(out: Path, path: Path) -> bool:
    """Whether a file is none yet: a name that begins with a dot is that of a draft."""
    return any(part.startswith(".") for part in path.relative_to(out).parts)


def count(out: Path, pattern: str) -> int:
    return len([path for path in out.glob(pattern) if not is_draft(out, path)])


#: When it is killed.
MOMENTS = {
    "calibrating": lambda out: count(out, "cache/*") >= 2,
    "running": lambda out: count(out, "runs/*/manifest.json") >= 5,
    "writing tables": lambda out: count(out, "tables/*.csv") >= 1,
    # One of them: after the second there is too little left to do to be stopped in it.
    "drawing": lambda out: count(out, "figures/*.svg") >= 1,
    "reporting": lambda out: (out / "result.json").exists(),
}


def whole(out: Path) -> None:
    """No file under its own name is half-written."""
    for path in out.rglob("*"):
        if path.is_dir() or is_draft(out, path):
            continue
        content = path.read_bytes()
        if path.suffix == ".json":
            json.loads(content)
        end = {".parquet": b"PAR1", ".svg": b"</svg>", ".html": b"</html>"}.get(path.suffix, b"")
        assert content.rstrip(b"\n").endswith(end), path
        assert path.suffix != ".png" or b"IEND" in content[-12:], path


OFTEN = ("calibrating", "running", "reporting")
"""Moments that every run of the tests tries; `make validate` has the others too."""


@pytest.mark.parametrize(
    "moment",
    [m if m in OFTEN else pytest.param(m, marks=pytest.mark.slow) for m in MOMENTS],
)
def test_killed_and_resumed(small, finished, moment):
    out, log = small.folder / "out", small.folder / "log"
    process = small.start(*PART, "--out", "out", SMALL_RUN_S="0.03", SMALL_LOG=str(log))
    try:
        while not MOMENTS[moment](out) and process.poll() is None:
            time.sleep(0.002)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    whole(out)
    kept = count(out, "runs/*/manifest.json") + count(out, "cache/*.json")
    begun = len(log.read_text().split())
    assert kept <= begun <= kept + 2
    log.unlink()
    answer = small(*PART, "--out", "out", SMALL_LOG=str(log))
    assert answer.returncode == 0, answer.stderr
    again = len(log.read_text().split()) if log.exists() else 0
    total = count(out, "runs/*/manifest.json") + count(out, "cache/*.json")
    assert again == total - kept
    assert left(out) == left(finished)
    assert not list((out / "runs").glob(".*"))


def refused(answer, *words) -> None:
    """A mistake: one line, and no traceback."""
    assert answer.returncode == 2 and len(answer.stderr.splitlines()) == 1, answer.stderr
    assert all(word in answer.stderr for word in words), answer.stderr


def test_a_folder_holds_one_study(small, finished):
    shutil.copytree(finished, small.folder / "out")
    manifest = small.folder / "out" / "manifest.json"
    files.write_json(manifest, files.sealed(files.read_sealed(manifest) | {"study": "large"}))
    refused(small(*PART[:5], "--out", "out"), "out holds the study large", "--fresh")
    refused(small("study", "small", "--figure", "8", "--out", "out"), "holds the study large")


def test_a_folder_that_cannot_be_written_at_the_end_is_one_sentence(small):
    words = ("study", "small", "--part", "red-thresholds", "--out", "out")
    assert small(*words).returncode == 0
    out = small.folder / "out"
    (out / "report.html").unlink()
    (out / "report.html" / "of others").mkdir(parents=True)
    refused(small(*words), "report.html")
    shutil.rmtree(out / "tables")
    (out / "tables").write_text("a file")  # seen before anything is run
    refused(small(*words), "tables is a file where a folder belongs", "move it away")


def test_the_score_card_of_a_folder(small, finished):
    refused(small("claims", "--study", "small", "--out", "out"), "has no result.json", "--run")
    shutil.copytree(finished, small.folder / "out", dirs_exist_ok=True)
    words = ("claims", "--study", "small", "--out", "out", "--json")
    rows = json.loads(small(*words).stdout)
    assert [row["id"] for row in rows] == ["C05", "C06", "C08", "C39", "T-C05"]
    assert {row["study"] for row in rows} == {"small"}
    assert rows[0]["replications"] > 1 and rows[0]["why"] != "not run"
    result = small.folder / "out" / "result.json"
    other = json.loads(result.read_text())
    other["claims"][0]["digest"] = "of another rule"
    result.write_text(json.dumps(other))
    refused(small(*words), "result.json is not what was written", "run the study again")
    left = Store.existing(small.folder / "out")
    left.write_json("result.json", other)
    first = json.loads(small(*words).stdout)[0]
    assert first["replications"] == 0 and "run the study again" in first["why"]
    left.write_json("result.json", other | {"name": "large"})
    refused(small(*words), "out holds the study large")


def test_the_studies_are_listed_with_their_parts(small):
    described = small("study", "list").stdout
    assert "parts: calibration, fifo, red-load, red-thresholds" in described
    assert "figures: 3, 4, 5" in described and "claims: 5" in described


def test_all_studies_of_the_list(small):
    answer = small("study", "all", "--quick", "--out", "all", "--json")
    assert answer.returncode == 0, answer.stderr
    (one,) = json.loads(answer.stdout)
    assert one["report"] == "all/small-quick/report.html"
    assert 'href="small-quick/report.html"' in (small.folder / "all" / "index.html").read_text()
    # the seconds of the double end before the warm-up of the quick study does
    shown = {figure["id"] for figure in one["figures"]}
    assert "5" not in shown and "7" in shown


def test_stopped_while_it_draws(small):
    process = small.start(*PART[:5], "--out", "out")
    while not MOMENTS["drawing"](small.folder / "out") and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    kept = count(small.folder / "out", "runs/*/manifest.json")
    assert complaint.splitlines() == [
        f"aqmlab: stopped: {kept} finished runs are kept in out, "
        "give the same command again to resume"
    ]
