"""A radio channel in aqmlab and in ns-3: throughput and delays of datagrams to and from stations.

Usage: python -m validation.ns3.wifi [--only WORD] [--out FOLDER]
The cases were fixed before the first run. Prints a table in Markdown; with --out writes it as
wifi.csv. Needs ns-3's wheel (pip install --no-deps ns3) and g++; without them, says so in one line
and ends well.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from pathlib import Path
from statistics import fmean, stdev

from aqmlab.simulator import engine
from validation.external import Missing
from validation.figures import Numbers
from validation.ns3 import program

SOURCE = Path(__file__).with_name("wifi.cc")
LIBRARIES = (*program.LIBRARIES, "wifi", "mobility", "spectrum", "propagation", "antenna", "energy")
MODES = {
    "HtMcs0": 6.5,
    "HtMcs3": 26.0,
    "HtMcs7": 65.0,
    "VhtMcs4": 175.5,
    "VhtMcs9": 390.0,
}
"""Rates of the physical layer, Mbit/s, long guard interval: 802.11n in 20 MHz, ac in 80 MHz."""
LIMIT = 400
"""Packets of a station's queue."""
PART = 200
"""Packets of the access point's queue for each station, where that is more. With 400 for ten,
as these cases were first written, a station's part was less than an aggregate."""
BEGIN_S, WARMUP_S, END_S = 1, 2, 12
ALONE, CONTENDING = 3, 8
"""Seeds of a case in which one device sends, and of one in which several contend."""
MARGIN = 0.10
BESIDES = 44
"""Bytes of a datagram in an aggregate besides its own: LLC, MAC, delimiter, FCS, padding."""
HT = {"preamble": "36 us", "bytes": 65_535}
VHT = {"preamble": "40 us", "bytes": 1_048_575}
CHANNEL = {
    "idle": "43 us",
    "block_ack": "32 us",
    "longest": "5.44 ms",
    "missed": "request",
    "tries": 7,
}
"""AIFS of best effort (SIFS and three slots); the compressed acknowledgement at 24 Mbit/s; 5.484 ms
with the preamble. ns-3 requests an acknowledgement that has not come, and sends a frame seven
times."""
SIDES = {
    "down": {"servers": "down"},
    "up": {"clients": "up"},
    "both": {"servers": "down", "clients": "up"},
}
"""Who sends in a direction, and what its delays are called."""
QUANTILES = (50, 90, 99)


