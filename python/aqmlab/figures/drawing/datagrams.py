"""What happened to datagrams, pooled over the repetitions: their delays and their losses.

Both read the table `datagrams` and leave out what was sent before the end of the warm-up.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aqmlab import units

from .cdf import asked
from .material import Drawing, Material, Sample, joined, samples, told

LOST = np.uint64(2**64 - 1)
ON_ITS_WAY = np.uint64(2**64 - 2)
POINTS = 500


def delays(spec: dict, material: Material) -> Drawing | None:
    """A curve per cell: percent of the datagrams that arrived within a delay.

    Lost ones never arrive, so a curve ends below 100 %. Those on their way at the end of the run
    are left out. `deadline_ms`, if given, is drawn as a line, and the note says how many came in
    time; `streams` chooses senders by their number.
    """
    curves, lost, timely = [], {}, {}
    for sample in samples(spec, material):
        pooled = [delay for _, delay in _streams(spec, material, sample)]
        delay = np.concatenate(pooled) if pooled else np.array([], dtype=np.uint64)
        arrived = np.sort(delay[delay < ON_ITS_WAY].astype(float)) / 1e6
        known = len(arrived) + int((delay == LOST).sum())
        if not len(arrived):
            continue
        percent = 100 * np.arange(1, len(arrived) + 1) / known
        shown = np.unique(np.linspace(0, len(arrived) - 1, POINTS).round().astype(int))
        curves.append({"label": sample.label, "x_ms": arrived[shown], "percent": percent[shown]})
        lost[sample.label] = 100 - percent[-1]
        within = np.searchsorted(arrived, spec.get("deadline_ms", np.inf), side="right")
        timely[sample.label] = 100 * within / known
    if not curves:
        return None
    note = told("Lost", lost)
    if "deadline_ms" in spec:
        note = joined(told(f"Within {spec['deadline_ms']:g} ms", timely), note)
    options = {"legend": spec.get("legend", "")} | asked(spec, "deadline_ms", "upto_ms")
    return Drawing({"curves": curves}, options, note)


def loss_distances(spec: dict, material: Material) -> Drawing | None:
    """A histogram per cell: how far it is from a loss to the next of the same sender, datagrams.

    1 means that neighbours were lost. `upto` (20) is the last distance that is shown; the rest
    is counted in one number. Without any pair of losses there is no figure.
    """
    upto = int(spec.get("upto", 20))
    series, neighbours = [], {}
    for sample in samples(spec, material):
        found = [_distances(delay) for _, delay in _streams(spec, material, sample)]
        if not found:
            continue
        distance = np.minimum(np.concatenate(found), upto + 1)
        count = np.bincount(distance, minlength=upto + 2)[1:]
        series.append({"label": sample.label, "count": count[:upto], "beyond": int(count[upto])})
        pairs = int(count.sum())
        neighbours[sample.label] = 100 * count[0] / pairs if pairs else np.nan
    if not any(one["count"].any() or one["beyond"] for one in series):
        return None
    note = told("Pairs of losses next to each other", neighbours, "{:.0f} %")
    return Drawing({"series": series}, asked(spec, "top"), note)


def _distances(delay: np.ndarray) -> np.ndarray:
    """From every loss to the next one, in the order of sending."""
    return np.diff(np.flatnonzero(delay == LOST))


def _streams(spec: dict, material: Material, sample: Sample) -> Iterator[tuple[int, np.ndarray]]:
    """The delays (ns) of every sender of every run, in the order of sending."""
    after = units.seconds(material.scenario(sample.cell).get("warmup", "0 s")) * 1e9
    for columns in sample.tables("datagrams"):
        measured = columns["sent_ns"].astype(float) >= after
        order = np.argsort(columns["sent_ns"], kind="stable")
        order = order[measured[order]]
        stream, delay = columns["stream"][order], columns["delay_ns"][order].astype(np.uint64)
        for number in np.unique(stream):
            if number in spec.get("streams", [number]):
                yield int(number), delay[stream == number]
