"""Whether load is linear in users, live and simulated: `python -m validation.live FOLDER`.

FOLDER is what `aqmlab parity validation/live/calibration.toml --out FOLDER` has left. A line
through the origin is fitted to all runs of a kind, as a calibration fits it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import aqmlab
from aqmlab.intervals import interval
from aqmlab.runs.calibrate import fit

USERS = "traffic.0.users"
NUMBERS = {"requests": "requests", "throughput_bytes_per_s": "bytes/s"}
Point = tuple[int, float]


def points(folder: Path, number: str) -> list[Point]:
    """Users and one number of every run, in the order of the runs."""
    runs = aqmlab.load(folder).runs
    return [(int(run.scenario["traffic"][0]["users"]), float(run.summary[number])) for run in runs]


def line(kind: str, unit: str, found: Sequence[Point]) -> str:
    """Slope, its 95 % interval, and the share of the variation that the line explains."""
    fitted = fit(found)
    half = fitted.ci[1] - fitted.bytes_per_user_s
    slope = f"{fitted.bytes_per_user_s:.4g} ± {half:.2g} {unit} for each user"
    return f"{kind:10}{slope}, R² {fitted.r_squared:.5f}"


def report(folder: Path) -> list[str]:
    """Lines of text: both kinds, and live over simulated, run by run."""
    said = []
    for number, unit in NUMBERS.items():
        live, simulated = (points(folder / kind, number) for kind in ("live", "simulated"))
        said += [line("live", unit, live), line("simulated", unit, simulated)]
        ratios = [ours / theirs for (_, ours), (_, theirs) in zip(live, simulated, strict=True)]
        mean, low, high = interval(ratios)
        said.append(f"ratio     {mean:.4f} ({low:.4f} to {high:.4f}), {len(ratios)} pairs")
    return said


if __name__ == "__main__":
    print("\n".join(report(Path(sys.argv[1]))))
