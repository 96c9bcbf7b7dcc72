"""TCP in aqmlab and in ns-2 2.35: the same links, the same senders, several seeds each.

Usage: python -m validation.ns2 [--quick] [--only WORD] [--seeds N] [--most N] [--out FOLDER]
       [--keep | --wide]
Prints a table in Markdown and, with --out, writes it and the runs' numbers as CSV. What has been
run is kept (--cache) and not run again by the same build. Needs the program `ns` (Debian package
ns2); without it, says so in one line and ends well.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

from validation.equivalence import Program, compare, figures_from, options
from validation.external import Missing, there
from validation.figures import Numbers
from validation.ns2.cases import Case, full, quick, scenario, words

SCRIPT = Path(__file__).with_name("dumbbell.tcl")


def run(case: Case, seed: int) -> Numbers:
    """One run of dumbbell.tcl."""
    command = ["ns", str(SCRIPT), *words(case, seed)]
    return figures_from(command, case.lines(seed))


def installed() -> None:
    """Raises Missing where ns-2 is not there."""
    if shutil.which("ns") is None:
        raise Missing("the program `ns` is not installed (Debian package ns2)")


def release() -> str:
    """The installed ns-2, such as ns-2.35."""
    requested = ["ns", "/dev/stdin"]
    done = subprocess.run(
        requested, input="puts [ns-version]", capture_output=True, text=True, check=True
    )
    return f"ns-{done.stdout.strip()}"


def described(case: Case, seed: int) -> list[str]:
    """Script, words and transfers."""
    return [SCRIPT.read_text(), *words(case, seed), case.lines(seed)]


def main() -> int:
    """Runs both programs and prints the table; 0 also where ns-2 is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m validation.ns2", description=(__doc__ or "").splitlines()[0]
    )
    options(parser, Path("results/ns2"))
    parser.add_argument("--profile", choices=("plain", "ns2"), help="our senders (ns2)")
    arguments = parser.parse_args()
    if not there("ns-2", installed):
        return 0
    cases = list(quick() if arguments.quick else full())
    if arguments.profile:
        # What NewReno does without its fix only ns2 does.
        cases = [
            replace(case, profile=arguments.profile) if case.exit_fix else case for case in cases
        ]
    return compare(parser, arguments, Program("ns-2", release, run, described, scenario), cases)


if __name__ == "__main__":
    raise SystemExit(main())
