"""The mutants of a crate: cargo-mutants lists them, with the words it has for each."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from validation.external import Missing, cache

VERSION = "27.1.0"
"""Of cargo-mutants, which `make mutants` installs."""


@dataclass(frozen=True)
class Mutant:
    """One change of one place."""

    number: int
    """From 1, within its crate."""
    name: str
    """cargo-mutants' words: file, line, column, what is replaced with what."""
    file: str
    """Below the root of the repository."""
    genre: str
    """cargo-mutants' kind: BinaryOperator, FnValue, ..."""
    start: tuple[int, int]
    """Line and column of the first character that is replaced, from 1."""
    replacement: str
    end: tuple[int, int] = (0, 0)
    """Line and column behind the last character that is replaced."""


def tool() -> Path:
    """The program cargo-mutants, on the path or where `make mutants` installs it."""
    found = shutil.which("cargo-mutants")
    file = Path(found) if found else cache(f"cargo-mutants-{VERSION}") / "bin" / "cargo-mutants"
    if not file.exists():
        raise Missing(
            "cargo-mutants is not installed: `make mutants` installs it, or "
            f"`cargo install cargo-mutants --version {VERSION} --locked`"
        )
    return file


def mutants(root: Path, package: str) -> list[Mutant]:
    """All mutants of a crate of the workspace in `root`."""
    words = [str(tool()), "mutants", "--list", "--json", "--package", package, "--dir", str(root)]
    environment = {**os.environ, "CARGO_TERM_COLOR": "never"}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise RuntimeError(f"cargo mutants --list: {done.stderr.strip()[-500:]}")
    return [
        Mutant(
            number,
            found["name"],
            found["file"],
            found["genre"],
            (found["span"]["start"]["line"], found["span"]["start"]["column"]),
            found["replacement"],
            (found["span"]["end"]["line"], found["span"]["end"]["column"]),
        )
        for number, found in enumerate(json.loads(done.stdout), start=1)
    ]