@dataclass(frozen=True)
class Case:
    """Stations, their rates, where datagrams go, and what share of the rate all offer."""

    stations: int
    modes: tuple[str, ...]
    direction: str
    offered: float
    payload: int = 1472
    error: float = 0.0
    poisson: bool = False

    @property
    def name(self) -> str:
        """In a few words."""
        load = "saturated" if self.offered > 1 else f"{self.offered:.0%}"
        rates = " and ".join(f"{MODES[mode]:g}" for mode in dict.fromkeys(self.modes))
        words = [f"{self.stations} {self.direction}", f"{rates} Mbit/s", load]
        words += ["at random"] * self.poisson
        words += [f"{self.payload} B"] * (self.payload != 1472)
        words += [f"{self.error:.0%} lost"] * (self.error > 0)
        return ", ".join(words)

    @property
    def rate(self) -> float:
        """Bit/s of each station's datagrams in a direction."""
        return self.offered * MODES[self.modes[0]] * 1e6 / self.stations

    @property
    def shared(self) -> int:
        """Packets of the access point's queue."""
        return max(LIMIT, PART * self.stations)

    @property
    def under_way(self) -> int:
        """Frames of an aggregate, which ns-3 counts among those in the queue."""
        size = self.payload + 28 + BESIDES
        standard = VHT if self.modes[0].startswith("Vht") else HT
        longest = int(5.44e-3 * MODES[self.modes[0]] * 1e6 / 8 / size)
        return min(int(standard["bytes"]) // size, longest, 64)

    @property
    def figures(self) -> list[str]:
        """What is compared: the throughput of all, and quantiles of the delay in each direction."""
        ways = SIDES[self.direction].values()
        return [
            "throughput_mbit_per_s",
            *(f"{way}_delay_p{q}_ms" for way in ways for q in QUANTILES),
        ]

    @property
    def seeds(self) -> range:
        """Of which the mean is compared."""
        alone = self.direction == "down" or (self.stations == 1 and self.direction == "up")
        return range(1, 1 + (ALONE if alone else CONTENDING))


def cases() -> list[Case]:
    """Fifty cases."""
    all_n = ("HtMcs0", "HtMcs3", "HtMcs7")
    two_n = all_n[1:]
    down = [Case(n, (mode,), "down", 1.3) for n in (1, 2, 5) for mode in all_n]
    down += [Case(10, (mode,), "down", 1.3) for mode in two_n]
    up = [Case(n, (mode,), "up", 1.3) for n in (1, 2, 5, 10, 20) for mode in two_n]
    both = [Case(n, (mode,), "both", 1.3) for n in (1, 2, 5) for mode in two_n]
    light = [Case(1, (mode,), "down", 0.3) for mode in all_n]
    light += [Case(5, (mode,), "up", 0.4, poisson=True) for mode in two_n]
    light += [Case(n, ("HtMcs7",), way, 0.6, poisson=True) for n, way in ((1, "down"), (5, "down"))]
    light += [Case(5, ("HtMcs7",), "up", 0.6, poisson=True)]
    light += [Case(2, ("HtMcs3",), "up", 0.6, poisson=True)]
    light += [Case(10, ("HtMcs7",), "up", 0.4, poisson=True)]
    light += [Case(5, ("HtMcs7",), "both", 0.3, poisson=True)]
    of = [(n, way) for n in (1, 5) for way in ("down", "up")]
    small = [Case(n, ("HtMcs7",), way, 1.3, payload=200) for n, way in of]
    lossy = [Case(n, ("HtMcs7",), way, 1.3, error=0.1) for n, way in of]
    slow = ("HtMcs7", "HtMcs7", "HtMcs0")
    unlike = [Case(3, slow, "up", 1.3), Case(3, slow, "up", 0.15, poisson=True)]
    wide = [Case(1, ("VhtMcs9",), "down", 1.3), Case(5, ("VhtMcs4",), "up", 1.3)]
    return [*down, *up, *both, *light, *small, *lossy, *unlike, *wide]


def of_ns3(case: Case, seed: int) -> Numbers:
    """One run of wifi.cc."""
    wide = case.modes[0].startswith("Vht")
    words = {
        "stations": case.stations,
        "modes": ",".join(case.modes),
        "width": 80 if wide else 20,
        "aggregate": VHT["bytes"] if wide else HT["bytes"],
        "direction": case.direction,
        "rate": case.rate,
        "payload": case.payload,
        "poisson": int(case.poisson),
        "error": case.error,
        "limit": LIMIT,
        "shared": case.shared,
        "seed": seed,
        "warmup": WARMUP_S,
        "end": END_S,
    }
    said = [f"--{name}={value}" for name, value in words.items()]
    return program.run_of(SOURCE, LIBRARIES, said, case.figures)


def scenario(case: Case, seed: int) -> dict[str, object]:
    """The case as a scenario."""
    own = {"aqm": "droptail", "limit": LIMIT - case.under_way}
    part = {"aqm": "droptail", "limit": (case.shared - case.under_way) // case.stations}
    rates = [f"{MODES[mode]} Mbit/s" for mode in case.modes]
    rates = [rates[i % len(rates)] for i in range(case.stations)]
    standard = VHT if case.modes[0].startswith("Vht") else HT
    stations = {"rates": rates, "stack": "stations", "turns": "oldest", "error": case.error}
    stream = {
        "app": "cbr",
        "flows": case.stations,
        "rate": f"{case.rate * case.payload / (case.payload + 28):.0f} bit/s",
        "packet": case.payload,
        "spacing": "poisson" if case.poisson else "constant",
        "start": f"{BEGIN_S} s",
        "start_within": f"{(case.payload + 28) * 8 / case.rate:.9f} s",
    }
    return {
        "duration": f"{END_S} s",
        "warmup": f"{WARMUP_S} s",
        "seed": seed,
        "network": {"rtt": "0 s", "clients": case.stations, "servers": 1},
        "link": [
            {
                "name": "air",
                "rate": rates[0],
                "wifi": {**stations, **CHANNEL, **standard},
                "forward": part,
                "reverse": own,
            }
        ],
        "traffic": [
            {"name": way, "side": side, **stream} for side, way in SIDES[case.direction].items()
        ],
        "record": {"samples": False},
    }


def of_aqmlab(case: Case, seed: int) -> Numbers:
    """One run here."""
    summary = engine.simulate(scenario(case, seed)).summary
    ports = {"down": "air.forward", "up": "air.reverse"}
    figures = {"throughput_mbit_per_s": 0.0}
    for way, stream in summary["datagrams"].items():
        port = summary["ports"][ports[way]]
        figures["throughput_mbit_per_s"] += port["throughput_bytes_per_s"] * 8e-6
        for q in QUANTILES:
            figures[f"{way}_delay_p{q}_ms"] = stream[f"delay_p{q}_s"] * 1e3
    return figures


def mean(runs: list[Numbers]) -> Numbers:
    """Of each figure over the seeds."""
    return {name: fmean(run[name] for run in runs) for name in runs[0]}


def relative_error(runs: list[Numbers], figure: str) -> float:
    """Standard error of a figure's mean over the seeds, as a share of it."""
    values = [run[figure] for run in runs]
    return stdev(values) / sqrt(len(values)) / fmean(values)


def compared(only: str) -> Iterator[Mapping[str, object]]:
    """A row for each figure of each case."""
    for case in cases():
        if only not in case.name:
            continue
        began = os.times().children_user
        runs_there = [of_ns3(case, seed) for seed in case.seeds]
        there = os.times().children_user - began
        began = time.process_time()
        runs_here = [of_aqmlab(case, seed) for seed in case.seeds]
        here = time.process_time() - began
        theirs, ours = mean(runs_there), mean(runs_here)
        for figure in case.figures:
            ratio = ours[figure] / theirs[figure]
            errors = (relative_error(runs, figure) for runs in (runs_there, runs_here))
            yield {
                "case": case.name,
                "figure": figure,
                "ns3": round(theirs[figure], 3),
                "aqmlab": round(ours[figure], 3),
                "ratio": round(ratio, 3),
                "standard_error": round(ratio * hypot(*errors), 3),
                "within": abs(ratio - 1) <= MARGIN,
                "speed": round(there / here),
            }


def write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Writes the rows, in place of those of the same cases."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = {row["case"] for row in rows}
    if path.exists():
        with path.open(newline="") as file:
            kept = [row for row in csv.DictReader(file) if row["case"] not in names]
        rows = [*kept, *rows]
    with path.open("w", newline="") as file:
        # Rows of before may lack a column.
        writer = csv.DictWriter(file, rows[-1].keys(), restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


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
    # What is read at the first call counts for no case.
    of_aqmlab(cases()[0], 1)
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
    if speeds := sorted({row["case"]: float(str(row["speed"])) for row in rows}.values()):
        median = speeds[len(speeds) // 2]
        print(f"CPU time of ns-3 over ours: {speeds[0]:g} to {speeds[-1]:g}, median {median:g}.")
    if arguments.out and rows:
        write(arguments.out / "wifi.csv", rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
