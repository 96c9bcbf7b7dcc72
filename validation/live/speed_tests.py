"""What speed tests say behind `aqmlab live`, and what was predicted: RPM, letter, throughput.

Usage: python -m validation.live.speed_tests --goresponsiveness FOLDER --out FILE
goresponsiveness, iperf3 and irtt run over the kernel's TCP behind the queues; these tests are
simulated as well. FOLDER has goresponsiveness' source, which `go build` makes a program of.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import aqmlab
from aqmlab.scores import bufferbloat
from aqmlab.tables import network_tests

HERE = Path(__file__).parent
QUEUES: Mapping[str, dict[str, Any]] = {
    "FIFO 50": {"aqm": "droptail", "limit": 50},
    "FIFO 300": {"aqm": "droptail", "limit": 300},
    "PIE": {"aqm": "pie"},
    "CoDel": {"aqm": "codel"},
    "FQ-CoDel": {"aqm": "fq_codel"},
    "CAKE": {"aqm": "cake"},
}
RATES = ("10 Mbit/s", "20 Mbit/s")
FRAME, UNSENT = 2865, 2887
"""Payload of a frame, and what may wait to be sent before another: two packets, TLS included. The
server's program is Go's, whose write waits with a frame that it has chosen."""
PROBES, TIMEOUT_S, FLOWS, IDLE_S, LOADED_S = 10, 20, 8, 3, 12
STANDARD_ERROR = 0.05
"""Standard error wanted for the mean of a case's live runs, relative to the mean."""
ATTEMPTS = 3
"""Runs of which one must print a number."""
SERVER = "10.128.0.1"
_RPM = re.compile(r"RPM: *([0-9.]+) \((P90|Single-Sided)")


def line(queue: Mapping[str, Any], rate: str, duration: str) -> dict[str, Any]:
    """A line of this rate and 20 ms with the queue both ways, and nobody on it."""
    link = {"name": "line", "rate": rate, "forward": queue, "reverse": queue}
    network = {"rtt": "20 ms", "clients": 1, "servers": 1}
    return {
        "name": "line",
        "duration": duration,
        "warmup": "1 s",
        "network": network,
        "link": [link],
    }


def predicted(queue: Mapping[str, Any], rate: str, seeds: int) -> dict[str, Any]:
    """Means over seeds of what the simulator predicts."""
    test = {
        "app": "goresponsiveness",
        "tcp": "linux",
        "probes_per_s": PROBES,
        "unsent": "2 packets",
        "writes": "blocking",
    }
    rpm: list[float] = []
    p90, more, goodput = [], [], []
    for seed in range(1, seeds + 1):
        run = _simulated(line(queue, rate, f"{TIMEOUT_S + 1} s") | {"traffic": [test]}, seed)
        said = network_tests.said(run)
        if said is None:
            raise RuntimeError("the test says nothing")
        rpm.append(float(said.own["rpm-goresponsiveness-95"]))
        p90.append(float(said.own["rpm-goresponsiveness-p90"]))
        run = _simulated(_loaded(queue, rate), seed)
        pings = run.columns("pings")
        more.append(_increase(pings["sent_ns"] / 1e9, pings["rtt_s"]))
        seconds = run.columns("seconds")["load.goodput_bytes"][IDLE_S + 2 : IDLE_S + LOADED_S]
        goodput.append(8e-6 * float(seconds.mean()))
    increase = statistics.mean(more)
    return {
        "rpm": statistics.mean(rpm),
        "scatter": statistics.stdev(rpm) / statistics.mean(rpm),
        "p90": statistics.mean(p90),
        "increase_ms": 1e3 * increase,
        "grade": bufferbloat.dslreports(increase, increase),
        "mbit_per_s": statistics.mean(goodput),
    }


def _loaded(queue: Mapping[str, Any], rate: str) -> dict[str, Any]:
    load = {"name": "load", "app": "bulk", "flows": FLOWS, "side": "servers", "tcp": "linux"}
    load |= {"start": f"{IDLE_S} s", "start_within": "0 s"}
    pings = {"name": "pings", "app": "ping", "flows": 1, "side": "clients", "interval": "0.1 s"}
    pings |= {"start": "0 s", "start_within": "0 s"}
    record = {"record": {"goodput": True}, "traffic": [load, pings]}
    return line(queue, rate, f"{IDLE_S + LOADED_S} s") | record


def _simulated(scenario: dict[str, Any], seed: int) -> Any:
    return aqmlab.run({"scenario": scenario}, seed=seed, jobs=1, progress=False).runs[0]


def _increase(sent: Any, trips: Any) -> float:
    """Mean round trip under load less that before, s; its first second does not count."""
    idle = trips[sent < IDLE_S]
    loaded = trips[(sent > IDLE_S + 1) & (trips == trips)]
    return float(loaded.mean() - idle[idle == idle].mean())


