"""The results of network tests in a run, and the true delays to compare them with.

A speed test measures its own round-trip times and throughputs; the simulator knows the delay of
every packet at every queue. A test's groups are recognised by the names from
`simulator.network_tests`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aqmlab.runs.laboratory import FinishedRun
from aqmlab.scores import aim, bufferbloat, ookla, responsiveness
from aqmlab.scores.form import mean, quantile
from aqmlab.simulator.engine import quantity
from aqmlab.simulator.forms import Traffic
from aqmlab.simulator.network_tests.responsiveness import FOREIGN, SELF
from aqmlab.simulator.network_tests.speed_tests import DOWN, IDLE, LATENCY, UP

from . import responsiveness as over_http2

SETTLES_S = 1.0
"""Seconds at the beginning of a phase that are left out for slow start; our own choice, without a
source."""
TRUTH = ("queue_delay_p50_s", "queue_delay_p99_s", "queue_delay_max_s")

NAMES = (
    *("download_bits_per_s", "upload_bits_per_s"),
    *(f"{phase}_rtt_{of}_s" for phase in (IDLE, DOWN, UP) for of in ("mean", "p50", "p95", "iqm")),
    *("grade-dslreports", "grade-waveform", "aim-streaming", "aim-gaming", "aim-rtc"),
    *("rpm", "rpm-networkquality", "rpm-goresponsiveness", "rpm-goresponsiveness-95"),
    *(
        "rpm-goresponsiveness-p90",
        "rpm-rating",
        "foreign_s",
        "tcp_s",
        "tls_s",
        "http_s",
        "loaded_s",
    ),
    *("probes", "goodput_bits_per_s", "confidence", "ended_s"),
)
"""Names of results: those of speed tests in the first lines, those of responsiveness in the last
ones."""


@dataclass(frozen=True)
class Said:
    """A test's results, numbers and letters by name; and the true queueing delays of every port."""

    own: Mapping[str, float | str]
    truth: Mapping[str, Mapping[str, float | None]]


def said(run: FinishedRun) -> Said | None:
    """The results of the run's test; None without one."""
    groups = {group.get("name", ""): group for group in run.scenario.get("traffic", [])}
    tested = over_http2.result(run)
    if tested is not None:
        own: dict[str, float | str] = dict(tested.numbers)
    elif FOREIGN in groups and any(_is_load(name) for name in groups):
        own = dict(_responsiveness(run))
    elif {DOWN, UP, LATENCY} <= groups.keys():
        own = _speed_test(run, groups)
    else:
        return None
    ports = run.summary.get("ports", {})
    truth = {name: {key: port.get(key) for key in TRUTH} for name, port in ports.items()}
    return Said(own, truth)


def round_trip_s(run: FinishedRun) -> float:
    """The round-trip time of the loaded line, in seconds, by the run's test: the median of its
    pings during the download, or 60 s divided by its RPM. NaN without a test."""
    found = said(run)
    if found is None:
        return math.nan
    if "rpm" in found.own:
        return 60.0 / float(found.own["rpm"])
    return float(found.own[f"{DOWN}_rtt_p50_s"])


def true_round_trip_s(run: FinishedRun) -> float:
    """The true round-trip time of packets at that time, in seconds: the network's propagation delay
    plus the mean queueing delays of all packets in both directions of the first link. NaN without a
    test or with several propagation delays."""
    rtt = run.scenario.get("network", {}).get("rtt")
    begin, end = _loaded_seconds(run)
    if begin >= end or not isinstance(rtt, int | float | str) or rtt == "tcpeval":
        return math.nan
    link = run.scenario["link"][0]
    fixed = _time(rtt) + 2 * _time(link.get("delay", 0.0))
    name = link.get("name", "bottleneck")
    return fixed + sum(
        _mean_wait(run, f"{name}.{way}", begin, end) for way in ("forward", "reverse")
    )


def _loaded_seconds(run: FinishedRun) -> tuple[int, int]:
    """First and last whole second of the download, or of the intervals that the test counts."""
    groups = {group.get("name", ""): group for group in run.scenario.get("traffic", [])}
    tested = over_http2.result(run)
    if tested is not None:
        return math.ceil(tested.begin), math.floor(tested.end)
    if FOREIGN in groups:
        end = run.summary["simulated_s"]
        return math.ceil(end - run.summary["measured_s"]), math.floor(end)
    if DOWN not in groups:
        return 0, 0
    begin, end = _phase(groups[DOWN])
    return math.ceil(begin + SETTLES_S), math.floor(end)


def _mean_wait(run: FinishedRun, port: str, begin: int, end: int) -> float:
    """The mean queueing delay of the packets that left a port in these seconds."""
    seconds = run.columns("seconds")
    left = seconds[f"{port}.departures"].astype(float)[begin:end]
    waited = seconds[f"{port}.queue_delay_mean_s"].astype(float)[begin:end]
    return float((left * waited).sum() / left.sum()) if left.sum() else 0.0


def _time(value: object) -> float:
    return float(value) if isinstance(value, int | float) else quantity(str(value), "time")


def _phase(group: Traffic) -> tuple[float, float]:
    begin = _time(group.get("start", 0.0))
    return begin, begin + _time(group.get("lasts"))


