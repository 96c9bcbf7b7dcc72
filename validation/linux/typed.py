"""What `aqmlab advise` prints, typed into a real `tc` and kernel, twice, and what they then have.

Usage: python -m validation.linux.typed
Writes tests/golden/typed.json.gz, by which `tests/test_typed.py` holds the printed lines on
machines whose kernel lacks a discipline. Where the kernel is missing (`make uml` builds it) it says
so in one line and changes nothing.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from aqmlab.advise import candidates, commands, situation
from aqmlab.advise.candidates import Candidate
from validation import recorded
from validation.linux import machine, sqm

RECORD = Path(__file__).parents[2] / "tests" / "golden" / "typed.json.gz"
RATE = "50/10mbit"
DEVICE = "d0"
ACCESS = ("cable", "dsl", "adsl", "fibre")
DISCIPLINES = ("cake", "fq_codel", "fq_pie", "codel", "pie", "sfq", "droptail")
MEASURED = ("cake", "fq_codel", "fq_pie")
"""Disciplines through which streams are sent as well, to measure what passes each way."""
SYSTEMS = ("tc", "openwrt")


def cases() -> list[tuple[str, str, str]]:
    """Every kind of access, discipline and system."""
    return list(itertools.product(ACCESS, DISCIPLINES, SYSTEMS))


def printed(access: str, aqm: str, system: str) -> list[str]:
    """What is typed at the system for both directions of a home line."""
    line = situation.of_words(RATE, access, "household", None)
    queue = {"aqm": aqm, **candidates.LINUX.get(aqm, {})}
    answer = commands.to_type(line, Candidate(aqm, queue), system, DEVICE)
    return [text for block in answer["blocks"] for text in block["lines"]]


def typed(access: str, aqm: str, system: str) -> list[str]:
    """The lines that reach a shell: of OpenWrt those that SQM makes of its section."""
    lines = printed(access, aqm, system)
    return sqm.commands(sqm.section(lines)) if system == "openwrt" else lines


def main() -> int:
    """Types them, and writes what the kernel then has."""
    those = cases()
    job: dict[str, Any] = {"kind": "typed", "seed": 1, "qdisc": "pfifo", "line": {}}
    job |= {"device": DEVICE, "cases": [typed(*one) for one in those]}
    job["measured"] = [aqm in MEASURED for _, aqm, _ in those]
    try:
        answers = machine.run(job)
    except machine.Missing as missing:
        print(f"nothing is typed: {missing}")
        return 0
    rows = [
        {"access": access, "aqm": aqm, "system": system, "lines": typed(access, aqm, system)}
        | shown
        for (access, aqm, system), shown in zip(those, answers["typed"], strict=True)
    ]
    text = ",\n".join(json.dumps(row) for row in rows)
    RECORD.write_bytes(recorded.packed(f"[\n{text}\n]\n"))
    refused = [f"{row['access']} {row['aqm']} {row['system']}" for row in rows if row["complaint"]]
    print(f"{RECORD.name}: {len(rows)} lines typed twice, refused: {refused}")
    return bool(refused)


if __name__ == "__main__":
    raise SystemExit(main())
