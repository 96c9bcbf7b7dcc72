"""PIE: RFC 8033 sections 4 and 5, RFC 8034 (DOCSIS-PIE); Linux `sch_pie.c`, CableLabs' simulator.

A periodic update moves the drop probability by how far the queueing delay is from its target and
by how much it has grown; arrivals are signalled with it. Names as in RFC 8033's appendix A.
"""

from __future__ import annotations

import math

from ._pie_docsis import Docsis, divisor
from .base import PASS, Draws, Fifo, Packet, Parameters, Verdict, drop, grid, ns, signal

DQ_THRESHOLD = 2**14  # bytes over which a departure rate is measured
OVERFLOW = 256  # Linux's p has 56 bits below the point, and becomes 1 when 64 are too few


class Controller:
    """The algorithm for one queue, in the profiles of the RFC and of Linux."""

    def __init__(self, parameters: Parameters, draws: Draws) -> None:
        self.linux = parameters.choice("profile", "rfc8033") == "linux"
        self.draws = draws
        self.target = parameters.get("target", 0.015)
        self.t_update = ns(parameters.get("t_update", 0.015))
        self.alpha = parameters.get("alpha", 0.125)
        self.beta = parameters.get("beta", 1.25)
        self.max_burst = ns(parameters.get("max_burst", 0.15))
        self.mean = parameters.get("mean_packet_bytes", 1500 if self.linux else 1000)
        self.cap_drop = parameters.flag("cap_drop", True)
        self.derandomise = parameters.flag("derandomise", True)
        self.mark_ecnth = parameters.get("mark_ecnth", 0.1)
        self.measure = "timestamp"
        self.p = self.qdelay = self.qdelay_old = self.sojourn = self.accu = 0.0
        self.burst = self.max_burst
        self.forget_rate()

    def forget_rate(self) -> None:
        self.dq_time: int | None = None  # when the last packet left or the measurement began
        self.dq_count: int | None = None  # bytes measured so far
        self.seconds_per_byte = 0.0

    # At an arrival.

    def selects(self, waiting: int, overhead: int = 0) -> bool:
        """`drop_early`: whether an arrival that finds `waiting` bytes is signalled."""
        if self.burst > 0:
            return False
        delay = self.qdelay if self.linux else self.qdelay_old
        if delay < self.target / 2 and self.p < 0.2:
            return False
        if waiting < 2 * self.mean or (not self.linux and waiting == 2 * self.mean):
            return False
        if not self.derandomise:
            return self.draws.uniform() < self.p
        self.accu = self.accu + self.p if self.p > 0 else 0.0
        if self.accu < 0.85:
            return False
        if self.accu >= 8.5:
            return True
        if self.draws.uniform() < self.p:
            self.accu = 0.0
            return True
        return False

    def judge(self, waiting: int) -> Verdict:
        if not self.selects(waiting):
            return PASS
        markable = self.p <= self.mark_ecnth if self.linux else self.p < self.mark_ecnth
        return signal() if markable else drop("early")

    # At a departure.

    def departed(self, packet: Packet, left: int, now: int) -> None:
        """`packet` has left `left` bytes behind."""
        if self.measure == "timestamp":
            self.sojourn = (now - packet.arrived) / 1e9 if left else 0.0
            if self.linux:
                self.qdelay = self.sojourn
                since = now - self.dq_time if self.dq_time is not None else 0
                self.burst = max(0, self.burst - since)
                self.dq_time = now
        elif self.measure == "rate":
            self.measure_rate(packet, left, now)

    def measure_rate(self, packet: Packet, left: int, now: int) -> None:
        """RFC 8033 section 4.3: the time that DQ_THRESHOLD bytes take; Linux: the rate."""
        if left >= DQ_THRESHOLD and self.dq_count is None:
            self.dq_count, self.dq_time = 0, now
        if self.dq_count is None:
            return
        self.dq_count += packet.bytes
        assert self.dq_time is not None
        took = now - self.dq_time
        if self.dq_count < DQ_THRESHOLD or took == 0:
            return
        sample = took / 1e9 / (self.dq_count if self.linux else DQ_THRESHOLD)
        before = self.seconds_per_byte
        if before == 0:
            self.seconds_per_byte = sample
        elif self.linux:
            self.seconds_per_byte = 1 / (7 / 8 / before + 1 / 8 / sample)
        else:
            self.seconds_per_byte = 0.25 * sample + 0.75 * before
        self.dq_count = None
        if self.linux:
            self.burst = max(0, self.burst - took)
            if left >= DQ_THRESHOLD:
                self.dq_count, self.dq_time = 0, now

    # Every t_update.

    def delay(self, left: int, rate: int) -> float:
        if self.measure == "timestamp":
            return self.sojourn
        if self.measure == "line":
            return left * 8 / rate
        return left * self.seconds_per_byte

    def update(self, left: int, rate: int) -> None:
        """`calculate_drop_prob`, `left` bytes waiting."""
        self.qdelay = qdelay = self.delay(left, rate)
        old = self.qdelay_old
        unknown = self.linux and qdelay == 0 and left > 0
        delta = self.alpha * (qdelay - self.target) + self.beta * (qdelay - old)
        delta /= divisor(self.p)
        if self.cap_drop and self.p >= 0.1:
            delta = min(delta, 0.02)
        if self.linux and qdelay > 0.25:
            delta += 0.02
        self.p = self.p + delta
        if self.linux:
            self.p = max(self.p, 0.0)
            if self.p >= OVERFLOW:
                self.p = 1.0
        if qdelay == 0 and old == 0 and not unknown:
            self.p *= 1 - 1 / 64 if self.linux else 0.98
        if not self.linux:
            self.p = min(max(self.p, 0.0), 1.0)
        self.qdelay_old = qdelay
        if not self.linux:
            self.burst = max(0, self.burst - self.t_update)
        low = qdelay < self.target / 2 and old < self.target / 2
        known = self.measure != "rate" or self.seconds_per_byte > 0 or not self.linux
        if low and self.p == 0 and known:
            self.burst = self.max_burst
            if self.linux:
                self.accu = 0.0
                self.forget_rate()

    def state(self) -> dict[str, float]:
        return {
            "p": self.p,
            "qdelay": self.qdelay,
            "burst_allowance": self.burst / 1e9,
            "accu_prob": self.accu,
        }


