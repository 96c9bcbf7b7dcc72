"""Whether another program agrees with aqmlab on a case: runs of both, compared.

Each program runs the case under several seeds. The ratio of the means, with its interval, is
compared with a margin that was stated before (`figures`, `verdicts`). `validation.ns2` and
`validation.linux` supply the cases and the other program.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import polars as pl

import aqmlab
from aqmlab.simulator.engine import version
from validation import recorded
from validation.external import several, there
from validation.figures import OF_EVERY_QUEUE, Numbers, numbers
from validation.verdicts import compared, ratios, table, verdicts


class Case(Protocol):
    """One link, one discipline, one kind of end system."""

    @property
    def family(self) -> str:
        """Heading of the table that lists the case."""
        ...

    @property
    def flows(self) -> int:
        """Number of bulk senders."""
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
        """The case's name, short and unique."""
        ...


C = TypeVar("C", bound=Case)


@dataclass(frozen=True)
class Program(Generic[C]):
    """The other program, and how a case is made into its input."""

    name: str
    needs: Callable[[], object]
    """Raises Missing, with a sentence on what to install, if the program is not installed."""
    version: Callable[[], str]
    """Name and version of the program, for the record of the comparison."""
    run: Callable[[C, int], Numbers]
    """Runs a case under a seed and returns its figures; a RuntimeError says why there are none."""
    described: Callable[[C, int], Sequence[object]]
    """What the program's numbers under a seed depend on: version, script and arguments."""
    scenario: Callable[[C, int], dict[str, Any]]
    """The case as a scenario of aqmlab, under a seed."""
    seeds: Callable[[C], int | Runs] | None = None
    """Number of runs of each case, if a plan has set it; options for all cases take precedence."""


def figures_from(
    command: Sequence[str], lines: str, needed: Iterable[str] = OF_EVERY_QUEUE
) -> Numbers:
    """The figures that a program prints, as one line of names and numbers, if it reads these
    lines."""
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    fields = done.stdout.split()
    if done.returncode or not set(needed) <= set(fields[::2]):
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()[:300]}")
    return dict(zip(fields[::2], map(float, fields[1::2]), strict=True))


class Kept:
    """Numbers of earlier runs, a file for each case, program and seed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def row(self, name: str, described: Sequence[object], run: Callable[[], Numbers]) -> Numbers:
        """The numbers of an earlier run, or those of a new run, which are then kept.

        A file's name has a hash of everything on which its numbers depend. A file is written whole
        or not at all; if it is missing or damaged, the case is run again.
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
    """Number of seeds in the first round; at least two, for an interval."""
    most: int
    """Largest number of seeds."""
    number: int = 1
    """Number of the first seed; a confirmation takes other seeds than the runs that it confirms."""

    def counts(self) -> Iterator[int]:
        """How many runs there are after each round: 3, 6, 12, ... and at last `most`."""
        count = self.first
        while count < self.most:
            yield count
            count *= 2
        yield self.most


def in_aqmlab(case: Case, scenario: dict[str, Any], seed: int) -> Numbers:
    """Runs a scenario of aqmlab for a case and returns the figures."""
    return numbers(case.flows, aqmlab.run(scenario, seed=seed, jobs=1).runs[0])


class Runs(NamedTuple):
    """How often a case is run in each program.

    Runs of one seed are a pair where the case has pairs and both are as many. Ours take a fortieth
    of a kernel's time: with many of ours the interval of the difference is that of the other's
    runs, which is narrower than that of the pairs where a pair has little in common.
    """

    theirs: int
    ours: int


def plan(file: Path) -> dict[str, Runs]:
    """How often each case is run, by its name, in the order of the file (TOML): a number for both
    programs, or a list of the other's and ours."""
    numbers = tomllib.loads(file.read_text("utf-8"))
    return {name: both(Runs(*of) if isinstance(of, list) else of) for name, of in numbers.items()}


def both(runs: int | Runs) -> Runs:
    """One number is that of either program."""
    return runs if isinstance(runs, Runs) else Runs(runs, runs)


Row = dict[str, object]


def rows(
    cases: Iterable[C], program: Program[C], seeds: Seeds, kept: Kept, jobs: int | None
) -> Iterator[Row]:
    """Every run of both programs, case after case; as many cases at a time as `jobs` says."""

    def enough(case: C) -> tuple[C, list[Row]]:
        return case, rows_of(case, program, seeds, kept)

    for case, found in several(enough, cases, jobs):
        yield from found
        count = sum(row["program"] == program.name for row in found)
        here = "" if 2 * count == len(found) else f", {len(found) - count} here"
        print(f"{case.name()}: {count} runs{here or ' each'}", file=sys.stderr, flush=True)


def rows_of(case: C, program: Program[C], seeds: Seeds, kept: Kept) -> list[Row]:
    """The runs of one case, the other program's first; as many as `seeds` says."""
    ours: list[Row] = []
    theirs: list[Row] = []
    for count in [program.seeds(case)] if program.seeds else seeds.counts():
        runs = both(count)
        paired = case.paired and runs.theirs == runs.ours
        for seed in range(seeds.number, seeds.number + max(runs)):
            at = seed - seeds.number
            if len(theirs) <= at < runs.theirs:
                found = in_other(case, program, seed, kept)
                theirs.append(_row(case, program.name, seed, found, paired=paired))
            if len(ours) <= at < runs.ours:
                found = in_ours(case, program, seed, kept)
                ours.append(_row(case, "aqmlab", seed, found, paired=paired))
        shown = compared(pl.DataFrame([*theirs, *ours], infer_schema_length=None), program.name)
        if all(one.narrow for one in shown):
            break
    return [*theirs, *ours]


