"""Measures the simulator's speed and memory on fixed scenarios, compared with ns-2 and ns-3 if they
are installed, and the cost of a packet in every queue discipline; runs the other benchmarks.

Each scenario runs in a process of its own that imports nothing but `aqmlab._core`, so that the peak
memory is that of the simulator (plus some 10 MiB of Python itself).
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Required, TypedDict

from aqmlab import units
from aqmlab.errors import AqmlabError
from aqmlab.experiment import spec
from aqmlab.runs import calibrate
from aqmlab.simulator import engine
from aqmlab.simulator.forms import Scenario, Traffic

from . import commands as bench_commands
from . import other_simulators, plugin, steps

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from aqmlab import _core

BULK_SECONDS = 300
"""Simulated seconds of the bulk scenario of the benchmark, here and in ns-2: enough packets for a
repeatable result."""

BULK: Scenario = {
    "name": "bench-A",
    "duration": f"{BULK_SECONDS} s",
    "seed": 1,
    "network": {"clients": 50, "servers": 50, "rtt": "100 ms"},
    "link": [
        {
            "name": "bottleneck",
            "rate": "100 Mbit/s",
            "framing": "none",
            "forward": {
                "aqm": "red",
                "profile": "ns2",
                "gentle": True,
                "min_th": 60,
                "max_th": 180,
                "w_q": 0.002,
                "max_p": 0.1,
                "limit": 300,
                "queue_in_bytes": False,
                "byte_probability": False,
            },
            "reverse": {"aqm": "droptail", "limit": 10000},
        }
    ],
    "traffic": [{"app": "bulk", "flows": 50, "tcp": {"profile": "plain"}}],
    "record": {"samples": False},
}
"""The bulk scenario: 50 flows, NewReno with SACK, over gentle RED at 100 Mbit/s; statistics on.

The same queue and topology as `validation/ns2/scenario_a.tcl`.
"""

TIMED = (
    f"times ns-2: data packets per CPU second of scenario A, {BULK_SECONDS} simulated seconds "
    "on both sides; of ns-2 the whole process, of aqmlab the run without the start of Python; "
    "times ns-3: the same senders and queue, without its set-up"
)

WEB_LOAD = 0.98
WEB: Scenario = {
    "name": "bench-W",
    "duration": "90 min",
    "warmup": "20 min",
    "seed": 1,
    "network": {"rtt": {"min": "14 ms", "max": "144 ms", "draw": "pair"}},
    "link": [
        {
            "name": "bottleneck",
            "rate": "10 Mbit/s",
            "framing": "ethernet",
            "forward": {"aqm": "droptail", "limit": 120},
            "reverse": {"aqm": "droptail", "limit": 50},
        }
    ],
    "traffic": [{"app": "web", "model": "mah-fit", "tcp": {"profile": "freebsd-2.2.8"}}],
    "record": {"queue_every": "3 ms", "responses": True, "samples": True},
}
"""The web scenario: users of the Mah model that load a link of 10 Mbit/s to 98 %, by the model's
own estimate, and a FIFO of 120 packets."""

MODELS: dict[str, Traffic] = {
    "unc": {"app": "unc", "load": WEB_LOAD},
    "packmime": {"app": "packmime", "load": 0.9},
}
"""The web scenario with the other traffic models. PackMime's connections arrive independently of
the network: above some 96 %, the share that Ethernet's framing leaves, the backlog would grow
without limit."""

QUEUE_PACKETS = 20_000
"""Number of packets of a repeat: about a millisecond, shorter than a time slice of the
scheduler."""

QUEUE_REPEATS = 25

_CHILD = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from aqmlab import _core
text = sys.stdin.read()
steps = []
def progress(simulated_s):
    steps.append(time.process_time())
    return True
wall, cpu = time.perf_counter(), time.process_time()
result = _core.run(text, progress)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
try:
    lines = open("/proc/self/status").read().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
except (OSError, StopIteration):
    import resource
    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
summary = json.loads(result["summary"])
moving = steps[-1] - steps[0]
measured = {"summary": summary, "wall_s": wall, "cpu_s": cpu, "moving_s": moving, "peak": peak}
json.dump(measured, sys.stdout)
"""


