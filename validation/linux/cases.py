"""What `python -m validation.linux` compares: bulk TCP and web transfers behind each of the
kernel's disciplines.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from validation.dumbbell import CONTROLS
from validation.linux import machine
from validation.linux.machine import HZ
from validation.workload import Transfer, Web, Workload, replayed

FRAME = 1514
"""A full packet as Linux's disciplines count it, bytes: with the Ethernet header."""

DATA = 1448
"""Payload of a full segment, bytes: 1,500 less headers and timestamps."""

RATE = 10_000_000
"""Rate of the line, bit/s."""

BUFFER = 6_291_456
"""Receive buffer, bytes: net.ipv4.tcp_rmem's third value, from the start."""


def ends_of_guest() -> dict[str, Any]:
    """The guest's end systems and the ticks of its timers.

    A segment that came through its line takes 5.8 kB of the receive buffer: the window settles at
    1,548,288 B, 63/256 of it.
    """
    return {
        "profile": machine.profile(),
        "window_bytes": BUFFER,
        "autotuning": False,
        "scaling_ratio": 63 / 256,
        "gso_max_segs": 1,
        "hz": HZ,
    }


CLOCK = "256 ns"
"""Steps of the guest's clock (`TIMER_MULTIPLIER`): no timer ends between two of them, and none that
delays a packet. A lone sender is clocked by its own packets, so that each pair of segments comes at
the very nanosecond at which the line becomes free; with exact times it would always come after
that, and the queue would have been idle for no time."""

RED = {"min_th": 30, "max_th": 90, "w_q": 1 / 512, "max_p": 0.1, "limit": 480}

PIE = {"profile": "linux", "t_update": "16 ms"}
"""A timer of 15 ms in the kernel's wheel ends after 16 of its ticks (HZ = 1,000)."""

ROOT = {"profile": "linux", "bypass": True}
"""CoDel, FQ-CoDel and SFQ at the root of a device: the kernel passes them by while they hold
nothing."""

Queue = tuple[str, dict[str, Any], bool]
"""What `tc` is told, what aqmlab is told, and whether the discipline has a switch for ECN."""

SFB = "sfb limit 480 max 25 target 20 increment 0.001007 decrement 0.000168"


def _thresholds(limit: int) -> str:
    """RED's words for `tc`; burst 140 is how it is told w_q = 1/512."""
    return (
        f"limit {limit * FRAME} min {30 * FRAME} max {90 * FRAME} avpkt {FRAME} burst 140 "
        "probability 0.1 bandwidth 10mbit"
    )


def _gred(limit: int) -> Queue:
    """GRED of one virtual queue: packets without a class are of queue 0."""
    setup = f"gred setup vqs 1 default 0 limit {limit * FRAME}"
    ours = {"aqm": "gred", **RED, "virtual_queues": 1, "mean_packet_bytes": FRAME, "limit": limit}
    return (f"{setup}; gred {_thresholds(limit)} vq 0 prio 1", ours, False)


QUEUES: dict[str, Queue] = {
    "droptail": ("pfifo limit 120", {"aqm": "droptail", "limit": 120}, False),
    "red": (
        f"red {_thresholds(480)}",
        {"aqm": "red", "profile": "linux", **RED, "mean_packet_bytes": FRAME},
        True,
    ),
    "ared": (
        f"red {_thresholds(480)} adaptive",
        {"aqm": "ared", "profile": "linux", **RED, "mean_packet_bytes": FRAME},
        True,
    ),
    "gred": _gred(480),
    "choke": (
        "choke limit 480 min 30 max 90 burst 140 probability 0.1 bandwidth 10mbit",
        {"aqm": "choke", "profile": "linux", **RED},
        True,
    ),
    "pie": ("pie limit 480", {"aqm": "pie", **PIE, "limit": 480}, True),
    "fq_pie": ("fq_pie limit 480", {"aqm": "fq_pie", **PIE, "limit": 480}, True),
    "codel": ("codel limit 480", {"aqm": "codel", **ROOT, "limit": 480}, True),
    "fq_codel": ("fq_codel limit 480", {"aqm": "fq_codel", **ROOT, "limit": 480}, True),
    "cake": ("cake unlimited", {"aqm": "cake"}, False),
    "sfb": (SFB, {"aqm": "sfb", "profile": "linux", "limit": 480}, False),
    "sfq": ("sfq limit 127", {"aqm": "sfq", **ROOT, "limit": 127}, False),
}

