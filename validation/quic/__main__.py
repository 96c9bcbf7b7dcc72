"""QUIC in aqmlab and in quinn-proto: bulk senders behind aqmlab's queues, several seeds each.

Usage: python -m validation.quic [--quick] [--only WORD] [--seeds N] [--most N] [--out FOLDER]
       [--keep | --wide]
Prints a table in Markdown and, with --out, writes it and the runs' numbers as CSV. What has been
run is kept (--cache). Needs cargo, and crates.io once; without them, says so in one line and ends
well.
"""

from __future__ import annotations

from validation import equivalence
from validation.equivalence import Program
from validation.figures import Numbers, jain_index
from validation.quic import program
from validation.quic.cases import Case, cases, quick, scenario, words


def described(case: Case, seed: int) -> list[str]:
    """Everything on which a run's numbers depend: a hash of the program's sources, and its
    arguments."""
    return [program.digest(), *words(case, seed)]


def run(case: Case, seed: int) -> Numbers:
    """One run of the program, read as `figures.numbers` reads ours."""
    found = program.lines(words(case, seed))
    arrived = [float(row[3]) for row in found if row[0] == "flow"]
    (line,) = (row for row in found if row[0] == "line")
    offered, dropped, marked, waiting = map(float, line[2:])
    goodput = [8 * of / case.measured_s for of in arrived]
    return {
        "goodput_mbit_per_s": sum(goodput) / 1e6,
        "queue_time_mean_packets": waiting,
        "drop_rate": dropped / offered,
        "mark_rate": marked / offered,
        **jain_index(goodput),
    }


def main() -> int:
    """Runs both programs and prints the table; 0 also where quinn cannot be built."""
    quinn = Program("quinn", program.built, program.release, run, described, scenario)
    chosen = lambda arguments: quick() if arguments.quick else cases()  # noqa: E731
    return equivalence.main("quic", __doc__ or "", quinn, chosen, seeds=10)


if __name__ == "__main__":
    raise SystemExit(main())
