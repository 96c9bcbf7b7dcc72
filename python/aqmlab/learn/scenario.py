"""A scenario that replays a model over a link, ready to run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import tomlkit

from aqmlab.io.files import whole
from aqmlab.io.terminal import printable, unicode_escape

LOAD = 0.8
"""The load of the capture's traffic in the busier direction, as a share of the link
(constructed)."""
LEAST_BITS_PER_S = 100_000.0


def text(model: str, header: dict[str, Any]) -> str:
    """The scenario of a model file in the model's folder."""
    rate = link_rate(header)
    document = tomlkit.document()
    for line in (
        f"Replays the connections of {printable(model)}: their sizes,",
        f"waiting times, starts and round-trip times, over a link that they load to {LOAD:.0%}. "
        "Change its",
        "rate to have another load; `aqmlab list aqm` shows the queues.",
    ):
        document.add(tomlkit.comment(line))
    document["duration"] = f"{max(1, math.ceil(header['duration_us'] / 1e6))} s"
    link = tomlkit.table()
    link["rate"] = f"{rate:g} Mbit/s"
    for direction in ("forward", "reverse"):
        queue = tomlkit.inline_table()
        queue.update({"aqm": "droptail", "limit": packets(rate)})
        link[direction] = queue
    link["forward"].comment("100 ms of packets of 1,500 bytes")
    document["link"] = tomlkit.aot()
    document["link"].append(link)
    document["traffic"] = tomlkit.aot()
    for group in _groups(model, header):
        document["traffic"].append(group)
    # Strings may hold what has no picture, and are written by its number.
    return printable(tomlkit.dumps(document), keep="\n", write=unicode_escape)


def _groups(model: str, header: dict[str, Any]) -> list[dict[str, Any]]:
    """A group for each side of the captured link, where all connections have one."""
    replay = {"app": "replay", "model": model}
    if not _two_sided(header):
        return [replay]
    return [
        {"name": f"side {side}", **replay, "openers": str(side), "side": place}
        for side, place in enumerate(("clients", "servers"))
    ]


def _two_sided(header: dict[str, Any]) -> bool:
    opened = [side["connections"] for side in header["seen"]["sides"]]
    return min(opened) > 0 and sum(opened) == header["connections"]


def link_rate(header: dict[str, Any]) -> float:
    """Mbit/s, two significant digits: the busier direction's payload is `LOAD` of it."""
    directions = header["bytes"]
    if _two_sided(header):
        (to_one, to_zero), (back_to_zero, back_to_one) = (
            side["bytes"] for side in header["seen"]["sides"]
        )
        directions = [to_zero + back_to_zero, to_one + back_to_one]
    bits_per_s = 8 * max(directions) / max(header["duration_us"] / 1e6, 1.0)
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
