"""Bulk TCP in aqmlab and in ns-2 2.35: the same link, the same senders, several seeds each.

Usage: python validation/ns2/compare.py [--quick] [--only WORD] [--seeds N] [--out FOLDER]
Prints a table in Markdown and, with --out, writes it and the runs' numbers as CSV. What has been
run is kept (--cache) and not run again by the same build. Needs the program `ns` (Debian package
ns2); without it, says so in one line and ends well.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
from cases import Case, full, quick, scenario, words

import aqmlab
from aqmlab.intervals import interval
from aqmlab.simulator.engine import version

SCRIPT = Path(__file__).with_name("bulk.tcl")
CACHE = Path("results/ns2")
Numbers = dict[str, float]


@dataclass(frozen=True)
class Figure:
    """A measure that both programs tell, and how much it may differ."""

    title: str
    scale: float
    """From the program's unit to the title's."""
    margin: float
    """Relative to ns-2's mean."""
    floor: float
    """Smaller differences do not matter, whatever their ratio; in the program's unit."""


FIGURES = {
    "queue_time_mean_packets": Figure("queue, packets", 1, 0.05, 0.5),
    "goodput_mbit_per_s": Figure("goodput, Mbit/s", 1, 0.05, 0),
    "drop_rate": Figure("dropped, %", 100, 0.10, 0.000_05),
    "mark_rate": Figure("marked, %", 100, 0.10, 0.000_05),
    "jain_index": Figure("Jain's index", 1, 0.10, 0.02),
}


