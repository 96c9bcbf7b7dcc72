"""A small study for tests, so that those shipped can change, and the double that it runs on.

Processes that tests start import this and not a file of tests: pytest would take a third of what
they load.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

import fake_core

SMALL = Path(__file__).parent / "experiments" / "small"
SHORT = {"duration": "240 s", "warmup": "120 s", "seeds": 3, "calibration_seeds": 2, "looks": [1]}


class Double:
    """Stands for the simulator: plausible numbers from the scenario, and a count of its runs."""

    ScenarioError, Cancelled = fake_core.ScenarioError, fake_core.Cancelled
    Fault, DisciplineError = fake_core.Fault, fake_core.DisciplineError
    quantity = staticmethod(fake_core.quantity)
    check, version = staticmethod(fake_core.check), staticmethod(fake_core.version)
    memory, resolve = staticmethod(fake_core.memory), staticmethod(fake_core.resolve)

    def __init__(self):
        self.runs: list[dict] = []
        self.stop_after = math.inf

    def estimate(self, _text: str) -> float:
        return 411.0

    def catalogue(self) -> str:
        return json.dumps({"traffic": [{"name": "web"}]})

    def run(self, text: str, _progress=None) -> dict:
        scenario = json.loads(text)
        if len(self.runs) >= self.stop_after:
            raise KeyboardInterrupt
        self.runs.append(scenario)
        groups = [group.get("name", group["app"]) for group in scenario["traffic"]]
        described = {"summary": json.dumps(summary(scenario)), "tables": raw_tables(scenario)}
        return described | {"groups": groups}


def shape(scenario: dict) -> tuple[float, float, np.random.Generator]:
    """Offered load, a measure of congestion, and the run's own random numbers."""
    link, users = scenario["link"][0], scenario["traffic"][0]["users"]
    number, unit = link["rate"].split()
    rate = float(number) * (1e6 if unit.startswith("M") else 1.0)
    rng = np.random.default_rng([scenario["seed"], users])
    load = users * 411 * 8 / rate * (1 + 0.004 * rng.standard_normal())
    return load, min(max(0.0, load - 0.75) * 3, 1.4), rng


def summary(scenario: dict) -> dict:
    load, busy, rng = shape(scenario)
    queue = scenario["link"][0]["forward"]
    limit = queue.get("max_th", queue["limit"])
    drops = busy**3 * 0.2 / (1 + limit / 200)
    slow = 0.03 + 0.3 * busy**2 + 0.01 * abs(rng.standard_normal())
    rate = scenario["traffic"][0]["users"] * 411 * (1 + 0.004 * rng.standard_normal())
    shares = {"share_le_1s": 1 - slow, "share_1_2s": slow / 2, "share_2_3s": slow / 5}
    return shares | {
        "share_gt_3s": slow * 0.3,
        "throughput_bytes_per_s": rate if load < 0.97 else min(rate, 1.17e6),
        "drop_rate": drops,
        "queue_mean_packets": limit * min(busy, 0.95) * 0.6,
        "response_p50_s": 0.25 + busy * 0.6,
        "response_p10_s": None,
        "users": scenario["traffic"][0]["users"],
        "fingerprint": f"{abs(hash(str(sorted(scenario['traffic'][0].items())))) % 10**8:08d}",
    }


def raw_tables(scenario: dict) -> dict:
    _, busy, rng = shape(scenario)
    took = 60 + rng.lognormal(5.1 + busy, 0.8, 4000)
    upper = np.append(np.arange(1.0, 3001.0), [10_000.0, np.inf])
    count = np.diff(np.searchsorted(np.sort(took), np.append(0.0, upper)))
    second = np.arange(240.0)
    requests = rng.poisson(100, 240)
    columns = {
        "response_histogram": {"upper_ms": upper, "count": count},
        "seconds": {
            "time_s": second,
            "requests": requests,
            "requested_bytes": requests * rng.gamma(2, 5000, 240),
            "response_mean_s": (0.3 + busy * 0.4) * rng.gamma(20, 0.05, 240),
        },
        "queue": {"bottleneck.forward": np.zeros(10)},
    }
    return {
        name: {
            "columns": [(c, v.dtype.str, v.tobytes()) for c, v in table.items()],
            "every_s": None,
        }
        for name, table in columns.items()
    }
