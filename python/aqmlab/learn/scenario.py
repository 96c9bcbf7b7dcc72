"""A scenario that replays a model over a link, ready to run."""

from __future__ import annotations

import math
from pathlib import Path

import tomlkit

from aqmlab.io.files import whole
from aqmlab.io.terminal import printable, unicode_escape
from aqmlab.simulator.forms import Traffic

from .model import Header

LOAD = 0.8
"""The load of the capture's traffic in the busier direction, as a share of the link;
our own choice, without a source."""
LEAST_BITS_PER_S = 100_000.0
SAMPLES = 1_000_000
"""Largest number of samples of the queue that a run keeps; our own choice, without a source."""
SAMPLED_S = 3_000
"""Duration in seconds after which the default spacing of samples, 3 ms, gives `SAMPLES` samples."""
ECN = {
    "classic": {"profile": "linux", "ecn": True},
    "accurate": {"profile": "linux", "ecn": True, "ecn_feedback": "accurate"},
}
"""TCP settings of end systems that negotiate ECN as those of the capture did."""


def text(model: str, header: Header) -> str:
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
    if gaps(header):
        document.add(tomlkit.comment("It ends where the capture holds no packet for a long time."))
    seconds = duration(header)
    document["duration"] = f"{seconds} s"
    if seconds > SAMPLED_S:
        document["record"] = {"queue_every": f"{math.ceil(1e3 * seconds / SAMPLES)} ms"}
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
    # Unprintable characters in strings are written as escapes of their code points.
    return printable(tomlkit.dumps(document), keep="\n", write=unicode_escape)


def _groups(model: str, header: Header) -> list[Traffic]:
    """Traffic groups by negotiated ECN, and by side of the captured link if all connections have
    one."""
    sides = (("0", "clients"), ("1", "servers")) if _two_sided(header) else ()
    made: list[Traffic] = []
    for kind, by_side in _ecn(header).items():
        replay: Traffic = {"app": "replay", "model": model}
        if len(_ecn(header)) > 1 or kind in ECN:
            replay = {"name": f"ECN {kind}", **replay, "agreed_ecn": kind}
        if kind in ECN:
            replay["tcp"] = ECN[kind]
        if not sides:
            made.append(replay)
        for n, place in sides:
            if by_side[int(n)]:
                name = f"{replay['name']}, side {n}" if "name" in replay else f"side {n}"
                made.append({**replay, "name": name, "openers": n, "side": place})
    return made


def _ecn(header: Header) -> dict[str, list[int]]:
    """The number of connections by the negotiated ECN, and by the opener's side of the link."""
    counted = header["seen"].get("kept_ecn", {})
    kinds = [kind for kind in ("none", *ECN) if sum(counted.get(kind, ()))]
    return {kind: counted[kind] for kind in kinds} or {"none": [1, 1, 1]}


def gaps(header: Header) -> list[tuple[int, int]]:
    """Periods without any packet: start and length, in microseconds."""
    return header["seen"].get("gaps", [])


def duration(header: Header) -> int:
    """Duration of the scenario in seconds: up to the capture's end, or up to its first gap."""
    end = gaps(header)[0][0] if gaps(header) else header["duration_us"]
    return max(1, math.ceil(end / 1e6))


def _two_sided(header: Header) -> bool:
    opened = [side["connections"] for side in header["seen"]["sides"]]
    return min(opened) > 0 and sum(opened) == header["connections"]


def link_rate(header: Header) -> float:
    """The link's rate in Mbit/s, with two significant digits: the payload of the busier direction
    is the share `LOAD` of it."""
    directions = header["bytes"]
    if _two_sided(header):
        (to_one, to_zero), (back_to_zero, back_to_one) = (
            side["bytes"] for side in header["seen"]["sides"]
        )
        directions = [to_zero + back_to_zero, to_one + back_to_one]
    busy_us = header["duration_us"] - sum(length for _, length in gaps(header))
    bits_per_s = 8 * max(directions) / max(busy_us / 1e6, 1.0)
    wanted = max(bits_per_s / LOAD, LEAST_BITS_PER_S)
    digits = 1 - math.floor(math.log10(wanted))
    return round(wanted, digits) / 1e6


def packets(rate_mbit_per_s: float) -> int:
    """The queue's limit in packets of 1,500 bytes: 100 ms at the link's rate, at least 20
    packets."""
    return max(20, round(0.1 * rate_mbit_per_s * 1e6 / (8 * 1500)))


def write(path: Path, model: str, header: Header) -> None:
    """Writes the scenario's file."""
    with whole(path) as draft:
        draft.write_text(text(model, header), encoding="utf-8")