def live_runs(scatter: float, least: int) -> int:
    """How many live runs give a mean with a standard error of 5 %, by the scatter of the simulated
    ones (a share of their mean): when the test ends is chance, and so are its flows."""
    return max(least, math.ceil((scatter / STANDARD_ERROR) ** 2))


def measured(queue: Mapping[str, Any], rate: str, programs: Path, runs: int) -> dict[str, Any]:
    """Means over runs of what goresponsiveness says behind the queue; irtt beside iperf3 once."""
    each = [_with_a_number(queue, rate, programs) for _ in range(runs)]
    found = {name: statistics.mean(one[name] for one in each) for name in ("rpm", "p90")}
    found |= {
        "unstable": sum(one["unstable"] for one in each),
        "without": sum(one["without"] for one in each),
        "each": [one["rpm"] for one in each],
    }
    return found | {"load": os.getloadavg()[1]} | _letter(queue, rate)


def _with_a_number(queue: Mapping[str, Any], rate: str, programs: Path) -> dict[str, Any]:
    """The first of a few runs in which goresponsiveness prints a number, and how many printed none:
    it divides by the answers of its last intervals, of which there may be none."""
    for without in range(ATTEMPTS):
        said = _responsiveness(queue, rate, programs)
        if said is not None:
            return said | {"without": without}
    raise RuntimeError(f"goresponsiveness printed no RPM in {ATTEMPTS} runs")


def _responsiveness(queue: Mapping[str, Any], rate: str, programs: Path) -> dict[str, Any] | None:
    url = f"https://{SERVER}:4043/config"
    serve = f"{programs / 'rpm_server'} {SERVER}:4043 {FRAME} {UNSENT}"
    client = f"sleep 1; exec {programs / 'networkQuality'} -url {url} -rpm.tmp 95"
    client = ["bash", "-c", f"{client} -rpm.mps {PROBES} -rpm.timeout {TIMEOUT_S}"]
    with _real_time(programs):
        text = _live(line(queue, rate, f"{2 * TIMEOUT_S + 60} s"), serve, client)
    download = text.split("Download:", 1)[-1].split("Upload:", 1)[0]
    said = {kind: float(value) for value, kind in _RPM.findall(download)}
    if len(said) != 2:
        return None
    unstable = "did not run to stability" in download
    return {"rpm": said["Single-Sided"], "p90": said["P90"], "unstable": unstable}


