"""What `python -m validation.linux` compares: bulk TCP behind each of the kernel's disciplines."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

FRAME = 1514
"""A full packet as Linux's disciplines count it, bytes: with the Ethernet header."""

RATE = 10_000_000
"""Of the line, bit/s."""

BUFFER = 6_291_456
"""Receive buffer, bytes: net.ipv4.tcp_rmem's third value, from the start."""

ENDS = {
    "profile": "linux",
    "window_bytes": BUFFER,
    "autotuning": False,
    "scaling_ratio": 63 / 256,
    "gso_max_segs": 1,
}
"""The guest's end systems. A segment that came through its line takes 5.8 kB of the receive
buffer: the window settles at 1,548,288 B, 63/256 of it."""

RED = {"min_th": 30, "max_th": 90, "w_q": 1 / 512, "max_p": 0.1, "limit": 480}

PIE = {"profile": "linux", "t_update": "16 ms"}
"""A timer of 15 ms in the kernel's wheel ends after 16 of its ticks (HZ = 1,000)."""

Queue = tuple[str, dict[str, Any], bool]
"""What `tc` is told, what aqmlab is told, and whether the discipline has a switch for ECN."""

QUEUES: dict[str, Queue] = {
    "droptail": ("pfifo limit 120", {"aqm": "droptail", "limit": 120}, False),
    # burst 140 is how `tc` is told w_q = 1/512.
    "red": (
        f"red limit {480 * FRAME} min {30 * FRAME} max {90 * FRAME} avpkt {FRAME} burst 140 "
        "probability 0.1 bandwidth 10mbit",
        {"aqm": "red", "profile": "linux", **RED, "mean_packet_bytes": FRAME},
        True,
    ),
    "choke": (
        "choke limit 480 min 30 max 90 burst 140 probability 0.1 bandwidth 10mbit",
        {"aqm": "choke", "profile": "linux", **RED},
        True,
    ),
    "pie": ("pie limit 480", {"aqm": "pie", **PIE, "limit": 480}, True),
    "fq_pie": ("fq_pie limit 480", {"aqm": "fq_pie", **PIE, "limit": 480}, True),
    "codel": ("codel limit 480", {"aqm": "codel", "profile": "linux", "limit": 480}, True),
    "fq_codel": (
        "fq_codel limit 480",
        {"aqm": "fq_codel", "profile": "linux", "limit": 480},
        True,
    ),
    "cake": ("cake unlimited", {"aqm": "cake"}, False),
    "sfb": (
        "sfb limit 480 max 25 target 20 increment 0.001007 decrement 0.000168",
        {"aqm": "sfb", "profile": "linux", "limit": 480},
        False,
    ),
    "sfq": ("sfq limit 127", {"aqm": "sfq", "limit": 127}, False),
}

SAME_HASH = {"core/txrehash": 0}
"""A sender on the router's own kernel gets another hash after each timeout, and with it another
queue of fq_codel and fq_pie. One that comes by a real line does not."""

MARKING = ("red", "choke", "pie", "fq_pie", "codel", "fq_codel", "cake", "sfb")
"""Those that mark."""


@dataclass(frozen=True)
class Case:
    """One discipline at the root of a device of 10 Mbit/s; a round trip of 80 ms."""

    family: str
    """Heading of its table."""
    queue: str
    flows: int
    congestion: str
    ecn: bool = False
    rtt_ms: float = 80
    warmup_s: int = 10
    measured_s: int = 30
    paired: bool = False
    """Starts are drawn by each program."""

    def name(self) -> str:
        """Short and unique: `red-10-cubic`, `red-10-cubic-ecn`."""
        words = [self.queue, str(self.flows), self.congestion]
        return "-".join([*words, "ecn"] if self.ecn else words)


def full() -> Iterator[Case]:
    """Every discipline with Reno, CUBIC and, where it marks, ECN; two of them with BBR."""
    flows = (1, 10, 50)
    for congestion, queue, n in itertools.product(("cubic", "reno"), QUEUES, flows):
        yield Case(congestion.upper() if congestion == "cubic" else "Reno", queue, n, congestion)
    for queue, n in itertools.product(MARKING, flows):
        yield Case("CUBIC with ECN", queue, n, "cubic", ecn=True)
    for queue, n in itertools.product(("droptail", "fq_codel"), flows[:2]):
        yield Case("BBR (version 1)", queue, n, "bbr")


def quick() -> Iterator[Case]:
    """A few of every kind."""
    for case in full():
        if case.flows == 10 and case.congestion == "cubic":
            yield case


def job(case: Case, seed: int) -> dict[str, Any]:
    """What the guest does."""
    words, _, switch = QUEUES[case.queue]
    if switch:
        words += " ecn" if case.ecn else " noecn" if "codel" in case.queue else ""
    return {
        "kind": "bulk",
        "seed": seed,
        "line": {
            "rate": [RATE, 1_000_000_000],
            "delay": [round(case.rtt_ms * 500_000)] * 2,
        },
        "qdisc": words,
        "sysctl": {"ipv4/tcp_ecn": int(case.ecn)} | (SAME_HASH if "fq_" in case.queue else {}),
        "flows": case.flows,
        "congestion": case.congestion,
        # The kernel doubles what a program asks for.
        "receive_buffer": BUFFER // 2,
        "send_buffer": BUFFER // 2,
        "start_spread_s": 1,
        "warmup_s": case.warmup_s,
        "duration_s": case.warmup_s + case.measured_s,
        "sample_s": 0.01,
    }


def scenario(case: Case, _seed: int = 1) -> dict[str, Any]:
    """The same for aqmlab, with the end systems and disciplines of profile `linux`."""
    _, queue, switch = QUEUES[case.queue]
    return {
        "name": f"linux-{case.name()}",
        "duration": f"{case.warmup_s + case.measured_s} s",
        "warmup": f"{case.warmup_s} s",
        "network": {"clients": case.flows, "servers": 1, "rtt": f"{case.rtt_ms} ms"},
        "link": [
            {
                "rate": f"{RATE} bit/s",
                "reverse_rate": "1 Gbit/s",
                # The line sends the Ethernet header too, and disciplines count it.
                "framing_bytes": 14,
                "header_bytes": 14,
                "forward": queue | ({"ecn": case.ecn} if switch else {}),
                "reverse": {"aqm": "droptail", "limit": 10_000},
            }
        ],
        "traffic": [
            {
                "app": "bulk",
                "flows": case.flows,
                "start_within": "1 s",
                "tcp": ENDS | {"congestion": case.congestion, "ecn": case.ecn},
            }
        ],
        "record": {"samples": False, "responses": False},
    }
