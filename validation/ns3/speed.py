"""How many data packets ns-3 simulates in a second of CPU: scenario A of `aqmlab bench`.

Usage: python -m validation.ns3.speed
Fifty bulk flows with SACK through RED on 100 Mbit/s; the difference of two runs, so that starting
and setting up are left out. Says in one line if ns-3's wheel or g++ is missing.
"""

from __future__ import annotations

import os
from dataclasses import replace

from validation.external import Missing
from validation.ns3 import program
from validation.ns3.cases import Case, words

SHORT_S, LONG_S = 10, 30
"""Measured seconds of the two runs, after the warm-up."""
CASE = Case("speed", "red", 50, rate_mbit=100, warmup_s=10)


def measured(seconds: int) -> tuple[float, float]:
    """Data packets that arrived after the warm-up, and the CPU seconds of the whole run."""
    before = os.times()
    numbers = program.run(words(replace(CASE, measured_s=seconds), 1))
    after = os.times()
    cpu = after.children_user - before.children_user
    cpu += after.children_system - before.children_system
    return numbers["goodput_mbit_per_s"] * 1e6 / 8 * seconds / CASE.mss, cpu


def main() -> int:
    """Prints the rate; 1 where ns-3 is missing."""
    try:
        program.built()
    except Missing as missing:
        print(missing)
        return 1
    (few, short), (many, long) = measured(SHORT_S), measured(LONG_S)
    print("data_packets_per_cpu_s", (many - few) / (long - short))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
