"""A scenario that replays a model over a link, ready to run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from aqmlab.store import whole

LOAD = 0.8
"""What share of the link the busier direction of the capture's traffic asks for (constructed)."""
LEAST_BITS_PER_S = 100_000.0


def text(model: str, header: dict[str, Any]) -> str:
    """The scenario of a model file that lies beside it."""
    seconds = max(1, math.ceil(header["duration_us"] / 1e6))
    rate = link_rate(header)
    return f"""\
# Replays the connections of {model}: their sizes,
# waiting times, starts and round-trip times, over a link that they load to {LOAD:.0%}. Change its
# rate to have another load; `aqmlab list aqm` shows the queues.
duration = "{seconds} s"

[[link]]
rate = "{rate:g} Mbit/s"
forward = {{ aqm = "droptail", limit = {packets(rate)} }}     # 100 ms of packets of 1,500 bytes
reverse = {{ aqm = "droptail", limit = {packets(rate)} }}

[[traffic]]
app = "replay"
model = "{model}"
"""


def link_rate(header: dict[str, Any]) -> float:
    """Mbit/s, two significant digits: the busier direction's payload is `LOAD` of it."""
    bits_per_s = 8 * max(header["bytes"]) / max(header["duration_us"] / 1e6, 1.0)
    wanted = max(bits_per_s / LOAD, LEAST_BITS_PER_S)
    digits = 1 - math.floor(math.log10(wanted))
    return round(wanted, digits) / 1e6


def packets(rate_mbit_per_s: float) -> int:
    """A queue of 100 ms, at least 20 packets."""
    return max(20, round(0.1 * rate_mbit_per_s * 1e6 / (8 * 1500)))


def write(path: Path, model: str, header: dict[str, Any]) -> None:
    """Writes the scenario."""
    with whole(path) as draft:
        draft.write_text(text(model, header), encoding="utf-8")
