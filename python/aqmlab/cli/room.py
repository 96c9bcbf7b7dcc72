"""Whether the shell allows the memory that the command's libraries take (`ulimit -v`).

Checked before any of them is loaded: one that finds too little says so in lines of its own, or ends
the process. Nothing is imported here for that reason.
"""

from __future__ import annotations

import os
import sys

LEAST = 400 << 20
"""Bytes of address space that aqmlab needs: Python, NumPy and Arrow on one thread took 340 MiB on
Linux."""
LIMITS = "/proc/self/limits"


def check() -> None:
    """Sets how many threads libraries start, where the user has not. Ends the process with an error
    message if its limit of address space is below `LEAST`."""
    # NumPy's library of linear algebra starts a thread for each processor. These first wait for
    # work in a loop, which takes a tenth of the processor time of a short command.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    allowed = address_space()
    if allowed is None:
        return
    for threads in ("OMP_NUM_THREADS", "POLARS_MAX_THREADS"):
        # The libraries reserve address space for a thread on each processor, and some of them end
        # the process if that fails.
        os.environ.setdefault(threads, "1")
    if allowed < LEAST:
        sys.stderr.write(
            f"aqmlab: this shell allows {allowed >> 20} MiB of address space and aqmlab's "
            f"libraries alone take some {LEAST >> 20}: allow more, for example ulimit -v 2000000\n"
        )
        sys.exit(2)


def address_space() -> int | None:
    """Limit of this process's address space in bytes; None if there is none, or it is unknown."""
    try:
        with open(LIMITS, encoding="ascii") as file:  # noqa: PTH123
            line = next(line for line in file if line.startswith("Max address space"))
        return int(line.split()[3])
    except (OSError, StopIteration, ValueError, IndexError):
        return None
