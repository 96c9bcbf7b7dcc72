"""RED's weight w_q in `tc`, which chooses a power of two from the parameter `burst`.

tc takes the largest W = 2^-n, n >= 1, by which a burst of that many packets into an empty queue
leaves the average below the lower threshold: burst + 1 - min/avpkt <= (1 - (1 - W)^burst)/W
(Floyd and Jacobson 1993, section 6; iproute2 tc_red.c, read).
"""

from __future__ import annotations

import math

LARGEST = 31
"""Largest exponent n that tc tries."""


def exponent(burst: int, min_packets: float) -> int | None:
    """The exponent n that tc chooses; None if it refuses the burst."""
    wanted = burst + 1 - min_packets
    if wanted < 1:
        return None
    for n in range(1, LARGEST + 1):
        weight = 2.0**-n
        if wanted <= (1 - (1 - weight) ** burst) / weight:
            return n
    return None


def burst(w_q: float, min_packets: float) -> int:
    """The smallest burst with which tc chooses the power of two next to `w_q`, or the nearest one
    that it can.

    For a small `min_packets` tc's choices skip some exponents.
    """
    wanted = max(1, round(-math.log2(w_q)))
    best, distance = 0, math.inf
    packets = max(1, math.ceil(min_packets))
    while distance > 0:
        n = exponent(packets, min_packets)
        if n is not None and abs(n - wanted) < distance:
            best, distance = packets, abs(n - wanted)
        if (packets > min_packets + 1) if n is None else (n > wanted):
            break
        packets += 1
    return best
