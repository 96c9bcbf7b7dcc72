"""Measures packets per CPU second through a discipline in Python, for `aqmlab bench`."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from aqmlab.simulator import engine
from aqmlab.simulator.forms import Link, Scenario
from aqmlab.simulator.plugin import source, starting

BAR = 150_000
"""Least rate in packets per CPU second that is accepted."""
SECONDS = (10, 60)
"""Simulated seconds of the shorter and the longer run: in their difference the cost of starting a
process cancels."""


def measure(scenario: Scenario) -> dict[str, Any]:
    """The result for the scenario with the template of `aqmlab new aqm` as the discipline of its
    first link."""
    with tempfile.TemporaryDirectory() as folder:
        starting.write("bench_aqm", "python", Path(folder) / "bench_aqm")
        file = str(Path(folder) / "bench_aqm" / "bench_aqm.py")
        link: Link = {**scenario["link"][0], "forward": {"aqm": source.table(file), "limit": 300}}
        short, long = (
            _run({**scenario, "link": [link], "duration": f"{seconds} s"}) for seconds in SECONDS
        )
    packets = (long[0] - short[0]) / (long[1] - short[1])
    return {"packets_per_cpu_s": packets, "bar": BAR, "within_bar": packets >= BAR}


def _run(scenario: Scenario) -> tuple[int, float]:
    """Data packets, and CPU seconds of the run's process."""
    before = os.times()
    summary = engine.simulate(scenario).summary
    after = os.times()
    spent = sum(after[2:4]) - sum(before[2:4])
    return summary["data_packets"], spent


def sentence(measured: dict[str, Any]) -> str:
    """The measured rate as a sentence for the console."""
    verdict = "ok" if measured["within_bar"] else "below the bar"
    return (
        f"a discipline in Python: {measured['packets_per_cpu_s']:,.0f} packets per CPU second "
        f"(bar {measured['bar']:,}, {verdict})"
    )