@contextlib.contextmanager
def _real_time(programs: Path) -> Iterator[None]:
    """Gives programs of this folder real-time priority (SCHED_FIFO, needs root) as they start, so
    that what others do on the machine is not measured."""
    over = threading.Event()

    def raise_all() -> None:
        while not over.wait(0.5):
            found = subprocess.run(["pgrep", "-f", f"^{programs}/"], capture_output=True, text=True)
            for pid in found.stdout.split():
                subprocess.run(["chrt", "-a", "-f", "-p", "1", pid], capture_output=True)

    thread = threading.Thread(target=raise_all)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _letter(queue: Mapping[str, Any], rate: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        pings, load = Path(folder) / "irtt.json", Path(folder) / "iperf3.json"
        script = (
            f"sleep 1; irtt client -q -i 100ms -d {IDLE_S + LOADED_S - 1}s -o {pings} {SERVER} >&2 "
            f"& sleep {IDLE_S}; "
            f"iperf3 -J -R -P {FLOWS} -t {LOADED_S - 1} -c {SERVER} > {load}; wait"
        )
        serve = ["bash", "-c", "irtt server & exec iperf3 -s"]
        _live(line(queue, rate, f"{IDLE_S + LOADED_S + 20} s"), serve, ["bash", "-c", script])
        return _of_files(pings, load)


def _of_files(pings: Path, load: Path) -> dict[str, Any]:
    trips = json.loads(pings.read_text())["round_trips"]
    begin = trips[0]["timestamps"]["client"]["send"]["wall"]
    answered = [one for one in trips if one.get("delay", {}).get("rtt")]
    sent = [(one["timestamps"]["client"]["send"]["wall"] - begin) / 1e9 for one in answered]
    times = [one["delay"]["rtt"] / 1e9 for one in answered]
    idle = [t for at, t in zip(sent, times, strict=True) if at < IDLE_S]
    busy = [t for at, t in zip(sent, times, strict=True) if at > IDLE_S + 1]
    increase = statistics.mean(busy) - statistics.mean(idle)
    of = json.loads(load.read_text())["end"]["sum_received"]["bits_per_second"]
    letter = bufferbloat.dslreports(increase, increase)
    return {"increase_ms": 1e3 * increase, "grade": letter, "mbit_per_s": of / 1e6}


def _live(scenario: dict[str, Any], serve: str | list[str], client: list[str]) -> str:
    """Runs a program behind a line; what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "line.toml"
        # A group is needed, and --alone leaves it out.
        idle = {"app": "bulk", "flows": 1, "tcp": "linux"}
        file.write_text(_toml(scenario | {"traffic": [idle]}))
        words = serve if isinstance(serve, str) else shlex.join(serve)
        command = [sys.executable, "-m", "aqmlab", "live", str(file), "--alone", "--server", words]
        command += ["--out", f"{folder}/out", "--", *client]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{shlex.join(command)}:\n{done.stdout}{done.stderr}")
        return done.stdout


def _toml(scenario: Mapping[str, Any]) -> str:
    """As a file: tables are written in a line."""

    def value(of: Any) -> str:
        if isinstance(of, dict):
            return "{ " + ", ".join(f"{key} = {value(one)}" for key, one in of.items()) + " }"
        if isinstance(of, list):
            return "[" + ", ".join(map(value, of)) + "]"
        return json.dumps(of)

    return "".join(f"{key} = {value(of)}\n" for key, of in scenario.items())


LETTERS = ["A+", "A", "B", "C", "D", "F"]


def row(case: str, said: Mapping[str, Any], real: Mapping[str, Any]) -> str:
    """The table's row for a case, with the numbers of both programs."""
    off = said["rpm"] / real["rpm"] - 1
    cells = [
        case,
        f"{said['rpm']:.0f}",
        f"{real['rpm']:.0f} ({min(real['each']):.0f} to {max(real['each']):.0f})",
        f"{len(real['each'])}, {real['unstable']}",
        f"{100 * off:+.0f} %",
        f"{said['p90']:.0f}, {real['p90']:.0f}",
        f"{said['increase_ms']:.1f}, {real['increase_ms']:.1f} ms",
        f"{said['grade']}, {real['grade']}",
        f"{said['mbit_per_s']:.2f}, {real['mbit_per_s']:.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


HEADER = """\
| queue | RPM predicted | measured | runs, unstable | off | P90 | more delay | letter | Mbit/s |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: |"""


def verdict(cases: list[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> str:
    """How many cases hold the bars: RPM within 15 %, letter within one step."""
    near = sum(abs(said["rpm"] / real["rpm"] - 1) <= 0.15 for said, real in cases)
    steps = [abs(LETTERS.index(a["grade"]) - LETTERS.index(b["grade"])) for a, b in cases]
    letters = sum(step <= 1 for step in steps)
    of = len(cases)
    return f"RPM within 15 %: {near} of {of}; letter within one step: {letters} of {of}"


def build(source: Path, folder: Path) -> None:
    """Builds both programs, networkQuality and rpm_server."""
    for what, program in ((source, "networkQuality"), (HERE / "rpm_server", "rpm_server")):
        subprocess.run(["go", "build", "-o", str(folder / program), "."], cwd=what, check=True)


MEASURED = {"rpm", "p90", "each", "unstable", "increase_ms", "grade", "mbit_per_s"}
"""What is kept of a case's live runs, and shown."""


def kept(file: Path) -> dict[str, dict[str, Any]]:
    """The live runs of a file that this program wrote, by their case; none without a file."""
    if not file.exists():
        return {}
    try:
        live = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        live = None
    each = live.values() if isinstance(live, dict) else [None]
    whole = all(isinstance(one, dict) and one.keys() >= MEASURED for one in each)
    if not whole:
        raise SystemExit(f"speed_tests: {file} holds no live runs of this program: name another")
    return live


def main() -> int:
    """Runs every case that has not been run live, simulates each, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--goresponsiveness", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="live runs: those in it are kept")
    parser.add_argument("--only", default="", help="cases whose name has this word")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3, help="live runs of a case at least")
    options = parser.parse_args()
    missing = [one for one in ("go", "iperf3", "irtt") if shutil.which(one) is None]
    if missing:
        print(f"speed_tests: {', '.join(missing)} not installed: left out")
        return 0
    live, cases = kept(options.out), []
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        build(options.goresponsiveness, Path(folder))
        print(HEADER)
        for rate, name in itertools.product(RATES, QUEUES):
            case = f"{name}, {rate}"
            if case not in live and options.only not in case:
                continue
            said = predicted(QUEUES[name], rate, options.seeds)
            if case not in live:
                runs = live_runs(said["scatter"], options.runs)
                live[case] = measured(QUEUES[name], rate, Path(folder), runs)
                options.out.write_text(json.dumps(live, indent=1) + "\n")
            cases.append((said, live[case]))
            print(row(case, *cases[-1]), flush=True)
    print(verdict(cases))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
