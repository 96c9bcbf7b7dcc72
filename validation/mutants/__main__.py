"""Small changes of a crate's source, and whether its tests notice them.

Usage: python -m validation.mutants [CRATE ...] [--jobs N] [--seconds S] [--slowest S]
    [--again] [--page]
`python` stands for the Python that judges claims and computes statistics (`python.py`).
cargo-mutants lists the changes; all are compiled at once behind switches (`schemata.py`), and only
the tests that come by a change are run, the quickest first. Answers are kept (`answers.py`): a run
that was stopped goes on, and one after new tests asks only about those that survived and have no
reason to (`justified.toml`). Those that
no switch can hold, in constants, are then built and tried one by one (`alone.py`). `--page`
writes docs/mutants.md from what is known. Needs cargo-mutants and the packages of
requirements/mutants.txt (`make mutants` installs both).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from validation.external import Missing, cache
from validation.mutants import listing, page, python
from validation.mutants.alone import Alone
from validation.mutants.answers import FOLDER, SURVIVED, Answers, digest_of_tests
from validation.mutants.listing import Mutant
from validation.mutants.trials import Trials
from validation.mutants.workspace import Copy

ROOT = Path(__file__).resolve().parents[2]
TESTED_BY = {
    "aqm": ("aqmlab-aqm", "aqmlab-testvec"),
    "tcp": ("aqmlab-tcp",),
    "traffic": ("aqmlab-traffic", "aqmlab-sim"),
    "sim": ("aqmlab-sim",),
}
"""Crates, and the packages whose tests are asked: the test vectors stand beside the disciplines,
and what applications do of packets, the world's tests see."""
PYTHON = "python"
ALL = (*TESTED_BY, PYTHON)

WRITE_S = 20
"""Answers are written so often."""
UNPLACED = "unplaced.json"
"""Of the folder for what is built: names of mutants that no switch can hold."""
BESIDE = ("vectors",)
"""Folders outside the crates that tests read."""


def examine(crate: str, arguments: argparse.Namespace) -> None:
    """Runs what is not known yet of a crate's mutants, until all is known or the time is up."""
    stop = time.monotonic() + arguments.seconds
    folder = arguments.cache / crate
    found = listing.mutants(ROOT, f"aqmlab-{crate}")
    answers = Answers(FOLDER / f"{crate}.json", ROOT, found)
    if arguments.again:
        answers.words = dict.fromkeys(answers.words, "not asked")
    folders = [f"crates/{name.removeprefix('aqmlab-')}" for name in TESTED_BY[crate]]
    asked_with = digest_of_tests(ROOT, [*folders, *BESIDE], answers.of, arguments.slowest)
    answers.reopen(asked_with, page.excused(ROOT, found))
    copy = Copy(ROOT, folder / "tree")
    copy.refresh(answers.of)
    copy.unviable = answers.numbers("unviable")
    copy.unplaced = answers.numbers("by hand") | unplaced_before(folder, found)
    programs = copy.build(found, TESTED_BY[crate])
    open_ones = answers.numbers("not asked", "by hand")
    answers.words |= dict.fromkeys(copy.unviable, "unviable")
    answers.words |= dict.fromkeys(copy.unplaced & open_ones, "by hand")
    answers.write()
    names = sorted(mutant.name for mutant in found if mutant.number in copy.unplaced)
    (folder / UNPLACED).write_text(json.dumps(names))
    trials = Trials(copy.folder, programs, arguments.slowest, arguments.jobs)
    trials.look(folder / "tests.json")
    through = survey(answers, trials, stop)
    # What is called in constants alone no test comes by at run time.
    unseen = answers.numbers("unreached") & copy.in_const
    answers.words |= dict.fromkeys(unseen, "by hand")
    left = [mutant for mutant in found if mutant.number in answers.numbers("by hand")]
    if through and left:
        alone = Alone(ROOT, folder / "alone", TESTED_BY[crate], trials.tests, found)
        for at, (number, word) in enumerate(alone.try_all(left, stop), 1):
            answers.words[number] = word
            answers.write()
            print(f"{at} of {len(left)} tried alone: {word}", file=sys.stderr)
    if through and not answers.numbers("by hand"):
        for mutant in found:
            if (word := answers.words[mutant.number]) in SURVIVED:
                print(f"{word}: {mutant.name}")
    described = Counter(answers.words.values())
    print(f"{crate}: {len(found)} mutants, {dict(described)}", file=sys.stderr)


def unplaced_before(folder: Path, found: Sequence[Mutant]) -> set[int]:
    """Those that the compiler found to bear no switch when the crate was built last."""
    file = folder / UNPLACED
    names = set(json.loads(file.read_text())) if file.exists() else set()
    return {mutant.number for mutant in found if mutant.name in names}


def survey(answers: Answers, trials: Trials, stop: float) -> bool:
    """Asks every test about the mutants that are left; false if the time was up before the end."""
    left = answers.numbers("not asked")
    reached = {number for test in trials.tests for number in test.reaches}
    answers.words |= dict.fromkeys(left - reached, "unreached")
    left &= reached
    written = time.monotonic()
    for at, test in enumerate(trials.tests, 1):
        requested = sorted(left & test.reaches)
        noticed = dict(trials.ask(test, requested))
        left -= noticed.keys()
        answers.words |= noticed
        if time.monotonic() > written + WRITE_S:
            written = time.monotonic()
            answers.write()
            print(f"{at} of {len(trials.tests)} tests asked, {len(left)} left", file=sys.stderr)
        if time.monotonic() > stop:
            answers.write()
            return False
    answers.words |= dict.fromkeys(left, "missed")
    answers.write()
    return True


def main() -> int:
    """Examines the crates that were named; 0 also where a tool is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m validation.mutants", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("crates", nargs="*", metavar="CRATE", help=f"of {', '.join(ALL)} (all)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at a time")
    parser.add_argument("--again", action="store_true", help="ask all afresh")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this long")
    parser.add_argument(
        "--slowest", type=float, default=1e9, help="leave out tests of more processor time, seconds"
    )
    parser.add_argument(
        "--cache", type=Path, default=cache("mutants"), help="folder for what is built"
    )
    parser.add_argument("--page", action="store_true", help="write docs/mutants.md and end")
    arguments = parser.parse_args()
    unknown = [crate for crate in arguments.crates if crate not in ALL]
    if unknown:
        parser.error(f"{unknown[0]}: none of {', '.join(ALL)}")
    try:
        for crate in arguments.crates or ALL:
            if crate == PYTHON and not arguments.page:
                stop = time.monotonic() + arguments.seconds
                folder = arguments.cache / PYTHON
                python.examine(ROOT, folder, arguments.jobs, stop, arguments.again)
            elif not arguments.page:
                examine(crate, arguments)
        if arguments.page:
            page.write(ROOT, list(TESTED_BY))
    except Missing as missing:
        print(f"no mutants: {missing}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
