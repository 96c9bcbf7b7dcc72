"""A radio channel in aqmlab and in ns-3: throughput and delays of datagrams to and from stations.

Usage: python -m validation.ns3.wifi [--only WORD] [--saturated SEEDS] [--out FOLDER] [--speed RUN]
The cases were fixed before the first run. Prints a table in Markdown; with --out writes it as
wifi.csv. What ns-3 answered is kept beside its program. With --speed it compares CPU times in turn,
ours of the program RUN (crates/sim/examples/run.rs). Needs ns-3's wheel (pip install --no-deps ns3)
and g++; without them, says so in one line and ends well.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import fmean, median, stdev

from aqmlab.simulator import engine
from validation.equivalence import Kept
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
"""Number of packets that a station's queue holds."""
PART = 200
"""Packets of the access point's queue for each station, where that is more. With 400 for ten,
as these cases were first written, a station's part was less than an aggregate."""
BEGIN_S, WARMUP_S, END_S = 1, 2, 12
ALONE, CONTENDING, SATURATED = 3, 8, 32
"""Seeds of a case in which one device sends, of one in which several contend, and of one in which
these saturate the channel: of eight the 99 % quantile has a standard error of 5 to 17 %."""
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
    "tries": 1_000,
}
"""AIFS of best effort (SIFS and three slots); the compressed acknowledgement at 24 Mbit/s; 5.484 ms
with the preamble. ns-3 requests an acknowledgement that has not come, and gives no frame up that a
block acknowledgement covers (IncrementRetryCountUnderBa is false)."""
QUEUE = {"aqm": "droptail", "limit": 100_000}
"""The queue of each station: the device's buffer, not this limit, bounds it."""
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
        """The case's name in a few words."""
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
    def figures(self) -> list[str]:
        """What is compared: the throughput of all, and quantiles of the delay in each direction."""
        ways = SIDES[self.direction].values()
        return [
            "throughput_mbit_per_s",
            *(f"{way}_delay_p{q}_ms" for way in ways for q in QUANTILES),
        ]

    @property
    def seeds(self) -> range:
        """Seeds over which the mean is compared."""
        return self.seeds_of(SATURATED)

    def seeds_of(self, saturated: int) -> range:
        """As `seeds`, with as many where several contend that saturate the channel."""
        if self.direction == "down" or (self.stations == 1 and self.direction == "up"):
            return range(1, 1 + ALONE)
        return range(1, 1 + (saturated if self.offered > 1 else CONTENDING))


def cases() -> list[Case]:
    """The fifty cases that are compared."""
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


def options(case: Case, seed: int) -> list[str]:
    """What one run of wifi.cc is called with."""
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
    return [f"--{name}={value}" for name, value in words.items()]


def of_ns3(case: Case, seed: int) -> Numbers:
    """Runs `wifi.cc` once for a case and returns the figures."""
    said = options(case, seed)
    kept = Kept(program.built_of(SOURCE, LIBRARIES).parent / "runs")
    return kept.row("wifi", said, lambda: program.run_of(SOURCE, LIBRARIES, said, case.figures))


def scenario(case: Case, seed: int) -> dict[str, object]:
    """The case as a scenario of aqmlab."""
    rates = [f"{MODES[mode]} Mbit/s" for mode in case.modes]
    rates = [rates[i % len(rates)] for i in range(case.stations)]
    standard = VHT if case.modes[0].startswith("Vht") else HT
    # ns-3 keeps a frame queued until it is acknowledged; the access point has one queue for all.
    room = {"point_room": case.shared, "station_room": LIMIT}
    stations = {"rates": rates, "stack": "stations", "turns": "oldest", "error": case.error, **room}
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
                "forward": QUEUE,
                "reverse": QUEUE,
            }
        ],
        "traffic": [
            {"name": way, "side": side, **stream} for side, way in SIDES[case.direction].items()
        ],
        "record": {"samples": False, "datagrams": False},
    }


