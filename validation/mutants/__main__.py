"""Small changes of a crate's source, and whether its tests notice them.

Usage: python -m validation.mutants [CRATE ...] [--shard K/N] [--seconds S] [--slowest S] [--page]
cargo-mutants lists the changes; all are compiled at once behind switches (`schemata.py`), and only
the tests that come by a change are run, the quickest first. Answers are kept: a run that was
stopped goes on, and one after new tests asks only about those that survived. `--page` writes
docs/mutants.md from what is known. Needs cargo-mutants and the packages of requirements/mutants.txt
(`make mutants` installs both).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from validation.external import Missing, cache
from validation.mutants import listing, page
from validation.mutants.trials import Kept, Trials
from validation.mutants.workspace import Copy

ROOT = Path(__file__).resolve().parents[2]
TESTED_BY = {
    "aqm": ("aqmlab-aqm", "aqmlab-testvec"),
    "tcp": ("aqmlab-tcp",),
    "traffic": ("aqmlab-traffic",),
    "sim": ("aqmlab-sim",),
}
"""Crates, and the packages whose tests are asked: the test vectors stand beside the disciplines."""


def shard(text: str) -> tuple[int, int]:
    """`2/8`: the second of eight parts."""
    part, of = map(int, text.split("/"))
    if not 1 <= part <= of:
        raise ValueError(text)
    return part, of


def examine(crate: str, arguments: argparse.Namespace) -> None:
    """Runs what is not known yet of a crate's mutants, until all is known or the time is up."""
    folder = arguments.cache / crate
    found = listing.mutants(ROOT, f"aqmlab-{crate}")
    copy = Copy(ROOT, folder / "tree")
    copy.refresh()
    texts = {m.file: (ROOT / m.file).read_bytes() for m in found}
    kept = Kept(folder / "answers.jsonl")
    keys = {m.number: page.key(m, texts[m.file]) for m in found}
    copy.unviable = {n for n, key in keys.items() if kept.word(key) == "unviable"}
    copy.unplaced = {n for n, key in keys.items() if kept.word(key) == "by hand"}
    programs = copy.build(found, TESTED_BY[crate])
    for number in copy.unviable | copy.unplaced:
        kept.note(keys[number], "unviable" if number in copy.unviable else "by hand")
    trials = Trials(copy.folder, programs, arguments.slowest)
    trials.look(folder / "tests.json")
    part, of = arguments.shard
    stop = time.monotonic() + arguments.seconds
    left_out = copy.unviable | copy.unplaced
    tests = trials.stamp()
    for mutant in found:
        key = keys[mutant.number]
        asked = mutant.number % of == part - 1 and mutant.number not in left_out
        if asked and not kept.settled(key, tests):
            if time.monotonic() > stop:
                break
            answer = trials.of(mutant.number)
            kept.add(key, answer, tests)
            if answer.word in ("missed", "unreached"):
                print(f"{answer.word}: {mutant.name}", flush=True)
    told = Counter(map(kept.word, keys.values()))
    print(f"{crate}: {len(found)} mutants, {dict(told)}", file=sys.stderr)


def main() -> int:
    """Examines the crates that were named; 0 also where a tool is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m validation.mutants", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "crates", nargs="*", metavar="CRATE", help=f"of {', '.join(TESTED_BY)} (all)"
    )
    parser.add_argument("--shard", type=shard, default=(1, 1), help="K/N: the K-th of N parts")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this long")
    parser.add_argument(
        "--slowest", type=float, default=1e9, help="leave out tests of more processor time, seconds"
    )
    parser.add_argument(
        "--cache", type=Path, default=cache("mutants"), help="folder for what is known"
    )
    parser.add_argument("--page", action="store_true", help="write docs/mutants.md and end")
    arguments = parser.parse_args()
    unknown = [crate for crate in arguments.crates if crate not in TESTED_BY]
    if unknown:
        parser.error(f"{unknown[0]}: no crate of {', '.join(TESTED_BY)}")
    try:
        for crate in arguments.crates or TESTED_BY:
            if not arguments.page:
                examine(crate, arguments)
        if arguments.page:
            page.write(ROOT, arguments.cache, list(TESTED_BY))
    except Missing as missing:
        print(f"no mutants: {missing}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
