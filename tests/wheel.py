"""An environment that has a wheel and what its metadata require, and nothing of this checkout.

`make test` builds the wheel and names its folder in `AQMLAB_TEST_WHEEL`. Packages that the wheel
requires are linked from the environment of the tests, so that none is downloaded; one that it does
not declare is absent.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import venv
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
EXTRAS = ("gym", "infer", "pandas")
"""Extras that documents use and whose packages the tests have."""


def given() -> Path | None:
    """The wheel to be tested; `None` where the tests are to use the checkout."""
    folder = os.environ.get("AQMLAB_TEST_WHEEL")
    if not folder:
        return None
    (wheel,) = (ROOT / folder).glob("*.whl")
    return wheel


def installed(wheel: Path, shared: Path) -> Path:
    """The folder of the environment's programs; made once for all processes of a test run."""
    shared.mkdir(parents=True, exist_ok=True)
    place, done = shared / "environment", shared / "done"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            _make(place, wheel)
            done.touch()
    return place / "bin"


def _make(place: Path, wheel: Path) -> None:
    venv.create(place, symlinks=True, with_pip=False)
    (site,) = place.glob("lib/python*/site-packages")
    for name in _required("aqmlab", EXTRAS):
        for top in {file.parts[0] for file in distribution(name).files or ()} - {
            "..",
            "__pycache__",
        }:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    words = ("install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", wheel)
    _ran(sys.executable, "-m", "pip", "--python", place / "bin" / "python", *words)


def _required(name: str, extras: tuple[str, ...] = ()) -> set[str]:
    """The packages that one needs, and what those need; one that the tests lack is left out."""
    found: set[str] = set()
    waiting = [(name, extras)]
    while waiting:
        name, extras = waiting.pop()
        for text in distribution(name).requires or ():
            need = Requirement(text)
            if need.marker and not any(need.marker.evaluate({"extra": e}) for e in (*extras, "")):
                continue
            try:
                distribution(need.name)
            except PackageNotFoundError:
                continue
            if need.name not in found:
                found.add(need.name)
                waiting.append((need.name, tuple(need.extras)))
    return found


def _ran(*words: object) -> None:
    answer = subprocess.run(
        [str(word) for word in words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, f"{words}\n{answer.stdout}\n{answer.stderr}"
