"""A study that is killed at any moment: the same command again ends as if nothing had happened."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from conftest import HERE, Command

PART = ("study", "small", "--quick", "--part", "fifo", "--jobs", 2)


@pytest.fixture
def small(tmp_path, monkeypatch) -> Command:
    """`aqmlab` with the small study."""
    monkeypatch.setenv("PYTHONHASHSEED", "0")  # the double's fingerprints are hashes
    return Command(tmp_path, [str(HERE / "small_command.py")])


@pytest.fixture(scope="module")
def untouched(tmp_path_factory) -> dict:
    """What a study leaves that nobody stops: result, table and report."""
    command = Command(tmp_path_factory.mktemp("clean"), [str(HERE / "small_command.py")])
    answer = command(*PART, "--out", "out", PYTHONHASHSEED="0")
    assert answer.returncode == 0, answer.stderr
    return left(command.folder / "out")


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
    "drawing": lambda out: count(out, "figures/*.svg") >= 2,
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


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_and_resumed(small, untouched, moment):
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
    assert left(out) == untouched
    assert not list((out / "runs").glob(".*"))
