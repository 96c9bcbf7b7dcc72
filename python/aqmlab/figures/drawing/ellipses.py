"""Delay against goodput, one ellipse for every discipline."""

from __future__ import annotations

import numpy as np

from aqmlab import units

from .cdf import asked
from .material import Drawing, Material, Sample, samples

#: Seconds that one point is the mean of (constructed).
EVERY_S = 5


def ellipses(spec: dict, material: Material) -> Drawing | None:
    """Queueing delay and goodput of stretches of `every_s` seconds, all seeds together, as the
    ellipse of one standard deviation of a normal law in two dimensions, and their medians.

    `port` is the queue whose delay counts (by default the studied one), `traffic` names the traffic
    groups whose goodput counts (by default all); `mark` lists the labels that are drawn in colour
    where the others only stand behind. After K. Winstein and H. Balakrishnan, *TCP ex Machina*,
    SIGCOMM 2013, as RFC 7928 section 2.7 asks for a comparison of delay and goodput.
    """
    warmup = units.seconds(material.settings["warmup"])
    every = int(spec.get("every_s", EVERY_S))
    curves = []
    for sample in samples(spec, material):
        stretches = [points(run, spec, warmup, every) for run in _runs(sample)]
        found = np.concatenate([s for s in stretches if len(s)] or [np.empty((0, 2))])
        if len(found) > 2:
            curves.append({"label": sample.label, **ellipse(found)})
    if not curves:
        return None
    note = (
        f"Ellipses: one standard deviation of stretches of {every} s over all seeds; "
        "marks: their medians. Better is up and to the left."
    )
    options = {"legend": spec.get("legend", ""), "mark": spec.get("mark", [])}
    return Drawing({"curves": curves}, options | asked(spec, "log"), note)


def _runs(sample: Sample) -> list[tuple[dict[str, np.ndarray], str]]:
    """The seconds of every run, and the port that it studied."""
    return [
        (run.columns("seconds"), str(run.summary["studied_port"]))
        for run in sample.runs
        if run.has("seconds")
    ]


def points(
    run: tuple[dict[str, np.ndarray], str], spec: dict, warmup_s: float, every: int
) -> np.ndarray:
    """Rows of queueing delay (ms) and goodput (Mbit/s) of the measured stretches of a run."""
    seconds, studied = run
    port = spec.get("port", studied)
    ends = ".goodput_bytes"
    groups = spec.get("traffic", [c.removesuffix(ends) for c in seconds if c.endswith(ends)])
    keep = seconds["time_s"] >= warmup_s
    packets = seconds[f"{port}.departures"][keep].astype(float)
    waited = seconds[f"{port}.queue_delay_mean_s"][keep] * packets
    goodput = np.sum([seconds[group + ends][keep] for group in groups], axis=0).astype(float)
    whole = len(packets) // every * every
    packets, waited, goodput = (
        column[:whole].reshape(-1, every).sum(axis=1) for column in (packets, waited, goodput)
    )
    delays, rates = waited / np.maximum(packets, 1) * 1e3, goodput * 8 / every / 1e6
    return np.column_stack([delays, rates])[packets > 0]


def ellipse(found: np.ndarray) -> dict:
    """Centre and half axes of the ellipse of one standard deviation, and the medians."""
    centre = found.mean(axis=0)
    variances, directions = np.linalg.eigh(np.cov(found.T))
    half = np.sqrt(np.clip(variances, 0, None))
    return {
        "centre": centre.tolist(),
        "axes": (directions * half).T.tolist(),
        "median": np.median(found, axis=0).tolist(),
    }
