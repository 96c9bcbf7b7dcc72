"""Whether another program agrees with aqmlab on a case: runs of both, and a verdict.

Several seeds of each; ratio of the means with its interval, held against a margin that was stated
before. `validation.ns2` and `validation.linux` bring the cases and the other program.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import polars as pl

import aqmlab
from aqmlab.intervals import interval
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.simulator.engine import version
from aqmlab.tables.equivalence import (
    DIFFERENT,
    INCONCLUSIVE,
    Judgement,
    Margin,
    judge,
    judge_paired,
)
from validation import recorded
from validation.external import several

Numbers = dict[str, float]


class Case(Protocol):
    """One link, one discipline, one kind of end system."""

    @property
    def family(self) -> str:
        """Heading of its table."""
        ...

    @property
    def flows(self) -> int:
        """Bulk senders."""
        ...

    @property
    def ecn(self) -> bool:
        """Whether senders and discipline use explicit congestion notification."""
        ...

    @property
    def paired(self) -> bool:
        """Whether both runs of a seed have the same users, so that their differences are judged."""
        ...

    def name(self) -> str:
        """Short and unique."""
        ...


C = TypeVar("C", bound=Case)


OF_EVERY_QUEUE = ("queue_time_mean_packets", "drop_rate", "mark_rate")
"""Figures that no program may leave out."""


@dataclass(frozen=True)
class Program(Generic[C]):
    """The other program, and the input that it gets of a case."""

    name: str
    version: Callable[[], str]
    """Which one, for the record."""
    run: Callable[[C, int], Numbers]
    """The figures of a case under a seed; RuntimeError says why there are none."""
    described: Callable[[C, int], Sequence[object]]
    """All that its numbers under a seed depend on: its version, its script, its words."""
    scenario: Callable[[C, int], dict[str, Any]]
    """The case for aqmlab, under a seed."""


def told_by(command: Sequence[str], lines: str, needed: Iterable[str] = OF_EVERY_QUEUE) -> Numbers:
    """What a program that is given these lines answers: one line of names and numbers."""
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    fields = done.stdout.split()
    if done.returncode or not set(needed) <= set(fields[::2]):
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()[:300]}")
    return dict(zip(fields[::2], map(float, fields[1::2]), strict=True))


@dataclass(frozen=True)
class Figure:
    """A measure that both programs report, and how much it may differ."""

    title: str
    scale: float
    """From the program's unit to the title's."""
    margin: float
    """Relative to the other program's mean."""
    floor: float
    """Smaller differences do not matter, whatever their ratio; in the program's unit."""


FIGURES = {
    "queue_time_mean_packets": Figure("queue, packets", 1, 0.05, 0.5),
    "goodput_mbit_per_s": Figure("goodput, Mbit/s", 1, 0.05, 0),
    "drop_rate": Figure("dropped, %", 100, 0.10, 0.000_05),
    "mark_rate": Figure("marked, %", 100, 0.10, 0.000_05),
    "jain_index": Figure("Jain's index", 1, 0.10, 0.02),
    "transfer_mean_s": Figure("transfer, ms", 1000, 0.05, 0.001),
    "stream_loss_rate": Figure("of the streams lost, %", 100, 0.10, 0.000_05),
    "queue_time_mean_packets_second": Figure("second queue, packets", 1, 0.05, 0.5),
    "drop_rate_second": Figure("dropped at the second, %", 100, 0.10, 0.000_05),
    "goodput_scalable_mbit_per_s": Figure("goodput of scalable senders, Mbit/s", 1, 0.05, 0),
    "goodput_classic_mbit_per_s": Figure("goodput of classic senders, Mbit/s", 1, 0.05, 0),
    "mark_rate_scalable": Figure("marked of scalable senders, %", 100, 0.10, 0.000_05),
    "wait_scalable_s": Figure("wait of scalable senders, ms", 1000, 0.05, 0.000_02),
    "wait_classic_s": Figure("wait of classic senders, ms", 1000, 0.05, 0.000_02),
}

