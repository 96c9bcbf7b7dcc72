"""The Rust program of this folder, which drives quinn-proto, or aqmlab's QUIC, in virtual time."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from validation.external import Missing, cache

HERE = Path(__file__).parent
CRATES = HERE.parents[1] / "crates"
LINKED = ("aqm", "packet", "prefetch", "tcp")
"""Crates of aqmlab that are linked into the program."""


def release() -> str:
    """Name and version of quinn-proto in use, such as "quinn-proto 0.11.19"."""
    lock = (HERE / "Cargo.lock").read_text()
    found = re.search(r'name = "quinn-proto"\nversion = "([^"]+)"', lock)
    if found is None:
        raise RuntimeError("Cargo.lock of validation/quic has no quinn-proto")
    return f"quinn-proto {found[1]}"


def sources() -> list[Path]:
    """All files from which the program is built."""
    ours = (file for name in LINKED for file in sorted((CRATES / name).rglob("src/**/*.rs")))
    return [HERE / "Cargo.lock", HERE / "Cargo.toml", *sorted(HERE.rglob("src/*.rs")), *ours]


def digest() -> str:
    """Hash of all sources that the program is built from."""
    sums = (hashlib.sha256(file.read_bytes()).digest() for file in sources())
    return hashlib.sha256(b"".join(sums)).hexdigest()[:12]


_BUILT: list[Path] = []


def built() -> Path:
    """The program, built if it is not there yet: once in a process."""
    if _BUILT:
        return _BUILT[0]
    target = cache("quic")
    program = target / f"quic-{digest()}"
    if not program.exists():
        cargo = shutil.which("cargo")
        if cargo is None:
            raise Missing("cargo is not installed (https://rustup.rs)")
        command = [cargo, "build", "--quiet", "--release", "--locked"]
        command += ["--manifest-path", str(HERE / "Cargo.toml"), "--target-dir", str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            why = (done.stderr.strip().splitlines() or ["cargo says nothing"])[-1][:200]
            raise Missing(f"validation/quic does not build, which needs crates.io once ({why})")
        part = program.with_suffix(".part")
        shutil.copy(target / "release" / "quic", part)
        part.replace(program)
    _BUILT.append(program)
    return program


def lines(words: Iterable[str]) -> list[list[str]]:
    """The lines that the program prints with these arguments, each split into words."""
    command = [str(built()), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or done.stderr:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()[:300]}")
    return [line.split() for line in done.stdout.splitlines()]
