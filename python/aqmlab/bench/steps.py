"""Measures steps per CPU second of the Gymnasium environment, for `aqmlab bench`."""

from __future__ import annotations

import statistics
import time
from typing import Any

from aqmlab.errors import EngineError

SCENARIO: dict[str, Any] = {
    "duration": "60 s",
    "network": {"rtt": "100 ms"},
    "record": {"samples": False},
    "link": [{"rate": "10 Mbit/s"}],
    "traffic": [{"app": "bulk", "flows": 10, "tcp": "plain"}],
}
"""A scenario of ten bulk flows; the queue is added by `measure`, and an agent sets its `max_p` in
every step."""
INTERVALS_S = (0.1, 0.01)
SEEDS = range(1, 8)


def measure(queue: str) -> list[dict[str, Any]] | None:
    """Steps per CPU second, the median of seven episodes; None where Gymnasium is not installed."""
    try:
        from aqmlab import gym
    except EngineError:
        return None
    (link,) = SCENARIO["link"]
    scenario = {**SCENARIO, "link": [{**link, "forward": queue}]}
    tuned = gym.Parameter("max_p", 0.0, 1.0, first=0.02)
    measured = []
    for interval_s in INTERVALS_S:
        env = gym.AqmEnv(scenario, action=tuned, interval_s=interval_s)
        rates = [_steps_per_cpu_s(env, seed) for seed in SEEDS]
        measured.append({"interval_s": interval_s, "steps_per_cpu_s": statistics.median(rates)})
    return measured


def _steps_per_cpu_s(env: Any, seed: int) -> float:
    began, steps, over = time.process_time(), 0, False
    env.reset(seed=seed)
    while not over:
        over = env.step([0.02])[3]
        steps += 1
    return steps / (time.process_time() - began)


def sentences(measured: list[dict[str, Any]] | None) -> list[str]:
    """The measurements as sentences for the console."""
    return [
        f"gym: {row['steps_per_cpu_s']:,.0f} steps of {row['interval_s']} s per CPU second"
        for row in measured or ()
    ]