REHASHED = {"rehash_interval": "5 s", "warmup_time": "1 s"}

WITHOUT: dict[str, Queue] = {
    # Six sets of hash functions in 30 s: which flows share bins is averaged within a run.
    "sfb_rehashed": (f"{SFB} rehash 5000 db 1000", {**QUEUES["sfb"][1], **REHASHED}, False),
    # Room for fewer packets than max_th: the average never reaches it, and nobody is locked out.
    "gred_below_max": _gred(89),
    # Room for the first windows of fifty flows, and a queue for each: nobody loses at the start.
    "codel_roomy": ("codel limit 1000", {**QUEUES["codel"][1], "limit": 1000}, True),
    "fq_codel_roomy": (
        "fq_codel limit 1000 flows 65535",
        {**QUEUES["fq_codel"][1], "limit": 1000, "flows": 65535},
        True,
    ),
}
"""Disciplines without what is suspected to part a case of `QUEUES` (`validation.causes`)."""

SAME_HASH = {"core/txrehash": 0}
"""A sender on the router's own kernel gets another hash after each timeout, and with it another
queue of fq_codel and fq_pie. One that comes by a real line does not."""

CHANGED = ("codel", "fq_codel")
"""Disciplines of which `linux-6.12` has other rules than `linux`."""

MARKING = ("red", "ared", "choke", "pie", "fq_pie", "codel", "fq_codel", "cake", "sfb")
"""Disciplines that can mark packets (ECN)."""

DRAWING = ("red", "ared", "gred", "choke", "pie", "fq_pie", "sfb", *WITHOUT)
"""Disciplines that draw random numbers."""


@dataclass(frozen=True)
class Case:
    """One discipline at the root of a device of 10 Mbit/s; a round trip of 80 ms."""

    family: str
    """Heading of the table that lists the case."""
    queue: str
    flows: int
    congestion: str
    ecn: bool = False
    ecn_fallback: bool = True
    """A SYN that goes again does not ask for ECN (the kernel's default)."""
    rtt_ms: float = 80
    warmup_s: int = 10
    measured_s: int = 30
    workload: Workload | None = None
    """Transfers in place of bulk senders."""

    rate_mbit = RATE / 1e6

    @property
    def discipline(self) -> Queue:
        """What `tc` and aqmlab are told of it."""
        return (QUEUES | WITHOUT)[self.queue]

    @property
    def end_s(self) -> int:
        """Time at which the run ends, s."""
        return self.warmup_s + self.measured_s

    paired = True
    """Both have the same starts of bulk senders, or the same transfers."""

    def name(self) -> str:
        """Short and unique: `red-10-cubic`, `red-10-cubic-ecn`, `red-web80-cubic`."""
        words = [self.queue, str(self.workload or self.flows), self.congestion]
        words += ["ecn"] if self.ecn else []
        return "-".join(words if self.ecn_fallback else [*words, "always"])

    def starts(self, seed: int) -> list[float]:
        """When bulk senders begin, s, in order: each within the first second."""
        draws = random.Random(seed)
        return sorted(round(draws.random(), 6) for _ in range(self.flows))

    def transfers(self, seed: int) -> list[Transfer]:
        """All transfers of a run; the guest's one pair of hosts is the one station."""
        each = self.workload.transfers(seed, self) if self.workload else []
        return [replace(one, station=0) for one in each]


def full() -> Iterator[Case]:
    """Every discipline with Reno, CUBIC, web transfers and, where it marks, ECN; two with BBR."""
    flows = (1, 10, 50)
    for congestion, queue, n in itertools.product(("cubic", "reno"), QUEUES, flows):
        yield _bulk("Reno" if congestion == "reno" else "CUBIC", queue, n, congestion)
    for queue, n in itertools.product(MARKING, flows):
        yield _bulk("CUBIC with ECN", queue, n, "cubic", ecn=True)
    for queue, n in itertools.product(("droptail", "fq_codel"), flows[:2]):
        yield _bulk("BBR (version 1)", queue, n, "bbr")
    for queue in QUEUES:
        yield Case("web transfers", queue, 0, "cubic", measured_s=60, workload=Web(0.8))
    yield from controls()