def _row(case: Case, program: str, seed: int, found: Numbers, *, paired: bool) -> Row:
    names = {
        "family": case.family,
        "case": case.name(),
        "flows": case.flows,
        "ecn": case.ecn,
        "paired": paired,
    }
    return {**names, "program": program, "seed": seed, **found}


def in_other(case: C, program: Program[C], seed: int, kept: Kept) -> Numbers:
    """A case in the other program."""
    name = f"{case.name()}-{program.name}-{seed}"
    return kept.row(name, program.described(case, seed), lambda: program.run(case, seed))


def in_ours(case: C, program: Program[C], seed: int, kept: Kept) -> Numbers:
    """The figures of a case in aqmlab, kept from an earlier run or of a new one."""
    scenario = program.scenario(case, seed)
    described = [version().build, json.dumps(scenario, sort_keys=True)]
    name = f"{case.name()}-aqmlab-{seed}"
    return kept.row(name, described, lambda: in_aqmlab(case, scenario, seed))


def options(parser: argparse.ArgumentParser, cache: Path, seeds: int = 5) -> None:
    """The options of every comparison; `seeds` are those of all its cases (with --quick 3)."""
    parser.set_defaults(full_seeds=seeds)
    parser.add_argument("--quick", action="store_true", help="a few short cases, three seeds")
    described = "the family or case of this name, or those with it in theirs; may be repeated"
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help=described)
    parser.add_argument(
        "--seeds", type=int, help=f"replications, at least two ({seeds}; with --quick 3)"
    )
    described = (
        "seeds at most, where an interval is wider than half its margin (no more than --seeds)"
    )
    parser.add_argument("--most", type=int, metavar="N", help=described)
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="the first of each N cases alone"
    )
    described = "number of the first seed: a confirmation takes seeds that were not used (1)"
    parser.add_argument("--first", type=int, default=1, metavar="N", help=described)
    described = "TOML file: the cases that are run, each with its number of seeds (or a list: the "
    described += "other's, ours), in this order"
    parser.add_argument("--plan", type=Path, metavar="FILE", help=described)
    described = "of the record in --out, the rows of cases that are not run stay"
    parser.add_argument("--keep", action="store_true", help=described)
    described = "--keep, and only cases with an interval wider than half the margin and fewer seeds"
    parser.add_argument("--wide", action="store_true", help=described)
    parser.add_argument("--jobs", type=int, help="runs at a time (all cores)")
    parser.add_argument("--cache", type=Path, default=cache, help="folder for what has been run")
    parser.add_argument("--out", type=Path, help="folder for the record and the runs' numbers")


def named(cases: Sequence[C], words: Sequence[str]) -> list[C]:
    """The cases that the words choose: a whole family or name is that one alone, any other word is
    a part of either."""
    whole = {name for case in cases for name in (case.name(), case.family)}

    def fits(case: C) -> bool:
        names = (case.name(), case.family)
        return any(
            word in names if word in whole else any(word in name for name in names)
            for word in words
        )

    return [case for case in cases if fits(case)]


def main(
    module: str,
    about: str,
    program: Program[C],
    cases: Callable[[argparse.Namespace], Iterable[C]],
    seeds: int = 5,
    own_options: Callable[[argparse.ArgumentParser], object] = lambda _: None,
) -> int:
    """The command `python -m validation.MODULE`: runs both programs on the cases that the options
    choose and prints the table. 0 also where the other program is missing, which one line says.
    `about` is the module's text, of which the help shows the first line."""
    parser = argparse.ArgumentParser(
        prog=f"python -m validation.{module}", description=about.splitlines()[0]
    )
    options(parser, Path("results") / module.replace(".", "-"), seeds)
    own_options(parser)
    arguments = parser.parse_args()
    if not there(program.name, program.needs):
        return 0
    return compare(parser, arguments, program, cases(arguments))


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
    chosen = list(cases)[:: max(arguments.every, 1)]
    if arguments.quick or arguments.seeds or arguments.most:
        program = replace(program, seeds=None)
    if arguments.plan:
        chosen, program = _by_plan(parser, arguments.plan, chosen, program)
    if arguments.only:
        chosen = named(chosen, arguments.only)
    keeps = arguments.keep or arguments.wide
    old = _record(parser, arguments, program.version()) if keeps else None
    if old and arguments.wide:
        more = recorded.wide(old.text, most)
        chosen = [case for case in chosen if case.name() in more]
    if not chosen:
        words = [*(["--wide"] if arguments.wide else []), "--only", *arguments.only]
        parser.error(f"{' '.join(words)}: there is no such case")
    kept = Kept(arguments.cache)
    each = rows(chosen, program, Seeds(seeds, most, arguments.first), kept, arguments.jobs)
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


def _by_plan(
    parser: argparse.ArgumentParser, file: Path, cases: Sequence[C], program: Program[C]
) -> tuple[list[C], Program[C]]:
    """The cases that the file names, and the program with their numbers of seeds."""
    try:
        planned = plan(file)
    except (OSError, ValueError) as error:
        parser.error(f"--plan {file}: {error}")
    if few := [name for name, count in planned.items() if min(count) < 2]:
        parser.error(f"--plan {file}: {', '.join(few)}: an interval needs at least two seeds")
    there_are = {case.name(): case for case in cases}
    if unknown := planned.keys() - there_are.keys():
        parser.error(f"--plan {file}: there is no case {', '.join(sorted(unknown))}")
    return [there_are[name] for name in planned], replace(
        program, seeds=lambda case: planned[case.name()]
    )


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