class Pie(Fifo):
    limit_first = True

    def setup(self, parameters: Parameters) -> None:
        profile = parameters.choice("profile", "rfc8033")
        bytes_given = parameters.given("limit_bytes")
        if profile == "docsis":
            self.limit_bytes = parameters.get("limit_bytes", self.rate // 80)
            self.limit = parameters.get("limit", math.inf)
            self.core = Docsis(parameters, self.draws, self.limit_bytes)
        else:
            self.limit_bytes = parameters.get("limit_bytes", math.inf)
            self.limit = parameters.get("limit", math.inf if bytes_given else 1000)
            self.core = Controller(parameters, self.draws)
            self.core.measure = parameters.choice("delay", "timestamp")
            self.ecn = parameters.flag("ecn")
        self.due = ns(0.5) if profile == "linux" else self.core.t_update

    def judge(self, packet: Packet, now: int) -> Verdict:
        if isinstance(self.core, Docsis):
            return self.core.judge(self.bytes, packet.bytes)
        return self.core.judge(self.bytes)

    def lost(self, why: str) -> None:
        self.core.accu = 0.0

    def dequeue(self, now: int) -> Packet | None:
        packet = super().dequeue(now)
        if packet:
            self.core.departed(packet, self.bytes, now)
        return packet

    def tick(self, now: int) -> None:
        self.core.update(self.bytes, self.rate)
        self.due = now + self.core.t_update

    def state(self) -> dict[str, float]:
        return self.core.state()


RFC_AND_LINUX = ("rfc8033", "linux")
SLOW = {"line_bits_per_s": 2_000_000, "load": 2}
CERTAIN = {
    "limit": 500, "max_burst": "0 s", "target": "1 ms", "alpha": 3, "mark_ecnth": 0.9, "ecn": True
}  # fmt: skip
SHORT = {"limit": 60, "max_burst": "20 ms"}
CASES = [
    *grid(SHORT, profile=RFC_AND_LINUX, ecn=[False, True], derandomise=[False, True]),
    *grid(SHORT, profile=RFC_AND_LINUX, delay=["timestamp", "rate"], cap_drop=[True, False]),
    *grid(SHORT, profile=["rfc8033"], delay=["line"], t_update=["15 ms", "3 ms"]),
    *grid(
        {"limit": 300, "max_burst": "0 s", "alpha": 2, "beta": 20, "trial": SLOW},
        profile=RFC_AND_LINUX,
        ecn=[False, True],
    ),
    *grid(
        {"limit_bytes": 50000, "max_burst": "20 ms", "ecn": True, "alpha": 2, "beta": 20},
        profile=RFC_AND_LINUX,
        mark_ecnth=[0, 0.01, 0.5],
    ),
    # Seeds in whose trials a sum of probabilities reaches 8.5, which one in 2000 does.
    {**CERTAIN, "profile": "rfc8033", "trial": {"load": 1.1, "packets": 3_000, "seed": 141}},
    {**CERTAIN, "profile": "linux", "trial": {"load": 1.1, "packets": 3_000, "seed": 68}},
    *grid({"profile": "docsis"}, max_burst=["142 ms", "10 ms"], derandomise=[True, False]),
    *grid(
        {"profile": "docsis", "limit_bytes": 40_000, "alpha": 5, "beta": 50, "max_burst": "50 ms"},
        cap_drop=[True, False],
        trial=[{"load": 1.5, "packets": 4_000}, {"load": 1.2, "line_bits_per_s": 200_000}],
    ),
    {"profile": "docsis", "limit": 400, "target": "1 ms", "max_burst": "0 s",
     "trial": {"load": 1.2, "packets": 5_000}},
]  # fmt: skip