def _speed_test(run: FinishedRun, groups: Mapping[str, Traffic]) -> dict[str, float | str]:
    down, up = _phase(groups[DOWN]), _phase(groups[UP])
    idle = (_time(groups[LATENCY].get("start", 0.0)), down[0])
    trips = {
        phase: _round_trips(run, begin, end)
        for phase, (begin, end) in {
            IDLE: idle,
            DOWN: (down[0] + SETTLES_S, down[1]),
            UP: (up[0] + SETTLES_S, up[1]),
        }.items()
    }
    if not trips[IDLE]:  # a method without an idle phase uses its smallest sample
        trips[IDLE] = [min(_round_trips(run, down[0], up[1]), default=math.nan)]
    own: dict[str, float | str] = {
        "download_bits_per_s": _throughput(run, DOWN, down),
        "upload_bits_per_s": _throughput(run, UP, up),
    }
    for phase, samples in trips.items():
        own |= {
            f"{phase}_rtt_mean_s": mean(samples),
            f"{phase}_rtt_p50_s": quantile(samples, 0.5),
            f"{phase}_rtt_p95_s": quantile(samples, 0.95),
            f"{phase}_rtt_iqm_s": ookla.interquartile_mean(samples),
        }
    return own | _letters(own, trips[IDLE])


def _letters(own: Mapping[str, Any], idle: Sequence[float]) -> dict[str, float | str]:
    more = {way: own[f"{way}_rtt_mean_s"] - own[f"{IDLE}_rtt_mean_s"] for way in (DOWN, UP)}
    loaded = max(own[f"{way}_rtt_p50_s"] for way in (DOWN, UP))
    gaps = [abs(b - a) for a, b in itertools.pairwise(idle)]
    found = {
        "latency": 1e3 * own[f"{IDLE}_rtt_p50_s"],
        "loaded_latency_increase": 1e3 * (loaded - own[f"{IDLE}_rtt_p50_s"]),
        "download": own["download_bits_per_s"],
    }
    if gaps:
        found["jitter"] = 1e3 * mean(gaps)
    return {
        "grade-dslreports": bufferbloat.dslreports(more[DOWN], more[UP]),
        "grade-waveform": bufferbloat.waveform(more[DOWN], more[UP]),
        **{f"aim-{use}": word for use, word in aim.words(found).items()},
    }


def _round_trips(run: FinishedRun, begin: float, end: float) -> list[float]:
    """Round-trip times of the echo requests that were sent from `begin` to `end` and answered,
    s."""
    table = run.columns("pings")
    sent, trips = table["sent_ns"].astype(float) / 1e9, table["rtt_s"].astype(float)
    kept = (sent >= begin) & (sent < end) & np.isfinite(trips)
    return [float(trip) for trip in trips[kept]]


def _throughput(run: FinishedRun, group: str, phase: tuple[float, float]) -> float:
    """Payload that arrived in the whole seconds of a phase, bit/s."""
    begin, end = math.ceil(phase[0] + SETTLES_S), math.floor(phase[1])
    counted = run.columns("seconds")[f"{group}.goodput_bytes"].astype(float)[begin:end]
    return float(8 * counted.mean()) if len(counted) else math.nan


def _responsiveness(run: FinishedRun) -> dict[str, float]:
    """RPM by the draft and as goresponsiveness computes it, of the measured interval."""
    names = [group.get("name") for group in run.scenario["traffic"]]
    table = run.columns("responses")
    counted = (table["group"] == names.index(FOREIGN)) & (table["failed"] == 0)
    begin = (run.summary["simulated_s"] - run.summary["measured_s"]) * 1e9
    counted &= table["end_ns"].astype(float) >= begin
    whole = [float(ns) / 1e9 for ns in table["duration_ns"][counted]]
    loaded = _loaded(run)
    foreign = responsiveness.trimmed_mean([probe / 2 for probe in whole])
    seconds = run.columns("seconds")
    loads = [name for name in names if _is_load(name)]
    goodput = np.sum([seconds[f"{name}.goodput_bytes"] for name in loads], axis=0)
    return {
        "rpm": responsiveness.of_means(foreign, loaded),
        "rpm-goresponsiveness": 60.0 / ((foreign + loaded) / 2),
        "foreign_s": foreign,
        "loaded_s": loaded,
        "probes": float(len(whole)),
        "goodput_bits_per_s": float(8 * np.mean(goodput[int(begin / 1e9) :])),
    }


def _is_load(name: object) -> bool:
    return isinstance(name, str) and name.startswith(f"{SELF} ")


def _loaded(run: FinishedRun) -> float:
    """The trimmed mean round trip of the load-generating connections, each by its samples."""
    by_group = run.summary.get("tcp_rtt_by_group", {})
    found = [of for name, of in by_group.items() if _is_load(name)]
    # A single sample has no trimmed mean.
    found = [of for of in found if of["trimmed_mean_s"] is not None]
    samples = sum(of["samples"] for of in found)
    weighed = math.fsum(of["samples"] * of["trimmed_mean_s"] for of in found)
    return weighed / samples if samples else math.nan
