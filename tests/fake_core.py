"""A test double of `aqmlab._core`: the same contract, no simulation.

Its numbers are simple functions of scenario and seed, so that tests can say what must come out.
As a script it is the command `aqmlab` with the double behind it. `FAKE_RUN_S` makes a run last,
`FAKE_LOG` names a file that gets one line per run begun.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
from pathlib import Path

import numpy as np

from aqmlab import _core

BYTES_PER_USER = 400.0


class ScenarioError(ValueError):
    pass


class Cancelled(Exception):
    pass


class DisciplineError(Exception):
    """Code of a user's own failed."""


class Fault(Exception):
    pass


class Overload:
    most_ns = 1_000_000

    def __init__(self, name: str) -> None:
        self.name = name
        self.packets = 0

    def run(self, packets: int) -> None:
        self.packets += packets


VERSION = {"version": "9.9.9", "build": "fake", "commit": "fake", "profile": "release"}
KNOWN = ["name", "duration", "warmup", "seed", "engine", "network", "link", "traffic", "record"]


UNITS = {
    "time": {"s": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0},
    "rate": {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    "": {"": 1.0, "%": 0.01},
    "bytes": {"B": 1.0, "kB": 1e3},
    "packets": {"packets": 1.0},
}


def quantity(text: str, unit: str) -> float:
    """Whole and decimal numbers with the commonest units."""
    found = re.fullmatch(r"\s*([-+.\d]+)\s*(\S*)\s*", text)
    if not found or found[2] not in UNITS[unit]:
        raise ScenarioError(f'"{text}" is not a quantity; write for example "20 ms"')
    return float(found[1]) * UNITS[unit][found[2]]


def check(text: str) -> str:
    scenario = json.loads(text)
    for field in scenario:
        if field not in KNOWN:
            raise ScenarioError(f'{field}: unknown field "{field}" (known: {", ".join(KNOWN)})')
    for i, link in enumerate(scenario.get("link", [])):
        forward = link.get("forward", {})
        if forward.get("min_th", 0) >= forward.get("max_th", 1e9):
            raise ScenarioError(f"link.{i}.forward: min_th must lie below max_th")
    scenario.setdefault("warmup", "0 s")
    scenario.setdefault("seed", 1)
    scenario["network"] = {"clients": 7, "servers": 7, **scenario.get("network", {})}
    return json.dumps(scenario, sort_keys=True)


def run(text: str, progress=None) -> dict:
    scenario = json.loads(check(text))
    if log := os.environ.get("FAKE_LOG"):
        with Path(log).open("a") as file:
            print(scenario["seed"], file=file)
    group = scenario["traffic"][0]
    if "load" in group:
        raise ScenarioError("traffic.0: a load must be calibrated into users first")
    duration = float(scenario["duration"].split()[0])
    for k in range(1, 201):
        time.sleep(float(os.environ.get("FAKE_RUN_S", "0")) / 200)
        if progress is not None and progress(duration * k / 200) is False:
            raise Cancelled("cancelled")
    return {
        "summary": json.dumps(_summary(scenario, group, duration)),
        "tables": _tables(scenario),
        "groups": [group.get("name", group["app"]) for group in scenario["traffic"]],
    }


def _summary(scenario: dict, group: dict, duration: float) -> dict:
    seed = scenario["seed"]
    limit = scenario["link"][0]["forward"].get("limit", 100)
    bits = float(scenario["link"][0]["rate"].split()[0])
    bits *= 1e6 if "M" in scenario["link"][0]["rate"] else 1.0
    wanted = group.get("users", 1) * BYTES_PER_USER * (1 + 0.001 * (seed - 2))
    return {
        "arrivals": 1000 + seed,
        "drops": seed,
        "drop_rate": seed / (1000 + seed),
        "utilisation": 0.5,
        "throughput_bytes_per_s": min(wanted, bits / 8),
        "queue_mean_packets": limit / 2 + 3.0 * seed,
        "queue_max_packets": limit,
        "response_p50_s": None if group["app"] == "bulk" else 0.3,
        "retransmission_classes": {"none": 10, "syn": seed},
        "simulated_s": duration,
        "wall_s": 0,
        "data_packets": 500,
        "fingerprint": hashlib.sha256(json.dumps(scenario, sort_keys=True).encode()).hexdigest()[
            :16
        ],
    }


def _tables(scenario: dict) -> dict:
    queue = np.arange(5, dtype="<u4") + scenario["seed"] % 2**31
    seconds = np.linspace(0, 1, 3)
    return {
        "queue": {
            "columns": [("bottleneck.forward", "<u4", queue.tobytes())],
            "every_s": (1.5, 0.003),
        },
        "responses": {
            "columns": [
                ("end_ns", "<u8", np.array([10, 20], dtype="<u8").tobytes()),
                ("failed", "|u1", np.array([0, 1], dtype="u1").tobytes()),
            ],
            "every_s": None,
        },
        "empty": {"columns": [("x", "<f8", b"")], "every_s": None},
        "seconds": {
            "columns": [("bottleneck.forward.drops", "<f8", seconds.tobytes())],
            "every_s": (1, 1),
        },
    }


#: The simulator's own (`test_measures.py` holds both together).
NAMES, *VALUES = json.loads(
    Path(__file__).with_name("golden").joinpath("measures.json").read_text("utf-8")
)
MEASURES = [dict(zip(NAMES, values, strict=True)) for values in VALUES]


def catalogue() -> str:
    fields = [
        {
            "name": "max_p",
            "meaning": "Largest early probability.",
            "type": "real",
            "unit": "",
            "min": 0,
            "max": 1,
            "choices": None,
            "default": 0.1,
            "source": "FJ93",
        }
    ]
    red = {"name": "red", "summary": "Random early detection.", "year": 1993, "fields": fields}
    plain = {"name": "plain", "summary": "RFC TCP.", "fields": []}
    web = {"name": "web", "summary": "Users.", "fields": [], "models": ["mah"]}
    packmime = {"name": "packmime", "summary": "A link.", "fields": [], "open_loop": True}
    both = {"name": "plain", "summary": "Also called plain.", "fields": []}
    sections = {"": [], "link": fields}
    reno = {"name": "reno", "summary": "Half at congestion.", "source": "RFC 5681", "fields": []}
    return json.dumps(
        {
            "aqm": [red],
            "tcp": [plain],
            "congestion": [reno],
            "traffic": [web, packmime, both],
            "access": [{"name": "cable", "summary": "A cable.", "fields": []}],
            "measures": MEASURES,
            "scenario": sections,
        }
    )


def variables(model: str) -> str:
    return json.dumps([VARIABLE])


def table_of(name: str, text: str, unit: str) -> str:
    if "prob" not in text:
        raise ScenarioError("line 1: no header")
    return json.dumps({**VARIABLE, "name": name, "unit": unit})


VARIABLE = {
    "name": "size",
    "unit": "bytes",
    "mean": 12.5,
    "sd": None,
    "capped_mean": 12.0,
    "quantiles": [[0.5, 10.0], [0.99, 4321.0]],
    "curve": [[1.0, 0.0], [10.0, 0.5], [100.0, 1.0]],
}


def version() -> str:
    return json.dumps(VERSION)


def resolve(text: str) -> str:
    """As the simulator, which is asked: it simulates nothing for it."""
    try:
        return _core.resolve(text)
    except _core.ScenarioError as error:
        raise ScenarioError(str(error)) from error


def memory(_text: str) -> tuple[int, int | None]:
    return 1_000, 10_000_000


def estimate(text: str) -> float | None:
    group = json.loads(text)["traffic"][0]
    return 390.0 if group["app"] in ("web", "unc", "packmime") and "load" in group else None


if __name__ == "__main__":
    from aqmlab.cli import answering as cli
    from aqmlab.simulator import engine

    VERSION.update(json.loads(os.environ.get("FAKE_VERSION", "{}")))
    engine._core = lambda: sys.modules["__main__"]  # type: ignore[assignment]
    cli.main()