class Speed(TypedDict, total=False):
    """The results of a run in a process of its own: speed, memory, and the fingerprint."""

    data_packets_per_s: Required[float]
    events_per_packet: Required[float | None]
    events: Required[Any]
    wall_s: Required[float]
    cpu_s: Required[float]
    moving_s: Required[float]
    peak_rss_mib: Required[float]
    data_packets: Required[int]
    simulated_s: Required[float]
    simulated_per_wall: Required[float]
    fingerprint: Required[str]
    data_packets_per_cpu_s: float
    instructions: int
    users: int


class QueueCost(TypedDict):
    """The cost of a packet in a discipline, also as a multiple of the cost in the reference
    discipline."""

    name: str
    ns_per_packet: float
    times: dict[str, float]
    bar_ns: int
    within_bar: bool


Benchmark = dict[str, Any]
"""The document of `aqmlab bench --json`: a `Speed` for the bulk scenario (key `A`), for the web
scenario (`W`) and for the web scenario with each other traffic model; `queues`; and the results of
the other modules of this package."""


def measure() -> Benchmark:
    """The document of `aqmlab bench --json`."""
    version = engine.version()
    if version.profile != "release":
        other_simulators.note(
            f"this is a {version.profile} build: its speed means nothing, build with `make run`"
        )
    bulk, bulk_rate = _run(BULK)
    bulk["data_packets_per_cpu_s"] = bulk_rate
    others: dict[str, float | None] = {}
    for name, rate in other_simulators.packets_per_cpu_s(BULK_SECONDS).items():
        others[f"ratio_to_{name}"] = bulk_rate / rate if rate else None
        others[f"{name}_data_packets_per_cpu_s"] = rate
    users = web_users()
    web, _ = _run({**WEB, "traffic": [{**WEB["traffic"][0], "users": users}]})
    web["users"] = users
    models = {f"W_{name}": _run(_model(name))[0] for name in MODELS}
    return {
        "A": {**bulk, **others},
        "W": web,
        **models,
        "queues": queues(),
        "commands": bench_commands.measure(),
        "gym": steps.measure("red"),
        "own": plugin.measure(BULK),
        "timed": TIMED,
        "machine": machine(),
        "version": version.version,
        "commit": version.commit,
        "profile": version.profile,
    }


def queues() -> list[QueueCost]:
    """The cost of a packet in each discipline: enqueue, dequeue and updates, with 50 flows in
    overload.

    Costs are medians of repeats. Each repeat alternates with one of the first discipline of the
    list, so that the ratio is meaningful on a machine that others use too.
    """
    names = [entry["name"] for entry in engine.catalogue()["aqm"]]
    return [_queue(name, names[0]) for name in names]


def _queue(name: str, yardstick: str) -> QueueCost:
    load, unit = engine.overload(name), engine.overload(yardstick)
    costs, ratios = [], []
    for _ in range(QUEUE_REPEATS):
        one = _ns_per_packet(unit)
        costs.append(_ns_per_packet(load))
        ratios.append(costs[-1] / one)
    cost = statistics.median(costs)
    return {
        "name": name,
        "ns_per_packet": cost,
        "times": {yardstick: statistics.median(ratios)},
        "bar_ns": load.most_ns,
        "within_bar": cost <= load.most_ns,
    }


def _ns_per_packet(load: _core.Overload) -> float:
    began = time.perf_counter_ns()
    load.run(QUEUE_PACKETS)
    return (time.perf_counter_ns() - began) / QUEUE_PACKETS


def web_users() -> int:
    """The number of users of the web scenario: they load the link to 98 % by the traffic model's
    estimate, with equal numbers on 7 client machines."""
    per_user = engine.estimate({**WEB, "traffic": [{**WEB["traffic"][0], "load": WEB_LOAD}]})
    if not per_user:
        raise AqmlabError("the web model gives no estimate of its load: build with `make run`")
    return round(WEB_LOAD * 10e6 / 8 / per_user / 7) * 7


def _model(name: str) -> Scenario:
    """The web scenario with another traffic model; the number of users follows from the estimate of
    the load by that model."""
    group: Traffic = {**MODELS[name], "tcp": WEB["traffic"][0].get("tcp")}
    scenario: Scenario = {**WEB, "name": f"bench-W-{name}", "traffic": [group]}
    if calibrate.is_open_loop(scenario):
        return calibrate.resolve(scenario)
    per_user = engine.estimate(scenario)
    if not per_user:
        raise AqmlabError(f"the model {name} gives no estimate of its load: build with `make run`")
    users = round(units.share(group.get("load")) * 10e6 / 8 / per_user / 7) * 7
    return spec.set_path(scenario, "traffic.0.users", users)


