"""TCP in aqmlab and in ns-3: the same links, the same senders, several seeds each.

Usage: python -m validation.ns3 [--quick] [--only WORD] [--seeds N] [--most N] [--out FOLDER]
       [--keep | --wide]
Prints a table in Markdown and, with --out, writes it and the runs' numbers as CSV. What has been
run is kept (--cache). Needs ns-3's wheel (pip install --no-deps ns3) and g++; without them, says so
in one line and ends well.
"""

from __future__ import annotations

from validation import equivalence
from validation.equivalence import Program
from validation.figures import Numbers
from validation.ns3 import program
from validation.ns3.cases import Case, full, quick, scenario, words


def described(case: Case, seed: int) -> list[str]:
    """The release, the program, its words and transfers."""
    source = program.SOURCE.read_text()
    return [program.release(), source, *words(case, seed), case.lines(seed)]


def run(case: Case, seed: int) -> Numbers:
    """Runs `dumbbell.cc` once for a case and returns the figures."""
    return program.run(words(case, seed), case.lines(seed))


def release() -> str:
    """The installed ns-3, such as ns-3.44."""
    return f"ns-{program.release()}"


def main() -> int:
    """Runs both programs and prints the table; 0 also where ns-3 is missing."""
    ns3 = Program("ns-3", program.built, release, run, described, scenario)
    cases = lambda arguments: quick() if arguments.quick else full()  # noqa: E731
    return equivalence.main("ns3", __doc__ or "", ns3, cases, seeds=3)


if __name__ == "__main__":
    raise SystemExit(main())