CLASSES = ("scalable", "classic")
"""Kinds of senders that are looked at apart: the last word of their groups' names."""


class Kept:
    """Numbers of earlier runs, a file for each case, program and seed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def row(self, name: str, described: Sequence[object], run: Callable[[], Numbers]) -> Numbers:
        """The numbers that are kept, or those of a run, which then are kept.

        A file is named after all that its numbers depend on, and written whole or not at all; one
        that is missing or damaged is as good as none.
        """
        digest = hashlib.sha256("\n".join(map(str, described)).encode()).hexdigest()[:16]
        file = self.folder / f"{name}-{digest}.json"
        try:
            return json.loads(file.read_text())
        except (OSError, ValueError):
            row = run()
        part = file.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(row))
        part.replace(file)
        return row


@dataclass(frozen=True)
class Seeds:
    """How often a case is run.

    It is run anew with as many seeds more, up to `most`, while the interval of any of its figures
    is wider than half the margin. Only widths decide, never a verdict: who stops where he likes
    the result finds it too often (Y. S. Chow and H. Robbins, On the asymptotic theory of
    fixed-width sequential confidence intervals for the mean, Ann. Math. Statist. 36, 1965).
    """

    first: int
    """At least two, for an interval."""
    most: int
    """Seeds 1 to this."""

    def counts(self) -> Iterator[int]:
        """How many runs there are after each round: 3, 6, 12, ... and at last `most`."""
        count = self.first
        while count < self.most:
            yield count
            count *= 2
        yield self.most


def in_aqmlab(case: Case, scenario: dict[str, Any], seed: int) -> Numbers:
    """A case in aqmlab."""
    return numbers(case.flows, aqmlab.run(scenario, seed=seed, jobs=1).runs[0])


def jain_index(goodput: Sequence[float]) -> Numbers:
    """Jain's fairness index of all flows; none where nothing got through."""
    if not any(goodput):
        return {}
    return {"jain_index": sum(goodput) ** 2 / (len(goodput) * sum(x * x for x in goodput))}


def numbers(flows: int, run: FinishedRun) -> Numbers:
    """The figures of one of our runs by the names of `FIGURES`, those that it has."""
    names = (name for name in (*FIGURES, "utilisation") if run.summary.get(name) is not None)
    described = {name: run.summary[name] for name in names}
    if flows:
        # Not of cross traffic and streams.
        bulk = pl.col("group_name").cast(pl.String).str.starts_with("bulk")
        each = run.table("flows").filter(bulk)["goodput_bits_per_s"].to_list()
        described["goodput_mbit_per_s"] = sum(each) / 1e6
        described |= jain_index([*each, *[0.0] * (flows - len(each))])
        described |= _of_classes(run)
    second = run.summary.get("ports", {}).get("second.forward", {})
    described |= {f"{name}_second": second[name] for name in FIGURES if name in second}
    if "datagrams" in run.summary:
        described["stream_loss_rate"] = run.summary["datagrams"]["streams"]["loss_share"]
    if "transfers" in run.summary:
        ended = run.table("transfers").filter(pl.col("failed") == 0)
        if len(ended):
            elapsed_ns = ended["end_ns"] - ended["start_ns"]
            described["transfer_mean_s"] = elapsed_ns.sum() / len(ended) / 1e9
    return described


