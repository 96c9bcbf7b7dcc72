"""A radio channel in aqmlab and in ns-3: throughput and delays of datagrams to and from stations.

Usage: python -m validation.ns3.wifi [--only WORD] [--out FOLDER]
The cases were fixed before the first run. Prints a table in Markdown; with --out writes it as
wifi.csv. Needs ns-3's wheel (pip install --no-deps ns3) and g++; without them, says so in one line
and ends well.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from aqmlab.simulator import engine
from validation.external import Missing
from validation.figures import Numbers
from validation.ns3 import program

SOURCE = Path(__file__).with_name("wifi.cc")
LIBRARIES = (*program.LIBRARIES, "wifi", "mobility", "spectrum", "propagation", "antenna", "energy")
MODES = {"HtMcs0": 6.5, "HtMcs3": 26.0, "HtMcs7": 65.0}
"""Rates of the physical layer, Mbit/s: 20 MHz, long guard interval."""
LIMIT = 400
"""Packets of the queue; of several stations at the access point their parts of it."""
WARMUP_S, END_S, SEEDS = 2, 12, (1, 2, 3)
MARGIN = 0.10
FRAME = 1_544
"""Bytes of a datagram in an aggregate."""
CHANNEL = {"idle": "43 us", "preamble": "36 us", "block_ack": "32 us", "longest": "5.44 ms"}
"""AIFS of best effort (SIFS and three slots); HT-mixed preamble of one stream; the compressed
acknowledgement at 24 Mbit/s; 5.484 ms with the preamble."""
FIGURES = ("throughput_mbit_per_s", "delay_p50_ms", "delay_p90_ms", "delay_p99_ms")


@dataclass(frozen=True)
class Case:
    """Stations, their rate, where datagrams go, and what share of it all offer together."""

    stations: int
    mode: str
    direction: str
    offered: float

    @property
    def name(self) -> str:
        """In a few words."""
        load = "saturated" if self.offered > 1 else f"{self.offered:.0%}"
        return f"{self.stations} {self.direction}, {MODES[self.mode]:g} Mbit/s, {load}"

    @property
    def rate(self) -> float:
        """Bit/s of each station's datagrams."""
        return self.offered * MODES[self.mode] * 1e6 / self.stations


def cases() -> list[Case]:
    """Twenty cases."""
    down = [Case(n, mode, "down", 1.3) for n in (1, 2, 5) for mode in MODES]
    up = [Case(n, mode, "up", 1.3) for n in (1, 2, 5) for mode in ("HtMcs3", "HtMcs7")]
    light = [Case(1, mode, "down", 0.3) for mode in MODES]
    return [*down, *up, *light, Case(5, "HtMcs3", "up", 0.4), Case(5, "HtMcs7", "up", 0.4)]


def of_ns3(case: Case, seed: int) -> Numbers:
    """One run of wifi.cc."""
    words = {
        "stations": case.stations,
        "mode": case.mode,
        "direction": case.direction,
        "rate": case.rate,
        "limit": LIMIT,
        "seed": seed,
        "warmup": WARMUP_S,
        "end": END_S,
    }
    said = [f"--{name}={value}" for name, value in words.items()]
    return program.run_of(SOURCE, LIBRARIES, said, FIGURES)


def scenario(case: Case, seed: int) -> dict[str, object]:
    """The case as a scenario."""
    # ns-3 counts frames under way among those in the queue until they are acknowledged.
    under_way = min(65_535 // FRAME, int(5.44e-3 * MODES[case.mode] * 1e6 / 8 / FRAME))
    limit = (LIMIT // case.stations if case.direction == "down" else LIMIT) - under_way
    queue = {"aqm": "droptail", "limit": limit}
    rates = [f"{MODES[case.mode]} Mbit/s"] * case.stations
    return {
        "duration": f"{END_S} s",
        "warmup": f"{WARMUP_S} s",
        "seed": seed,
        "network": {"rtt": "0 s", "clients": case.stations, "servers": 1},
        "link": [
            {
                "name": "air",
                "rate": rates[0],
                "wifi": {"rates": rates, "stack": "stations", **CHANNEL},
                "forward": queue,
                "reverse": queue,
            }
        ],
        "traffic": [
            {
                "name": "stream",
                "app": "cbr",
                "flows": case.stations,
                "side": "servers" if case.direction == "down" else "clients",
                "rate": f"{case.rate:.0f} bit/s",
                "packet": 1472,
                "start_within": f"{1500 * 8 / case.rate:.9f} s",
            }
        ],
        "record": {"samples": False},
    }


def of_aqmlab(case: Case, seed: int) -> Numbers:
    """One run here."""
    summary = engine.simulate(scenario(case, seed)).summary
    port = summary["ports"]["air.forward" if case.direction == "down" else "air.reverse"]
    stream = summary["datagrams"]["stream"]
    delays = {f"delay_p{q}_ms": stream[f"delay_p{q}_s"] * 1e3 for q in (50, 90, 99)}
    return {"throughput_mbit_per_s": port["throughput_bytes_per_s"] * 8e-6, **delays}


def mean(runs: list[Numbers]) -> Numbers:
    """Of each figure over the seeds."""
    return {name: sum(run[name] for run in runs) / len(runs) for name in FIGURES}


def compared(only: str) -> Iterator[Mapping[str, object]]:
    """A row for each figure of each case."""
    for case in cases():
        if only not in case.name:
            continue
        begin = time.perf_counter()
        theirs = mean([of_ns3(case, seed) for seed in SEEDS])
        between = time.perf_counter()
        ours = mean([of_aqmlab(case, seed) for seed in SEEDS])
        ended = time.perf_counter()
        for figure in FIGURES:
            ratio = ours[figure] / theirs[figure]
            yield {
                "case": case.name,
                "figure": figure,
                "ns3": round(theirs[figure], 3),
                "aqmlab": round(ours[figure], 3),
                "ratio": round(ratio, 3),
                "within": abs(ratio - 1) <= MARGIN,
                "speed": round((between - begin) / (ended - between), 1),
            }


def main() -> int:
    """Runs both programs and prints the table; 0 also where ns-3 is missing."""
    parser = argparse.ArgumentParser(prog="python -m validation.ns3.wifi")
    parser.add_argument("--only", default="", help="cases whose name has this word")
    parser.add_argument("--out", type=Path, help="folder for wifi.csv")
    arguments = parser.parse_args()
    try:
        program.built_of(SOURCE, LIBRARIES)
    except Missing as missing:
        print(missing)
        return 0
    rows = []
    print("| case | figure | ns-3 | aqmlab | ratio | within 10 % |")
    print("| --- | --- | --- | --- | --- | --- |")
    for row in compared(arguments.only):
        rows.append(row)
        cells = [row[name] for name in ("case", "figure", "ns3", "aqmlab", "ratio")]
        print(
            "|", *(f"{cell} |" for cell in cells), "yes |" if row["within"] else "no |", flush=True
        )
    good = sum(bool(row["within"]) for row in rows)
    print(f"\n{good} of {len(rows)} figures lie within 10 % of ns-3 {program.release()}'s.")
    if arguments.out and rows:
        arguments.out.mkdir(parents=True, exist_ok=True)
        with (arguments.out / "wifi.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