def controls() -> Iterator[Case]:
    """What is suspected to part a case is taken out of it (`validation.causes`)."""
    for queue in ("red", "ared", "pie", "codel"):
        yield replace(_bulk(CONTROLS, queue, 10, "cubic", ecn=True), ecn_fallback=False)
    for queue in ("codel_roomy", "fq_codel_roomy"):
        yield replace(_bulk(CONTROLS, queue, 50, "cubic", ecn=True), ecn_fallback=False)
    yield _bulk(CONTROLS, "gred_below_max", 10, "reno")
    for flows, congestion in itertools.product((10, 50), ("cubic", "reno")):
        yield _bulk(CONTROLS, "sfb_rehashed", flows, congestion)
    for flows in (10, 50):
        yield _bulk(CONTROLS, "sfb_rehashed", flows, "cubic", ecn=True)


def _bulk(family: str, queue: str, flows: int, congestion: str, *, ecn: bool = False) -> Case:
    """Bulk senders; one alone behind a discipline that draws is measured longer.

    Its window rises and falls in seconds, and all seeds begin within one of them: 30 s would show
    the phase at which its slow start ended.
    """
    longer = flows == 1 and queue in DRAWING
    return Case(family, queue, flows, congestion, ecn, measured_s=200 if longer else 30)


def quick() -> Iterator[Case]:
    """A few cases of every kind."""
    for case in full():
        bulk = case.flows == 10 and case.congestion == "cubic"
        if bulk or (case.workload and case.queue in ("droptail", "fq_codel")):
            yield case


def job(case: Case, seed: int) -> dict[str, Any]:
    """The job for the guest: a run of the case under this seed."""
    words, _, switch = case.discipline
    if switch:
        words += " ecn" if case.ecn else " noecn" if "codel" in case.queue else ""
    flows: dict[str, Any] = {"kind": "bulk", "starts": case.starts(seed)}
    if transfers := case.transfers(seed):
        each = [(one.start_us / 1e6, DATA * one.segments) for one in transfers]
        flows = {"kind": "web", "transfers": each}
    return flows | {
        "seed": seed,
        "hz": HZ,
        "line": {
            "rate": [RATE, 1_000_000_000],
            # Where aqmlab has it: timers of both ends then lie at the same ticks.
            "delay": [round(case.rtt_ms * 1_000_000), 0],
        },
        "qdisc": words,
        "sysctl": {"ipv4/tcp_ecn": int(case.ecn)}
        | ({} if case.ecn_fallback else {"ipv4/tcp_ecn_fallback": 0})
        | (SAME_HASH if "fq_" in case.queue else {}),
        "congestion": case.congestion,
        # The kernel doubles what a program asks for.
        "receive_buffer": BUFFER // 2,
        "send_buffer": BUFFER // 2,
        "warmup_s": case.warmup_s,
        "duration_s": case.end_s,
        "sample_s": 0.01,
    }


def _traffic(case: Case, seed: int) -> list[dict[str, Any]]:
    tcp = ends_of_guest() | {"congestion": case.congestion, "ecn": case.ecn}
    tcp |= {} if case.ecn_fallback else {"ecn_fallback": False}
    if transfers := case.transfers(seed):
        return [replayed(transfers, lambda _: round(1000 * case.rtt_ms), lambda n: DATA * n, tcp)]
    flow = {"app": "bulk", "flows": 1, "start_within": "0 s", "tcp": tcp}
    return [
        {**flow, "name": f"bulk{i}", "start": f"{start} s"}
        for i, start in enumerate(case.starts(seed))
    ]


def scenario(case: Case, seed: int = 1) -> dict[str, Any]:
    """The same for aqmlab, with the end systems and disciplines of the kernel's profile."""
    _, queue, switch = case.discipline
    if queue["aqm"] in CHANGED:
        queue = queue | {"profile": machine.profile()}
    return {
        "name": f"linux-{case.name()}",
        "duration": f"{case.end_s} s",
        "warmup": f"{case.warmup_s} s",
        "network": {
            "clients": 1,
            "servers": 1,
            "rtt": f"{case.rtt_ms} ms",
            "delay_tick": CLOCK,
        },
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
        "traffic": _traffic(case, seed),
        "record": {"samples": False, "responses": False, "queues": ["bottleneck.forward"]},
    }