def _of_classes(run: FinishedRun) -> Numbers:
    """What scalable and classic senders got, where both or either are named so."""
    found: Numbers = {}
    waits = run.summary.get("queue_delay_by_group") or _of_one_group(run)
    named = {kind: [name for name in waits if name.endswith(f"-{kind}")] for kind in CLASSES}
    both = all(named.values())
    for kind, names in named.items():
        if packets := sum(waits[name]["packets"] for name in names):
            waited = sum(waits[name]["packets"] * waits[name]["mean_s"] for name in names)
            found[f"wait_{kind}_s"] = waited / packets
        if both:
            group = pl.col("group_name").cast(pl.String)
            each = run.table("flows").filter(group.str.ends_with(f"-{kind}"))
            found[f"goodput_{kind}_mbit_per_s"] = each["goodput_bits_per_s"].sum() / 1e6
            if kind == "scalable":
                # Classic senders beside them have no ECN: all marks are theirs.
                found["mark_rate_scalable"] = run.summary["marks"] / packets
    return found


def _of_one_group(run: FinishedRun) -> dict[str, dict[str, float]]:
    """Delays where all senders are of one group, which a summary does not repeat."""
    names = run.table("flows")["group_name"].cast(pl.String).unique().to_list()
    if len(names) != 1 or run.summary.get("queue_delay_mean_s") is None:
        return {}
    of = run.summary["ports"][run.summary["studied_port"]]
    return {names[0]: {"packets": of["departures"], "mean_s": of["queue_delay_mean_s"]}}


Row = dict[str, object]


def rows(
    cases: Iterable[C], program: Program[C], seeds: Seeds, kept: Kept, jobs: int | None
) -> Iterator[Row]:
    """Every run of both programs, case after case; as many cases at a time as `jobs` says."""

    def enough(case: C) -> tuple[C, list[Row]]:
        return case, rows_of(case, program, seeds, kept)

    for case, found in several(enough, cases, jobs):
        yield from found
        print(f"{case.name()}: {len(found) // 2} runs each", file=sys.stderr, flush=True)


def rows_of(case: C, program: Program[C], seeds: Seeds, kept: Kept) -> list[Row]:
    """The runs of one case, the other program's first; as many as `seeds` says."""
    ours: list[Row] = []
    theirs: list[Row] = []
    for count in seeds.counts():
        for seed in range(len(ours) + 1, count + 1):
            theirs.append(_row(case, program.name, seed, in_other(case, program, seed, kept)))
            ours.append(_row(case, "aqmlab", seed, in_ours(case, program, seed, kept)))
        found = compared(pl.DataFrame([*theirs, *ours], infer_schema_length=None), program.name)
        if all(one.narrow for one in found):
            break
    return [*theirs, *ours]


def _row(case: Case, program: str, seed: int, found: Numbers) -> Row:
    names = {
        "family": case.family,
        "case": case.name(),
        "flows": case.flows,
        "ecn": case.ecn,
        "paired": case.paired,
    }
    return {**names, "program": program, "seed": seed, **found}


def in_other(case: C, program: Program[C], seed: int, kept: Kept) -> Numbers:
    """A case in the other program."""
    name = f"{case.name()}-{program.name}-{seed}"
    return kept.row(name, program.described(case, seed), lambda: program.run(case, seed))


def in_ours(case: C, program: Program[C], seed: int, kept: Kept) -> Numbers:
    """The case in aqmlab."""
    scenario = program.scenario(case, seed)
    described = [version().build, json.dumps(scenario, sort_keys=True)]
    name = f"{case.name()}-aqmlab-{seed}"
    return kept.row(name, described, lambda: in_aqmlab(case, scenario, seed))


