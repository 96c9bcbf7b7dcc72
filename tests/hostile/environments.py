"""Strange shells: closed and full streams, encodings, no home, folders that cannot be written and
files that may not grow. Each trial is a process."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import conftest

from .oracle import Answer, Failure, check

COMMANDS = [
    ["run", "small.toml"],
    ["run", "small.toml", "--json"],
    ["run", "small.toml", "--seeds", "3"],
    ["run", "sch\udcfcn.toml"],
    ["run", "nowhere/\udcff.toml"],
    ["list"],
    ["list", "--json"],
    ["describe", "red"],
    ["study", "list"],
    ["claims", "--study", "tuning-red"],
    ["--help"],
    ["run", "--help"],
    ["nonsense"],
]
PLACES = [
    "",
    "",
    "",
    "/proc/out",
    "/dev/null/out",
    "/dev/full",
    "small.toml",
    "full",
    "\udcff\udcfe",
]
STREAMS: list[dict[int, str | None]] = [
    {}, {}, {1: None}, {2: None}, {0: None}, {1: None, 2: None}, {0: None, 1: None, 2: None},
    {1: "/dev/full"}, {2: "/dev/full"}, {1: "/dev/full", 2: "/dev/full"}, {1: "/dev/null"},
]  # fmt: skip
VARIABLES: list[dict[str, str | None]] = [
    {}, {"LC_ALL": "C"}, {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    {"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}, {"PYTHONIOENCODING": "utf-16"},
    {"LC_ALL": "xx_YY.nonsense"}, {"HOME": None}, {"HOME": "/nowhere"}, {"HOME": None, "PATH": ""},
    {"TERM": "dumb"}, {"COLUMNS": "1"}, {"COLUMNS": "x"}, {"COLUMNS": "0"}, {"NO_COLOR": "1"},
    {"FORCE_COLOR": "1"}, {"TMPDIR": "/nowhere"}, {"LANG": None, "LC_CTYPE": "C"}, {"TZ": "x"},
    {"PYTHONWARNDEFAULTENCODING": "1", "PYTHONWARNINGS": "error::EncodingWarning"},
    {"MPLCONFIGDIR": "/nowhere"}, {"PYTHONOPTIMIZE": "2"},
]  # fmt: skip


class Trials:
    """One process each, with the double behind it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        tests = Path(conftest.__file__).parent
        self.program = [sys.executable, str(tests / "fake_core.py")]
        self.path = str(tests.parent / "python")

    def one(self, random: Random) -> str:
        """A command in an environment."""
        here = self.folder / "here"
        shutil.rmtree(here, ignore_errors=True)
        here.mkdir()
        for name in ("small.toml", "sch\udcfcn.toml"):
            (here / name).write_text(conftest.SCENARIO_TOML, encoding="utf-8")
        (here / "full").symlink_to("/dev/full")
        words = random.choice(COMMANDS)
        place = random.choice(PLACES)
        if words[0] == "run" and "--help" not in words and place:
            words = [*words, "--out", place]
        limit = random.choice([None, None, None, 0, 10, 500, 5000, 20_000])
        return self._process(here, words, random.choice(STREAMS), random.choice(VARIABLES), limit)

    def _process(
        self,
        here: Path,
        words: list[str],
        redirected: dict[int, str | None],
        variables: dict[str, str | None],
        limit: int | None,
    ) -> str:
        known = {**os.environ, "PYTHONPATH": self.path} | variables
        found = subprocess.run(
            [*self.program, *words],
            cwd=here,
            env={name: value for name, value in known.items() if value is not None},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=50,
            check=False,
            preexec_fn=_prepared(redirected, limit),
        )
        described = f"{words} {redirected} {variables} {limit}"
        encoding = variables.get("PYTHONIOENCODING") or "utf-8"
        out, err = (raw.decode(encoding, "replace") for raw in (found.stdout, found.stderr))
        if "FORCE_COLOR" in variables:
            out = ""
        if encoding != "utf-8":
            out = out.replace("\ufeff", "")
            err = err.replace("\ufeff", "")
        try:
            if 2 in redirected:
                check(Answer(0, out, err))
                if found.returncode not in (0, 2, 141):
                    raise Failure(f"exit code {found.returncode}")
            else:
                check(Answer(found.returncode, out, err))
        except Failure as failure:
            raise Failure(f"{described}: {failure}") from None
        lost = redirected.get(1, "") in (None, "/dev/full")
        if lost and found.returncode == 0 and words != ["nonsense"]:
            raise Failure(f"{described}: the answer is lost, and the exit code is 0")
        return "answer" if found.returncode == 0 else "sentence"


def _prepared(redirected: dict[int, str | None], limit: int | None) -> Callable[[], None]:
    """What happens in the process before the program: streams, and how long a file may become."""

    def prepare() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        for number, path in redirected.items():
            os.close(number)
            if path is not None:
                place = os.open(path, os.O_WRONLY)
                if place != number:
                    os.dup2(place, number)
                    os.close(place)

    return prepare
