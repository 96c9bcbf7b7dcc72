"""`make wheel`: tries the wheel as a user meets it, in a clean environment of every Python here.

No checkout, no compiler and no development package is in reach. The command answers, runs a
scenario and a figure of a study.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PYTHONS = ("3.11", "3.12", "3.13")
NEEDED = ("aqmlab/_core", "aqmlab/experiments/tuning-red/", "aqmlab/py.typed")
PAGE = "aqmlab/lab/page/aqmlab.wasm"
TRIED = (
    ("--version",),
    ("list", "aqm"),
    ("describe", "red"),
    ("run", "red.toml", "--seeds", "2", "--set", "duration=20s", "--set", "warmup=5s"),
    ("study", "ece6110", "--quick", "--figure", "R1"),
)
SCENARIO = "aqmlab/experiments/examples/red.toml"


class Failed(Exception):
    """The wheel does not do what it should."""


def ran(*words: object, folder: Path, path: str = "/usr/bin:/bin") -> str:
    """Standard output of a program that sees little of this machine."""
    environment = {"PATH": path, "HOME": str(folder), "LANG": "C.UTF-8"}
    environment |= {name: os.environ[name] for name in os.environ if name.startswith("PIP_")}
    answer = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode != 0:
        raise Failed(f"{' '.join(map(str, words[1:]))}: {answer.stderr or answer.stdout}")
    return answer.stdout


def interpreter(version: str) -> str | None:
    """The program of this version that runs, if one is here."""
    homes = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin"))
    for name in (shutil.which(f"python{version}"), *(f"{home}/python{version}" for home in homes)):
        if (
            name
            and subprocess.run([name, "-c", ""], capture_output=True, check=False).returncode == 0
        ):
            return name
    return None


def contents(wheel: Path) -> None:
    """What must be inside, and that no development package or binary of another kind is."""
    names = zipfile.ZipFile(wheel).namelist()
    for needed in NEEDED:
        if not any(name.startswith(needed) for name in names):
            raise Failed(f"{wheel.name} has no {needed}: build it again with `make wheel`")
    page = "with" if PAGE in names else "without"
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {len(names)} files, {page} the page")


def tried(wheel: Path, python: str) -> None:
    """Installs the wheel where nothing is and uses it."""
    with tempfile.TemporaryDirectory(prefix="aqmlab-wheel-") as name:
        folder = Path(name)
        ran(python, "-m", "venv", folder / "venv", folder=folder)
        ran(folder / "venv/bin/pip", "install", "--quiet", wheel, folder=folder)
        with zipfile.ZipFile(wheel) as archive:
            (folder / "red.toml").write_bytes(archive.read(SCENARIO))
        for words in TRIED:
            ran(folder / "venv/bin/aqmlab", *words, folder=folder)


def main() -> int:
    """Tries the newest wheel of a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    wheels = sorted(parser.parse_args().folder.glob("*.whl"), key=lambda file: file.stat().st_mtime)
    if not wheels:
        print("wheel: there is none, run `make wheel`", file=sys.stderr)
        return 1
    wheel = wheels[-1].resolve()
    try:
        contents(wheel)
        for version in PYTHONS:
            python = interpreter(version)
            if python is None:
                print(f"Python {version}: skipped, it is not installed here")
                continue
            tried(wheel, python)
            print(f"Python {version}: installed, ran a scenario and a part of a study")
    except Failed as failed:
        print(f"wheel: {failed}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
