"""Our parameters, told to a real `tc` and kernel, and what it prints of them.

Usage: python -m validation.linux.commands
Writes tests/golden/tc.json, by which `tests/test_targets.py` holds the translation in both
directions on machines without that kernel. Where there is none (`make uml` builds it) it says so in
one line and changes nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aqmlab import targets
from aqmlab.cli import reference
from aqmlab.targets import tc, translation
from validation.linux import machine

RECORD = Path(__file__).parents[2] / "tests" / "golden" / "tc.json"
LINE = "10 Mbit/s"

CASES: tuple[tuple[str, str], ...] = (
    ("droptail", "limit=50"),
    ("droptail", "limit_bytes=50000"),
    ("droptail", "limit=50; from_front=true"),
    ("red", "profile=linux; limit_bytes=60000"),
    ("red", "profile=linux; limit_bytes=480000; min_th=30; max_th=90; w_q=0.001953125; max_p=0.1"),
    ("red", "profile=linux; limit_bytes=90000; min_th=15; max_th=45; ecn=true; harddrop=true"),
    (
        "choke",
        "profile=linux; limit=480; min_th=30; max_th=90; w_q=0.001953125; max_p=0.1; ecn=true",
    ),
    ("codel", "profile=linux"),
    ("codel", "profile=linux; limit=300; target=7 ms; interval=80 ms; ecn=true"),
    ("fq_codel", "profile=linux"),
    ("fq_codel", "profile=linux; flows=64; quantum=300; ce_threshold=3 ms; ecn=false; limit=400"),
    ("pie", "profile=linux"),
    ("pie", "profile=linux; target=20 ms; t_update=30 ms; alpha=0.25; beta=1.5; ecn=true"),
    ("pie", "profile=linux; delay=rate; limit=200"),
    ("fq_pie", "profile=linux"),
    ("fq_pie", "profile=linux; target=5 ms; flows=128; quantum=600; ecn=true; mark_ecnth=0.2"),
    ("sfb", "profile=linux"),
    ("sfb", "profile=linux; max=30; bin_size=24; penalty_rate=20; rehash_interval=120 s"),
    ("sfq", "profile=linux; limit=100"),
    ("sfq", "profile=linux; limit=127; queues=256; quantum=3028; head_drop=true"),
    ("sfq", "profile=linux; limit=1000; depth=50; flows=300"),
    ("hhf", ""),
    ("hhf", "limit=500; hh_limit=100; reset_timeout=20 ms; admit_bytes=65536; non_hh_weight=4"),
    ("cake", ""),
    ("cake", "rate=17600 kbit/s; tins=besteffort; overhead=44; framing=atm"),
    ("cake", "rate=20 Mbit/s; tins=diffserv4; isolation=dual-dsthost; ingress=true; mpu=64"),
    ("cake", "rate=2 Mbit/s; ack_filter=aggressive; interval=50 ms; target=2.5 ms"),
    ("cake", "tins=precedence; isolation=srchost; framing=ptm; overhead=30; memory_limit=4194304"),
)
"""Disciplines with parameters; the target of cake is a twentieth of its interval there."""


def queue(aqm: str, settings: str) -> targets.Queue:
    """A case as the translation takes it."""
    words = settings.split("; ") if settings else []
    entry = reference.described(aqm, words, LINE)
    return targets.queue(aqm, entry["effective"], set(entry["written"]), LINE)


def described(aqm: str, settings: str) -> str:
    """The words of a case for `tc qdisc replace dev DEV root …`."""
    one = queue(aqm, settings)
    entry = translation.entry_for(tc.ENTRIES, "tc", one, "")
    return " ".join([entry.name, *translation.spoken(entry, one)])


def main() -> int:
    """Asks the kernel, and writes what it said."""
    words = [described(*case) for case in CASES]
    job: dict[str, Any] = {"kind": "commands", "seed": 1, "qdisc": "pfifo", "line": {}}
    try:
        answers = machine.run(job | {"qdiscs": words})["told"]
    except machine.Missing as missing:
        print(f"no real tc is asked: {missing}")
        return 0
    rows = [
        {"aqm": aqm, "settings": settings, "words": said, **answer}
        for (aqm, settings), said, answer in zip(CASES, words, answers, strict=True)
    ]
    RECORD.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    refused = [row["words"] for row in rows if row["complaint"].startswith(("What", "Illegal"))]
    print(f"{RECORD.name}: {len(rows)} disciplines told, {len(refused)} refused {refused}")
    return bool(refused)


if __name__ == "__main__":
    raise SystemExit(main())
