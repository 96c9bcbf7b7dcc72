"""Measures other simulators on the bulk scenario of `simulator.py`, if they are installed, for
`aqmlab bench`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path


def packets_per_cpu_s(seconds: int) -> dict[str, float | None]:
    """Data packets per CPU second of each simulator on the bulk scenario; None if it is not
    installed."""
    return {"ns2": ns2_packets_per_cpu_s(seconds), "ns3": ns3_packets_per_cpu_s()}


def ns2_packets_per_cpu_s(seconds: int) -> float | None:
    """Data packets per CPU second of ns-2 on the bulk scenario, if it is installed."""
    program, script = shutil.which("ns"), ns2_script()
    if program is None:
        note("no comparison with ns-2: the program `ns` is not installed (Debian package ns2)")
        return None
    if script is None:
        note("no comparison with ns-2: run this in a checkout, its script is in validation/ns2")
        return None
    before = os.times()
    child = subprocess.run(
        [program, str(script), str(seconds)], capture_output=True, text=True, check=False
    )
    after = os.times()
    words = child.stdout.split()
    if child.returncode != 0 or words[:1] != ["data_packets"]:
        note(f"no comparison with ns-2: it failed with exit code {child.returncode}")
        return None
    cpu = after.children_user - before.children_user
    cpu += after.children_system - before.children_system
    return int(words[1]) / cpu if cpu > 0 else None


def ns2_script() -> Path | None:
    """The path of ns-2's script for the bulk scenario; None outside a checkout of the sources."""
    # The script is searched from this file and from the current directory.
    places = (Path(__file__).resolve().parents[2], Path.cwd())
    scripts = (place / "validation" / "ns2" / "scenario_a.tcl" for place in places)
    return next((script for script in scripts if script.exists()), None)


def ns3_packets_per_cpu_s() -> float | None:
    """Data packets per CPU second of ns-3's flows, if its wheel is installed."""
    checkout = ns2_script()
    if checkout is None:
        note("no comparison with ns-3: run this in a checkout, its program is in validation/ns3")
        return None
    child = subprocess.run(
        [sys.executable, "-m", "validation.ns3.speed"],
        cwd=checkout.parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    words = child.stdout.split()
    if child.returncode != 0 or words[:1] != ["data_packets_per_cpu_s"]:
        reason = (child.stdout + child.stderr).strip().splitlines() or ["no message"]
        note(f"no comparison with ns-3: {reason[-1]}")
        return None
    return float(words[1])


def note(sentence: str) -> None:
    """Prints a sentence on standard error, so that standard output has only the result."""
    print("aqmlab:", sentence, file=sys.stderr)