def run_apart(scenario: Scenario, instructions: bool = False) -> Speed:
    """Measures a run of a scenario in a process of its own; with `instructions`, valgrind also
    counts the instructions of that process."""
    count = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    child = subprocess.run(
        [
            *(count if instructions else []),
            sys.executable,
            "-c",
            _CHILD,
            str(Path(__file__).resolve().parents[1]),
        ],
        input=json.dumps(scenario),
        capture_output=True,
        text=True,
        check=False,
    )
    if child.returncode != 0:
        reason = (child.stderr.strip().splitlines() or ["no message"])[-1]
        raise AqmlabError(f"benchmark {scenario.get('name')} failed ({reason}): check the build")
    answer = json.loads(child.stdout)
    summary, packets = answer["summary"], answer["summary"]["data_packets"]
    events = summary.get("events")
    measured: Speed = {
        "data_packets_per_s": packets / answer["wall_s"],
        "events_per_packet": events / packets if events is not None and packets else None,
        "events": events,
        "wall_s": answer["wall_s"],
        "cpu_s": answer["cpu_s"],
        "moving_s": answer["moving_s"],
        "peak_rss_mib": answer["peak"],
        "data_packets": packets,
        "simulated_s": summary["simulated_s"],
        "simulated_per_wall": summary["simulated_s"] / answer["wall_s"],
        "fingerprint": summary["fingerprint"],
    }
    if instructions:
        counted = next(line for line in child.stderr.splitlines() if "Collected" in line)
        measured["instructions"] = int(counted.split()[-1])
    return measured


def _run(scenario: Scenario) -> tuple[Speed, float]:
    """Runs a scenario in a process of its own; returns also its data packets per CPU second."""
    measured = run_apart(scenario)
    return measured, measured["data_packets"] / measured["cpu_s"]


def machine() -> str:
    """The processor, its cores and the system, in words."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(
            line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")
        )
    except (OSError, StopIteration):
        pass
    cores = os.cpu_count()
    return (
        f"{name}, {cores} core{'s' if cores != 1 else ''}, {platform.system()} {platform.machine()}"
    )


def show(measured: Benchmark, console: Console) -> None:
    """Prints the measurements on the console."""
    from rich.table import Table

    table = Table()
    table.add_column("")
    table.add_column("A: 50 bulk flows, RED, 100 Mbit/s", justify="right")
    table.add_column("W: web at 98 %, FIFO, 10 Mbit/s", justify="right")
    table.add_column("W with unc", justify="right")
    table.add_column("W with packmime at 90 %", justify="right")
    rows = (
        ("data packets per second", "data_packets_per_s", "{:,.0f}"),
        ("events per data packet", "events_per_packet", "{:.2f}"),
        ("wall clock, s", "wall_s", "{:.2f}"),
        ("simulated / wall", "simulated_per_wall", "{:,.0f}"),
        ("peak memory, MiB", "peak_rss_mib", "{:.1f}"),
        ("times ns-2", "ratio_to_ns2", "{:.1f}"),
        ("times ns-3", "ratio_to_ns3", "{:.1f}"),
        ("users", "users", "{:,}"),
    )
    for title, field, form in rows:
        cells = [measured[which].get(field) for which in ("A", "W", "W_unc", "W_packmime")]
        table.add_row(title, *("-" if cell is None else form.format(cell) for cell in cells))
    console.print(table)
    if any(measured["A"].get(f"ratio_to_{name}") for name in ("ns2", "ns3")):
        console.print(measured["timed"])
    if measured["queues"]:
        console.print(_queue_table(measured["queues"]))
    console.print(bench_commands.table(measured["commands"]))
    for sentence in (*steps.sentences(measured["gym"]), plugin.sentence(measured["own"])):
        console.print(sentence)
    console.print(
        f"{measured['machine']}; aqmlab {measured['version']} ({measured['commit']}), "
        f"{measured['profile']} build"
    )


def _queue_table(queues: list[QueueCost]) -> Table:
    from rich.table import Table

    (yardstick,) = queues[0]["times"]
    table = Table()
    table.add_column("a packet of 50 flows in a steady overload")
    for title in ("ns", f"times {yardstick}", "bar, ns", ""):
        table.add_column(title, justify="right")
    for queue in queues:
        table.add_row(
            queue["name"],
            f"{queue['ns_per_packet']:.0f}",
            f"{queue['times'][yardstick]:.1f}",
            str(queue["bar_ns"]),
            "ok" if queue["within_bar"] else "over",
        )
    return table