def in_ns2(case: Case, seed: int) -> Numbers:
    """One run of bulk.tcl."""
    command = ["ns", str(SCRIPT), *words(case, seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    fields = done.stdout.split()
    if done.returncode or set(fields[::2]) < set(FIGURES):
        raise RuntimeError(f"ns-2 failed: {' '.join(command)}: {done.stderr.strip()[:300]}")
    return dict(zip(fields[::2], map(float, fields[1::2]), strict=True))


def in_aqmlab(case: Case, seeds: int, jobs: int | None) -> list[Numbers]:
    """The same in aqmlab, one row per seed."""
    runs = aqmlab.run(scenario(case), seeds=seeds, jobs=jobs).runs
    return [_numbers(case, run.summary) for run in runs]


def _numbers(case: Case, summary: Mapping[str, float]) -> Numbers:
    goodput = summary["long_flow_goodput_mean_bits_per_s"] * case.flows / 1e6
    return {name: summary.get(name, goodput) for name in (*FIGURES, "utilisation")}


class Kept:
    """Numbers of earlier runs, a file for each case and program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def file(self, case: Case, seeds: int, program: str) -> Path:
        """Named after all that the numbers depend on."""
        if program == "ns-2":
            of = [SCRIPT.read_text(), *words(case, seeds)]
        else:
            of = [version().build, json.dumps(scenario(case), sort_keys=True), str(seeds)]
        digest = hashlib.sha256("\n".join(of).encode()).hexdigest()[:16]
        return self.folder / f"{case.name()}-{program}-{digest}.json"

    def read(self, file: Path) -> list[Numbers] | None:
        """Nothing where it is missing or damaged."""
        try:
            return json.loads(file.read_text())
        except (OSError, ValueError):
            return None

    def write(self, file: Path, rows: list[Numbers]) -> list[Numbers]:
        """Whole or not at all; returns the rows."""
        part = file.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(rows))
        part.replace(file)
        return rows


def rows(
    cases: Iterable[Case], seeds: int, kept: Kept, jobs: int | None
) -> Iterator[dict[str, object]]:
    """Every run of both programs."""
    with ThreadPoolExecutor(jobs) as pool:
        for case in cases:
            ns2, ours = (kept.file(case, seeds, program) for program in ("ns-2", "aqmlab"))
            found = {"ns-2": kept.read(ns2), "aqmlab": kept.read(ours)}
            if found["ns-2"] is None:
                runs = pool.map(in_ns2, [case] * seeds, range(1, seeds + 1))
                found["ns-2"] = kept.write(ns2, list(runs))
            if found["aqmlab"] is None:
                found["aqmlab"] = kept.write(ours, in_aqmlab(case, seeds, jobs))
            for program, numbers in found.items():
                for seed, row in enumerate(numbers or [], start=1):
                    names = {
                        "family": case.family,
                        "case": case.name(),
                        "flows": case.flows,
                        "ecn": case.ecn,
                    }
                    yield {**names, "program": program, "seed": seed, **row}
            print(f"{case.name()}: done", file=sys.stderr, flush=True)


def verdict(figure: Figure, ours: list[float], theirs: list[float]) -> tuple[str, str]:
    """The ratio with its 95 % interval, and whether the difference, with its interval, stays
    within the margin (same), lies beyond it (apart), or neither can be said (open)."""
    (a, low_a, _), (b, low_b, _) = interval(ours), interval(theirs)
    half = math.hypot(a - low_a, b - low_b)
    margin = max(figure.margin * b, figure.floor)
    difference = abs(a - b)
    told = (
        "same" if difference + half <= margin else "apart" if difference - half > margin else "open"
    )
    if b == 0 or a == 0:
        return "", told
    spread = math.hypot((a - low_a) / a, (b - low_b) / b)
    return f"{a / b:.3f} ± {a / b * spread:.3f}", told


def table(runs: pl.DataFrame) -> str:
    """Means with 95 % intervals, ratio, margin and verdict, a heading for each family."""
    names = ("case", "figure", "aqmlab", "ns-2", "ratio", "margin", "verdict")
    head = [f"| {' | '.join(names)} |", "| --- " * len(names) + "|"]
    lines: list[str] = []
    family = ""
    for (title, name), of in runs.group_by("family", "case", maintain_order=True):
        if title != family:
            family = str(title)
            lines += ["", f"**{family}**", "", *head]
        for field, figure in FIGURES.items():
            ours, theirs = (of.filter(program=p)[field].to_list() for p in ("aqmlab", "ns-2"))
            nothing = not any(ours) and not any(theirs)
            if nothing or (field == "jain_index" and of["flows"][0] == 1):
                continue
            ratio, told = verdict(figure, ours, theirs)
            shown = " | ".join(_mean(values, figure) for values in (ours, theirs))
            margin = f"{figure.margin:.0%}"
            told = told if told == "same" else f"**{told}**"
            lines.append(f"| {name} | {figure.title} | {shown} | {ratio} | {margin} | {told} |")
    return "\n".join(lines[1:])


def _mean(values: list[float], figure: Figure) -> str:
    mean, low, _ = interval(values)
    return f"{figure.scale * mean:.4g} ± {figure.scale * (mean - low):.2g}"


def main() -> int:
    """Runs both programs and prints the table; 0 also where ns-2 is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a dozen short cases, three seeds")
    parser.add_argument("--only", default="", help="cases whose family or name has this in it")
    parser.add_argument("--profile", choices=("plain", "ns2"), help="our senders (plain)")
    parser.add_argument("--seeds", type=int, help="replications, at least two (5; with --quick 3)")
    parser.add_argument("--jobs", type=int, help="runs at a time (all cores)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder for what has been run")
    parser.add_argument("--out", type=Path, help="folder for table.md and runs.csv")
    arguments = parser.parse_args()
    if shutil.which("ns") is None:
        print("no comparison with ns-2: the program `ns` is not installed (Debian package ns2)")
        return 0
    seeds = arguments.seeds or (3 if arguments.quick else 5)
    if seeds < 2:
        parser.error(f"--seeds {seeds}: an interval needs at least two")
    cases = list(quick() if arguments.quick else full())
    if arguments.profile:
        # Those of a profile of its own stay.
        cases = [
            replace(case, profile=arguments.profile) if case.profile == "plain" else case
            for case in cases
        ]
    chosen = [
        case for case in cases if arguments.only in case.name() or arguments.only in case.family
    ]
    if not chosen:
        parser.error(f"--only {arguments.only}: no case has that in its name or family")
    runs = pl.DataFrame(list(rows(chosen, seeds, Kept(arguments.cache), arguments.jobs)))
    text = table(runs)
    print(text)
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "table.md").write_text(text + "\n")
        runs.write_csv(arguments.out / "runs.csv")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
