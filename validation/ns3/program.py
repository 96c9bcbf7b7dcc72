"""The C++ program `dumbbell.cc`, compiled once against the libraries that ns-3's wheel brings."""

from __future__ import annotations

import hashlib
import importlib.metadata
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from validation.equivalence import figures_from
from validation.external import Missing, cache
from validation.figures import Numbers

SOURCE = Path(__file__).with_name("dumbbell.cc")
LIBRARIES = (
    "applications",
    "internet",
    "point-to-point",
    "traffic-control",
    "network",
    "core",
    "bridge",
    "stats",
)


def release() -> str:
    """The installed ns-3, such as 3.44.post0."""
    try:
        return importlib.metadata.version("ns3")
    except importlib.metadata.PackageNotFoundError:
        raise Missing(
            "the package ns3 is not installed (pip install --no-deps ns3, Linux wheels)"
        ) from None


def home() -> Path:
    """Where the wheel keeps its headers and libraries."""
    return Path(str(importlib.metadata.distribution("ns3").locate_file("ns3")))


def built() -> Path:
    """Path of the built program `dumbbell.cc`."""
    return built_of(SOURCE, LIBRARIES)


def built_of(source: Path, libraries: Sequence[str]) -> Path:
    """A program; compiled if it is not there yet."""
    installed, wheel = release(), home()
    # The libraries' folder is written into the program: another installation needs its own.
    digest = hashlib.sha256(source.read_bytes() + bytes(wheel)).hexdigest()[:12]
    program = cache(f"ns3-{installed}-{digest}") / source.stem
    if program.exists():
        return program
    compiler = shutil.which("g++")
    if compiler is None:
        raise Missing("g++ is not installed (Debian package g++)")
    version = ".".join(installed.split(".")[:2])
    program.parent.mkdir(parents=True, exist_ok=True)
    part = program.with_suffix(".part")
    words = [compiler, "-std=c++20", "-O2", f"-I{wheel / 'include'}", str(source), "-o", str(part)]
    words += [f"-L{wheel / 'lib64'}", f"-Wl,-rpath,{wheel / 'lib64'}"]
    words += [f"-lns{version}-{name}" for name in libraries]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ns-3 {installed}: {source.name} does not compile: {done.stderr[:500]}")
    part.replace(program)
    return program


def run(words: list[str], lines: str = "") -> Numbers:
    """The figures of one run with these transfers."""
    return figures_from([str(built()), *words], lines)


def run_of(
    source: Path, libraries: Sequence[str], words: list[str], figures: Iterable[str]
) -> Numbers:
    """The figures of one run of a program."""
    return figures_from([str(built_of(source, libraries)), *words], "", figures)
