"""TCP in aqmlab and in a real Linux kernel: same line, same disciplines, several seeds each.

Usage: python -m validation.linux [--quick] [--only WORD] [--seeds N] [--most N] [--out FOLDER]
       [--keep | --wide] [--every N] [--build]
The kernel runs in virtual time as an ordinary program (`machine.py`); `--build` builds it, as
`make uml` does. Without it, says so in one line and ends well. What has been run is kept (--cache).
Without --seeds, --most or --quick every case has the number of runs that a plan set (`seeds.toml`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from validation import equivalence
from validation.equivalence import Program, Runs
from validation.external import there
from validation.figures import Numbers, jain_index
from validation.linux import machine
from validation.linux.cases import Case, full, job, quick, scenario

SEEDS = 3
"""Runs of a case that the plan does not name."""


def run(case: Case, seed: int) -> Numbers:
    """Runs a case once in the guest and returns its figures."""
    described = machine.run(job(case, seed))
    handled = described["packets"] + described["drops"]
    return {
        "queue_time_mean_packets": described["length_mean"],
        "drop_rate": described["drops"] / handled,
        "mark_rate": described["marked"] / handled,
        **(_of_transfers(described) if case.workload else _of_flows(described)),
    }


def _of_flows(described: dict[str, Any]) -> Numbers:
    goodput = [octets * 8e-6 / described["measured_s"] for octets in described["received"]]
    return {"goodput_mbit_per_s": sum(goodput), **jain_index(goodput)}


def _of_transfers(described: dict[str, Any]) -> Numbers:
    return {"transfer_mean_s": sum(described["elapsed_s"]) / len(described["elapsed_s"])}


def described(case: Case, seed: int) -> list[object]:
    """The kernel, the guest's program and its job."""
    return [*machine.described("network.py", "bulk.py", "transfer.py"), job(case, seed)]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--build", action="store_true", help="build the kernel and end")


def _cases(arguments: argparse.Namespace) -> Iterator[Case]:
    return quick() if arguments.quick else full()


def planned() -> Callable[[Case], int | Runs]:
    """How often each case is run, by the plan that was made before its runs (`seeds.toml`)."""
    seeds = equivalence.plan(Path(__file__).with_name("seeds.toml"))
    return lambda case: seeds.get(case.name(), SEEDS)


def main(module: str = "linux", seeds: Callable[[Case], int | Runs] | None = None) -> int:
    """Runs both and prints the table; 0 also where there is no kernel for it. `module` is the
    command's, below `validation`; `seeds` says how often each case is run, else `SEEDS` times."""
    if "--build" in sys.argv[1:]:
        there("Linux", lambda: print(machine.build()))
        return 0
    linux = Program("Linux", machine.kernel, machine.release, run, described, scenario, seeds)
    about = __doc__ or ""
    return equivalence.main(module, about, linux, _cases, seeds=SEEDS, own_options=_options)


if __name__ == "__main__":
    raise SystemExit(main(seeds=planned()))
