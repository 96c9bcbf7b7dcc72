"""Runs the trials and counts how they ended."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random

from . import CLASSES, trials
from .oracle import Hang, limited


def main() -> int:
    """Every class for so many seconds or trials; 1 if one failed."""
    words = argparse.ArgumentParser(prog="hostile", description=__doc__)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--seconds", type=float, default=120.0)
    words.add_argument("--trials", type=int, default=10**9, help="at most so many of each class")
    words.add_argument("--only", choices=CLASSES, help="only this class")
    requested = words.parse_args()
    failed = 0
    for name in [requested.only] if requested.only else CLASSES:
        failed += _class(name, requested.seed, requested.seconds, requested.trials)
    return 1 if failed else 0


def _class(name: str, seed: int, seconds: float, most: int) -> int:
    ends, failed, began = Counter(), 0, time.monotonic()
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None  # trials wait for no disk
    with tempfile.TemporaryDirectory(prefix="hostile-", dir=memory) as folder:
        one = trials(name, Path(folder))
        for number in range(most):
            if time.monotonic() - began > seconds or failed >= 10:
                break
            try:
                with limited():
                    ends[one(Random(f"{name} {seed} {number}"))] += 1
            except (Exception, Hang):
                failed += 1
                print(f"{name}, seed {seed}, trial {number}:", file=sys.stderr)
                traceback.print_exc(limit=-6)
    described = ", ".join(f"{count:,} {end}" for end, count in ends.most_common())
    print(
        f"{name}: {sum(ends.values()) + failed:,} trials, {failed} failed: {described}", flush=True
    )
    return failed


if __name__ == "__main__":
    sys.exit(main())