@dataclass(frozen=True)
class Compared:
    """A figure of a case in both programs."""

    family: str
    case: str
    figure: Figure
    ours: list[float | None]
    """One for each seed; none if there is no number, such as for a burst that did not end."""
    theirs: list[float | None]
    paired: bool = False

    @property
    def found(self) -> Judgement:
        """The ratio with its 95 % interval, and the verdict; what a program lacks cannot be judged:
        it is inconclusive, or different if it has none at all."""
        if None in self.ours or None in self.theirs:
            both = any(x is not None for x in self.ours) and any(x is not None for x in self.theirs)
            return Judgement(*[math.nan] * 6, INCONCLUSIVE if both else DIFFERENT)
        judged = judge_paired if self.paired else judge
        return judged(self.ours, self.theirs, Margin(self.figure.margin, self.figure.floor))

    @property
    def narrow(self) -> bool:
        """Whether the interval of the difference is within half the margin, or unknown."""
        found = self.found
        return math.isnan(found.half) or found.half <= found.margin / 2

    def row(self) -> str:
        """The two means, the ratio and the verdict, as a row of a table."""
        found = self.found
        ratio = "" if math.isnan(found.ratio) else f"{found.ratio:.3f} ± {found.ratio_half:.3f}"
        described = found.verdict if found.verdict == "equivalent" else f"**{found.verdict}**"
        shown = " | ".join(_mean(values, self.figure) for values in (self.ours, self.theirs))
        title, margin = self.figure.title, f"{self.figure.margin:.0%}"
        columns = (self.case, title, len(self.ours), shown, ratio, margin, described)
        return f"| {' | '.join(str(column) for column in columns)} |"


def compared(runs: pl.DataFrame, program: str) -> list[Compared]:
    """Every figure of every case that one of the programs has anything of."""
    each = []
    for (family, name), of in runs.group_by("family", "case", maintain_order=True):
        for field, figure in FIGURES.items():
            if field not in of.columns or of[field].null_count() == len(of):
                continue
            ours, theirs = (of.filter(program=p)[field].to_list() for p in ("aqmlab", program))
            nothing = not any(ours) and not any(theirs)
            if not nothing and (field != "jain_index" or of["flows"][0] > 1):
                paired = bool(of["paired"][0])
                each.append(Compared(str(family), str(name), figure, ours, theirs, paired))
    return each


def table(each: Sequence[Compared], program: str) -> str:
    """Means with 95 % intervals, ratio, margin and verdict, a heading for each family."""
    names = ("case", "figure", "runs", "aqmlab", program, "ratio", "margin", "verdict")
    head = [f"| {' | '.join(names)} |", "| --- " * len(names) + "|"]
    lines: list[str] = []
    for family, of in groupby(each, lambda one: one.family):
        lines += ["", f"**{family}**", "", *head, *(one.row() for one in of)]
    return "\n".join(lines[1:])


def _mean(values: list[float | None], figure: Figure) -> str:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return f"in {len(known)} of {len(values)} runs"
    mean, low, _ = interval(known)
    return f"{figure.scale * mean:.4g} ± {figure.scale * (mean - low):.2g}"


def verdicts(each: Sequence[Compared]) -> str:
    """How many figures are equivalent, inconclusive and different, by figure: one line of words."""
    return recorded.verdicts([(one.figure.title, one.found.verdict) for one in each])


def ratios(each: Sequence[Compared]) -> pl.DataFrame:
    """The ratios as a table of numbers; what one program has nothing of has none."""
    rows = [(one, one.found) for one in each]
    return pl.DataFrame(
        [
            {
                "case": one.case,
                "figure": one.figure.title.split(",")[0],
                "ratio": found.ratio,
                "half": found.ratio_half,
                "margin": one.figure.margin,
                "verdict": found.verdict,
            }
            for one, found in rows
            if math.isfinite(found.ratio) and math.isfinite(found.ratio_half)
        ]
    )


def options(parser: argparse.ArgumentParser, cache: Path, seeds: int = 5) -> None:
    """The options of every comparison; `seeds` are those of all its cases (with --quick 3)."""
    parser.set_defaults(full_seeds=seeds)
    parser.add_argument("--quick", action="store_true", help="a few short cases, three seeds")
    described = "cases whose family or name has this in it; may be repeated"
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help=described)
    parser.add_argument(
        "--seeds", type=int, help=f"replications, at least two ({seeds}; with --quick 3)"
    )
    described = (
        "seeds at most, where an interval is wider than half its margin (no more than --seeds)"
    )
    parser.add_argument("--most", type=int, metavar="N", help=described)
    described = "of the record in --out, the rows of cases that are not run stay"
    parser.add_argument("--keep", action="store_true", help=described)
    described = "--keep, and only cases with an interval wider than half the margin and fewer seeds"
    parser.add_argument("--wide", action="store_true", help=described)
    parser.add_argument("--jobs", type=int, help="runs at a time (all cores)")
    parser.add_argument("--cache", type=Path, default=cache, help="folder for what has been run")
    parser.add_argument("--out", type=Path, help="folder for the record and the runs' numbers")


