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

from validation import equivalence
from validation.equivalence import Program, figures_from
from validation.external import Missing
from validation.figures import Numbers
from validation.ns2.cases import Case, full, quick, scenario, words

SCRIPT = Path(__file__).with_name("dumbbell.tcl")


def run(case: Case, seed: int) -> Numbers:
    """Runs `dumbbell.tcl` once for a case and returns the figures."""
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
    """Everything on which a run's numbers depend: the script, its arguments and the transfers."""
    return [SCRIPT.read_text(), *words(case, seed), case.lines(seed)]


def _cases(arguments: argparse.Namespace) -> list[Case]:
    cases = quick() if arguments.quick else full()
    if not arguments.profile:
        return list(cases)
    # What NewReno does without its fix only ns2 does.
    own = arguments.profile
    return [replace(case, profile=own) if case.exit_fix else case for case in cases]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--profile", choices=("plain", "ns2"), help="our senders (ns2)")


def main() -> int:
    """Runs both programs and prints the table; 0 also where ns-2 is missing."""
    ns2 = Program("ns-2", installed, release, run, described, scenario)
    return equivalence.main("ns2", __doc__ or "", ns2, _cases, own_options=_options)


if __name__ == "__main__":
    raise SystemExit(main())
