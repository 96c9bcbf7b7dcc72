"""Bulk TCP in aqmlab and in ns-2 2.35: the same link, the same senders, five seeds each.

Usage: python validation/ns2/compare.py [--out FOLDER] [--seeds N] [--seconds S]
Prints a table in Markdown and, with --out, writes it and the runs' numbers as CSV. Needs the
program `ns` (Debian package ns2); without it, says so in one line and ends well.
"""

from __future__ import annotations

import argparse
import itertools
import math
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl

import aqmlab

SCRIPT = Path(__file__).with_name("bulk.tcl")
FLOWS = (1, 10, 50, 200)
RECOVERY = ("newreno", "sack")
QUEUES = ("droptail", "red")
WARMUP_S = 50
MIN_RTO_S = 1
MEASURES = ("drop_rate", "queue_time_mean_packets", "utilisation", "jain_index")
BARS = {"drop_rate": 0.10, "queue_time_mean_packets": 0.05}
"""Relative differences beyond these call for an explanation."""

T_95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 8: 2.365, 10: 2.262, 20: 2.093}
"""Student's t of a two-sided 95 % interval, by the number of seeds."""

QUEUE = {
    "droptail": {"aqm": "droptail", "limit": 120},
    "red": {
        "aqm": "red",
        "profile": "ns2",
        "min_th": 30,
        "max_th": 90,
        "w_q": "1/512",
        "max_p": 0.1,
        "gentle": False,
        "limit": 480,
        "queue_in_bytes": False,
        "byte_probability": False,
        "mean_packet_bytes": 1500,
    },
}


def scenario(flows: int, recovery: str, queue: str, seconds: int) -> dict[str, object]:
    """The scenario of bulk.tcl: all of a flow's propagation delay lies at its client's entrance."""
    rtt = [f"{7 + 130 * (i + 0.5) / flows} ms" for i in range(flows)]
    return {
        "name": f"ns2-{flows}-{recovery}-{queue}",
        "duration": f"{WARMUP_S + seconds} s",
        "warmup": f"{WARMUP_S} s",
        "network": {"clients": flows, "servers": 1, "rtt": rtt},
        "link": [
            {
                "rate": "10 Mbit/s",
                "reverse_rate": "100 Gbit/s",
                "forward": QUEUE[queue],
                "reverse": {"aqm": "droptail", "limit": 100_000},
            }
        ],
        "traffic": [
            {
                "app": "bulk",
                "flows": flows,
                "start_within": "1 s",
                "tcp": {
                    "profile": "plain",
                    "sack": recovery == "sack",
                    # ns-2 counts its window in segments: 44 of 1,460 B.
                    "window_bytes": 44 * 1460,
                    "initial_window": 3,
                    "rto_min": f"{MIN_RTO_S} s",
                },
            }
        ],
        "record": {"samples": False, "responses": False},
    }


def in_ns2(flows: int, recovery: str, queue: str, seconds: int, seed: int) -> dict[str, float]:
    """One run of bulk.tcl."""
    end = WARMUP_S + seconds
    words = ["ns", SCRIPT, flows, recovery, queue, seed, WARMUP_S, end, MIN_RTO_S]
    command = [str(word) for word in words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    fields = done.stdout.split()
    if done.returncode or len(fields) != 2 * len(MEASURES):
        raise RuntimeError(f"ns-2 failed: {' '.join(command)}: {done.stderr.strip()[:300]}")
    return dict(zip(fields[::2], map(float, fields[1::2]), strict=True))


def rows(seeds: int, seconds: int) -> Iterator[dict[str, object]]:
    """Every run of both programs."""
    cases = list(itertools.product(FLOWS, RECOVERY, QUEUES))
    with ThreadPoolExecutor() as pool:
        theirs = {
            (case, seed): pool.submit(in_ns2, *case, seconds, seed)
            for case in cases
            for seed in range(1, seeds + 1)
        }
        for case in cases:
            result = aqmlab.run(scenario(*case, seconds), seeds=seeds)
            names = dict(zip(("flows", "recovery", "queue"), case, strict=True))
            for seed, run in enumerate(result.runs, start=1):
                ours = {name: run.summary[name] for name in MEASURES}
                yield {**names, "program": "aqmlab", "seed": seed, **ours}
                yield {**names, "program": "ns-2", "seed": seed, **theirs[case, seed].result()}
            print(f"{result.runs[0].scenario['name']}: done", file=sys.stderr, flush=True)


def interval(values: list[float]) -> tuple[float, float]:
    """Mean and half of its 95 % interval over seeds."""
    n = len(values)
    mean = sum(values) / n
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
    return mean, T_95[n] * deviation / math.sqrt(n)


def table(runs: pl.DataFrame) -> str:
    """Means with 95 % intervals, and the difference of the two programs in per cent of ns-2."""
    lines = [
        "| flows | recovery | queue | measure | aqmlab | ns-2 | difference |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for case in itertools.product(FLOWS, RECOVERY, QUEUES):
        flows, recovery, queue = case
        of = runs.filter(flows=flows, recovery=recovery, queue=queue)
        for measure in MEASURES:
            pair = [
                interval(of.filter(program=program)[measure].to_list())
                for program in ("aqmlab", "ns-2")
            ]
            (ours, ours_half), (theirs, theirs_half) = pair
            change = (ours - theirs) / theirs if theirs else 0.0 if ours == theirs else math.inf
            apart = abs(ours - theirs) > math.hypot(ours_half, theirs_half)
            beyond = abs(change) > BARS.get(measure, math.inf) and apart
            note = " **!**" if beyond else ""
            lines.append(
                f"| {flows} | {recovery} | {queue} | {measure} | {ours:.4g} ± {ours_half:.2g} "
                f"| {theirs:.4g} ± {theirs_half:.2g} | {change:+.1%}{note} |"
            )
    return "\n".join(lines)


def main() -> int:
    """Runs both programs and prints the table; 0 also where ns-2 is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder for table.md and runs.csv")
    parser.add_argument("--seeds", type=int, default=5, choices=sorted(T_95))
    parser.add_argument("--seconds", type=int, default=300, help="measured, after 50 s of warm-up")
    arguments = parser.parse_args()
    if shutil.which("ns") is None:
        print("no comparison with ns-2: the program `ns` is not installed (Debian package ns2)")
        return 0
    runs = pl.DataFrame(list(rows(arguments.seeds, arguments.seconds)))
    text = table(runs)
    print(text)
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "table.md").write_text(text + "\n")
        runs.write_csv(arguments.out / "runs.csv")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