def named(case: Case, words: Sequence[str]) -> bool:
    """Whether a case has one of the words in its family or name."""
    return any(word in case.name() or word in case.family for word in words)


def compare(
    parser: argparse.ArgumentParser,
    arguments: argparse.Namespace,
    program: Program[C],
    cases: Iterable[C],
) -> int:
    """Runs both programs, prints the table, and records it if the user wants that."""
    seeds = arguments.seeds or (3 if arguments.quick else arguments.full_seeds)
    if seeds < 2:
        parser.error(f"--seeds {seeds}: an interval needs at least two")
    most = arguments.most or seeds
    if most < seeds:
        parser.error(f"--most {most}: there are {seeds} seeds to begin with (--seeds)")
    chosen = list(cases)
    if arguments.only:
        chosen = [case for case in chosen if named(case, arguments.only)]
    keeps = arguments.keep or arguments.wide
    old = _record(parser, arguments, program.version()) if keeps else None
    if old and arguments.wide:
        more = recorded.wide(old.text, most)
        chosen = [case for case in chosen if case.name() in more]
    if not chosen:
        words = [*(["--wide"] if arguments.wide else []), "--only", *arguments.only]
        parser.error(f"{' '.join(words)}: there is no such case")
    kept = Kept(arguments.cache)
    each = rows(chosen, program, Seeds(seeds, most), kept, arguments.jobs)
    runs = pl.DataFrame(list(each), infer_schema_length=None)
    each = compared(runs, program.name)
    text, summary = table(each, program.name), verdicts(each)
    print(f"{text}\n\n{summary}")
    if arguments.out:
        found, numbers = (
            recorded.record(parser.prog, program.version(), text, summary),
            ratios(each),
        )
        if old:
            found = recorded.renewed(old, found)
            numbers = _renewed(pl.read_csv(arguments.out / recorded.RATIOS), numbers)
        found.keep(arguments.out)
        runs.write_csv(arguments.out / "runs.csv")
        (arguments.out / recorded.RATIOS).write_bytes(recorded.packed(numbers.write_csv()))
    return 0


def _record(
    parser: argparse.ArgumentParser, arguments: argparse.Namespace, version: str
) -> recorded.Record:
    """The record to go on with: of one other program, for a table compares with one."""
    records = recorded.found(arguments.out) if arguments.out else {}
    if len(records) != 1:
        parser.error("--keep and --wide go with --out FOLDER, where a record is")
    (one,) = records.values()
    if one.versions["other"] != version:
        parser.error(
            f"{arguments.out} is a record of {one.versions['other']}, and this is {version}: "
            "install that one, or begin a record in another folder without --keep and --wide"
        )
    try:
        recorded.families(one.text)
        pl.read_csv(arguments.out / recorded.RATIOS)
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        parser.error(
            f"the record in {arguments.out} is damaged ({error}); run the comparison whole"
        )
    return one


def _renewed(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """Ratios of the new runs in place of those of the same cases."""
    order = {name: place for place, name in enumerate(old["case"].unique(maintain_order=True))}
    kept = old.filter(~pl.col("case").is_in(new["case"].unique().to_list()))
    both = pl.concat([kept, new], how="vertical_relaxed")
    place = pl.col("case").replace_strict(order, default=len(order), return_dtype=pl.Int64)
    return both.sort(place, maintain_order=True)
