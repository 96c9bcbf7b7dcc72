"""A queue during slow start and RED's average of it, computed: how far the average lags behind."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

import numpy as np

from aqmlab import units

from ..curves import place_legend
from ..queue_lines import draw_queue
from ..sources import Dataset, Drawing
from ..style import new

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def collect(
    _dataset: Dataset,
    *,
    rate: str,
    rtt: str,
    packet_bytes: int,
    w_q: float,
    max_th: float,
    min_th: float | None = None,
    initial_window: int = 1,
) -> Drawing | None:
    """One flow that begins, at an empty line of `rate` with a round-trip time of `rtt`, in packets
    of `packet_bytes`; every acknowledgement sends two packets, none is delayed, none is lost.
    The average has the weight `w_q`. It is followed until the average reaches `max_th`.
    """
    service = 8 * packet_bytes / units.bits_per_s(rate)
    time, packets, average = follow(service, units.seconds(rtt), w_q, max_th, initial_window)
    levels = [("min_th", min_th), ("max_th", max_th)]
    known = [(name, float(level)) for name, level in levels if level is not None]
    data = {"time_s": time, "packets": packets, "average": average, "levels": known}
    note = (
        f"Computed: when the average reaches max_th ({max_th:g} packets), "
        f"{packets[-1]:,.0f} packets wait."
    )
    return Drawing(data, note)


def follow(
    service_s: float, rtt_s: float, w_q: float, max_th: float, initial_window: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Time (s), backlog (packets) and its average at every arrival and start of a transmission,
    until the average reaches `max_th`.

    The packet being sent does not wait, and an arrival samples the queue without itself (as in
    ns-2). The average is that of Floyd and Jacobson, 1993: each arrival's sample has the weight
    w_q, and an idle time counts as one sample of zero for each packet that could have been sent in
    it. The bottleneck is the only queue; a packet's acknowledgement comes back `rtt_s` after the
    end of its transmission.
    """
    due = [0.0] * initial_window
    begins: list[float] = []
    begun = 0
    free = -math.inf
    average = 0.0
    arrivals, averages = [], []
    while average < max_th:
        now = heapq.heappop(due)
        while begun < len(begins) and begins[begun] <= now:
            begun += 1
        if now < free:
            average += w_q * (len(begins) - begun - average)
        elif begins:
            average *= (1 - w_q) ** math.floor((now - free) / service_s)
        begins.append(max(now, free))
        free = begins[-1] + service_s
        arrivals.append(now)
        averages.append(average)
        for _ in range(2):
            heapq.heappush(due, free + rtt_s)
    return _over_time(np.array(arrivals), np.array(begins), np.array(averages))


def _over_time(
    arrivals: np.ndarray, begins: np.ndarray, averages: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three series up to the last arrival: the times (s) of all arrivals and starts of a
    transmission, the backlog (packets) after each, and RED's average of the backlog (packets) at
    the latest arrival."""
    begins = begins[begins <= arrivals[-1]]
    time = np.concatenate([arrivals, begins])
    change = np.concatenate([np.ones(len(arrivals)), -np.ones(len(begins))])
    order = np.argsort(time, kind="stable")
    before = np.searchsorted(arrivals, time[order], side="right") - 1
    return time[order], np.cumsum(change[order]), averages[before]


def draw(data: dict, *, title: str = "") -> Figure:
    """Draws the queue: `data` has the times `time_s`, the backlog `packets` and RED's `average` of
    it (packets) at these times, and `levels`, pairs of a label and a number of packets.
    """
    figure, axes = new(title=title)
    draw_queue(axes, data)
    place_legend(figure, axes, "", "upper left")
    return figure