def of_aqmlab(case: Case, seed: int) -> Numbers:
    """Simulates a case once in aqmlab and returns the figures."""
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
    """The mean of each figure over the seeds."""
    return {name: fmean(run[name] for run in runs) for name in runs[0]}


def relative_error(runs: list[Numbers], figure: str) -> float:
    """Standard error of a figure's mean over the seeds, as a share of it."""
    values = [run[figure] for run in runs]
    return stdev(values) / sqrt(len(values)) / fmean(values)


def compared(only: str, saturated: int) -> Iterator[Mapping[str, object]]:
    """A row for each figure of each case."""
    for case in cases():
        if only not in case.name:
            continue
        seeds = case.seeds_of(saturated)
        runs_there = [of_ns3(case, seed) for seed in seeds]
        runs_here = [of_aqmlab(case, seed) for seed in seeds]
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
                "seeds": len(seeds),
            }


TIMED = (
    "1 down, 6.5 Mbit/s, saturated",
    "1 down, 65 Mbit/s, saturated",
    "1 down, 390 Mbit/s, saturated",
    "1 down, 65 Mbit/s, 30%",
    "1 up, 65 Mbit/s, saturated, 200 B",
    "5 down, 65 Mbit/s, saturated, 200 B",
    "5 up, 65 Mbit/s, saturated",
    "20 up, 26 Mbit/s, saturated",
    "5 up, 26 Mbit/s, 40%, at random",
    "3 up, 65 and 6.5 Mbit/s, saturated",
    "1 both, 65 Mbit/s, saturated",
    "2 both, 65 Mbit/s, saturated",
    "5 both, 65 Mbit/s, 30%, at random",
)
"""Cases of which the CPU time is compared, of each kind some."""
TURNS = 5


def cpu_s(command: Sequence[str], text: str = "") -> float:
    """User and system time of a process."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def compare_speeds(run: Path, only: str) -> None:
    """Prints the CPU time of whole processes with seed 1: medians of runs in turn."""
    there = str(program.built_of(SOURCE, LIBRARIES))
    print("| case | ns-3, s | aqmlab, ms | ratio |\n| --- | --- | --- | --- |")
    for case in cases():
        if case.name not in TIMED or only not in case.name:
            continue
        text = json.dumps(scenario(case, 1))
        theirs, ours = [], []
        for _ in range(TURNS):
            ours.append(cpu_s([str(run)], text))
            theirs.append(cpu_s([there, *options(case, 1)]))
        ratio = median(theirs) / median(ours)
        times = f"{median(theirs):.2f} | {median(ours) * 1e3:.1f}"
        print(f"| {case.name} | {times} | {ratio:.0f} |", flush=True)


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
    parser.add_argument(
        "--saturated", type=int, default=SATURATED, help="seeds where several saturate the channel"
    )
    parser.add_argument("--speed", type=Path, help="the program examples/run, to compare times")
    arguments = parser.parse_args()
    try:
        program.built_of(SOURCE, LIBRARIES)
    except Missing as missing:
        print(missing)
        return 0
    if arguments.speed:
        compare_speeds(arguments.speed, arguments.only)
        return 0
    rows = []
    print("| case | figure | ns-3 | aqmlab | ratio | within 10 % |")
    print("| --- | --- | --- | --- | --- | --- |")
    for row in compared(arguments.only, arguments.saturated):
        rows.append(row)
        cells = [row[name] for name in ("case", "figure", "ns3", "aqmlab", "ratio")]
        print(
            "|", *(f"{cell} |" for cell in cells), "yes |" if row["within"] else "no |", flush=True
        )
    good = sum(bool(row["within"]) for row in rows)
    print(f"\n{good} of {len(rows)} figures lie within 10 % of ns-3 {program.release()}'s.")
    if arguments.out and rows:
        write(arguments.out / "wifi.csv", rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
