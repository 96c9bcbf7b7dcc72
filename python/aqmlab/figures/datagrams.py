"""Delays and losses of datagrams from the table `datagrams`, for the kinds of figures that draw
them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aqmlab import units

from .sources import Dataset, Sample

LOST = np.uint64(2**64 - 1)
ON_ITS_WAY = np.uint64(2**64 - 2)


def of_streams(sample: Sample, dataset: Dataset, streams: list[int] | None) -> Iterator[np.ndarray]:
    """The delays (ns) of every sender of every run, in the order of sending, without datagrams sent
    during the warm-up; `streams` selects senders (None: all).
    """
    after = units.seconds(dataset.scenario(sample.cell).get("warmup", "0 s")) * 1e9
    for columns in sample.tables("datagrams"):
        measured = columns["sent_ns"].astype(float) >= after
        order = np.argsort(columns["sent_ns"], kind="stable")
        order = order[measured[order]]
        stream, delay = columns["stream"][order], columns["delay_ns"][order].astype(np.uint64)
        for number in np.unique(stream):
            if streams is None or number in streams:
                yield delay[stream == number]
