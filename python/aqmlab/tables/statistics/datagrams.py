"""Statistics of single datagrams (table `datagrams`)."""

from __future__ import annotations

import numpy as np

from aqmlab.runs.laboratory import FinishedRun

#: Values from here on are no delays: the datagram was lost, or in flight when the run ended.
NO_DELAY = 2**64 - 2


def delay_quantile_s(run: FinishedRun, *, percent: float) -> float:
    """The delay that `percent` percent of the datagrams that arrived did not exceed, s.

    All senders and the whole run count; the result is the smallest delay with that share (no
    interpolation).
    """
    delay = run.columns("datagrams")["delay_ns"].astype(np.uint64)
    arrived = np.sort(delay[delay < NO_DELAY])
    if not len(arrived):
        return float("nan")
    place = max(0, int(np.ceil(percent / 100 * len(arrived))) - 1)
    return float(arrived[place]) / 1e9
