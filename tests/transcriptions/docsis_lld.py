"""Low Latency DOCSIS: DOCSIS 3.1, MULPI, annexes M to P, as in CableLabs'
`dual-queue-coupled-aqm.cc` and `queue-protection.cc`; RFC 9957.

A classic queue with DOCSIS-PIE and a low-latency one that is marked with twice the root of PIE's
probability, or by a ramp of its estimated delay; flows that build a queue are sent to the classic
one. Both are served by DualPI2's weighted round robin.
"""

from __future__ import annotations

import math
from collections import deque

from ._pie_docsis import Docsis
from .base import PASS, Discipline, Packet, Parameters, flow_hash, grid, ns

MAX_FRAME_SIZE = 2000
AGING = 2**19
MAX_QLSCORE = 5.0
ATTEMPTS, BI_SIZE = 2, 5
NQB = 45


class DocsisLld(Discipline):
    def setup(self, parameters: Parameters) -> None:
        self.max_rate = self.rate / 8
        self.buffer = int(parameters.get("limit_bytes", max(int(0.1 * self.max_rate), 1)))
        self.pie = Docsis(parameters, self.draws, self.buffer)
        self.k = parameters.get("k", 2)
        span = parameters.get("range", 524_288e-9)
        floor = min(2 * MAX_FRAME_SIZE / self.max_rate, 0.065535)
        self.minth = max(parameters.get("max_th", 0.001) - span, floor)
        self.maxth = self.minth + span
        self.virtual = parameters.choice("estimator", "virtual") == "virtual"
        self.loop = parameters.get("loop_delay", 0.005)
        self.config_buffer = int(
            parameters.get("low_limit_bytes", max(int(0.01 * self.max_rate), 2 * MAX_FRAME_SIZE))
        )
        self.protect = parameters.flag("protection", True)
        if self.protect:
            self.critical = parameters.get("critical", self.maxth)
            self.product = self.critical * parameters.get("critical_score", 0.004)
        self.seed = int(parameters.get("hash_seed", 0))
        self.buckets = [[0, 0] for _ in range(2**BI_SIZE + 1)]  # flow, expiry in ns
        self.wc = int(parameters.get("c_weight", 10))
        self.credit0 = self.credit = 1514 * (self.wc - (100 - self.wc))
        self.C: deque[Packet] = deque()
        self.L: deque[Packet] = deque()
        self.vq = self.aq = self.since_align = self.count = self.prob_cl = 0.0
        self.last, self.sent, self.sanctioned = 0, 0, 0
        self.due = self.pie.t_update

    @staticmethod
    def bytes(queue: deque[Packet]) -> int:
        return sum(packet.bytes for packet in queue)

    # Background update, every interval.

    def tick(self, now: int) -> None:
        low = min(self.sent / (self.pie.t_update / 1e9), (1 - self.wc / 100) * self.max_rate)
        self.sent = 0
        self.pie.update(self.bytes(self.C) * self.max_rate / (self.max_rate - low), self.rate)
        self.prob_cl = min(self.k * math.sqrt(self.pie.p), 1.0)
        self.due = now + self.pie.t_update

    # An arrival.

    def enqueue(self, packet: Packet, now: int) -> None:
        if packet.ecn not in ("ect1", "ce") and packet.dscp != NQB:
            return self.classic(packet, False)
        delay = self.estimate(packet.bytes, now)
        native = min(max((delay - self.minth) / (self.maxth - self.minth), 0.0), 1.0)
        mark = self.recur(max(native, self.prob_cl)) and packet.ecn != "not-ect"
        if self.protect and self.sanctions(packet, native, delay, now):
            self.sanctioned += 1
            self.forget(packet.bytes)
            return self.classic(packet, mark)
        waits, most = self.bytes(self.L), self.config_buffer - MAX_FRAME_SIZE
        space = self.vq < most / self.max_rate if self.virtual else waits < most
        if not space or waits + packet.bytes > self.config_buffer:
            self.forget(packet.bytes)
            return self.dropped(packet, "overflow")
        self.L.append(packet)
        self.queued(packet)
        if mark:
            self.marked(packet, "early")
        return None

    def classic(self, packet: Packet, mark: bool) -> None:
        waits = self.bytes(self.C)
        if waits + packet.bytes > self.buffer:
            self.pie.accu = 0.0
            return self.dropped(packet, "overflow")
        if self.pie.judge(waits, packet.bytes) != PASS:
            return self.dropped(packet, "early")
        self.C.append(packet)
        self.queued(packet)
        if mark:
            self.marked(packet, "early")
        return None

    def estimate(self, size: int, now: int) -> float:
        """`qdelayCoupledV` with `AlignVq` where half milliseconds have passed; `qdelayCoupledL`."""
        own = size / self.max_rate
        if not self.virtual:
            self.vq = self.bytes(self.L) / self.max_rate + own
            return self.vq
        passed = (now - self.last) / 1e9
        self.last = now
        self.vq = max(self.vq - passed, 0.0)
        self.since_align += passed
        while self.since_align >= 0.0005:
            self.since_align -= 0.0005
            change = (self.bytes(self.L) - self.aq) / 128
            self.aq += change
            if abs(change) < 1:
                self.since_align = 0.0
        self.vq = max(self.vq, self.aq / self.max_rate - self.loop) + own
        return self.vq

    def forget(self, size: int) -> None:
        if self.virtual:
            self.vq = max(self.vq - size / self.max_rate, 0.0)

    def recur(self, likelihood: float) -> bool:
        self.count += likelihood
        if self.count > 1:
            self.count -= 1
            return True
        return False

    # Queue protection.

    def pick_bucket(self, flow: int, now: int) -> list[int]:
        h32, spare = flow_hash(flow, self.seed), 2**BI_SIZE
        for _ in range(ATTEMPTS):
            h = h32 % 2**BI_SIZE
            if self.buckets[h][0] == flow:
                spare = h
                break
            if spare == 2**BI_SIZE and self.buckets[h][1] <= now:
                spare = h
            h32 >>= BI_SIZE
        bucket = self.buckets[spare]
        bucket[0], bucket[1] = flow, max(bucket[1], now)
        return bucket

    def sanctions(self, packet: Packet, native: float, delay: float, now: int) -> bool:
        bucket = self.pick_bucket(packet.flow, now)
        bucket[1] = min(bucket[1] + ns(native * packet.bytes / AGING), now + ns(MAX_QLSCORE))
        score = (bucket[1] - now) / 1e9
        return delay > self.critical and delay * score > self.product

    # A departure.

    def dequeue(self, now: int) -> Packet | None:
        if not self.C and not self.L:
            self.credit = self.credit0
            return None
        low = bool(self.L) and (not self.C or self.credit <= 0)
        packet = (self.L if low else self.C).popleft()
        if low:
            self.sent += packet.bytes
            self.credit += self.wc * packet.bytes if self.C else 0
        else:
            self.credit -= (100 - self.wc) * packet.bytes if self.L else 0
        return packet

    def state(self) -> dict[str, float]:
        return {
            "p": self.pie.p,
            "p_coupled": self.prob_cl,
            "low_delay": self.vq,
            "classic_packets": len(self.C),
            "low_packets": len(self.L),
            "sanctioned": self.sanctioned,
        }


LONG = {"packets": 3_000}
CASES = [
    *grid(
        {"trial": {"load": 1.5, **LONG}},
        protection=[True, False],
        estimator=["virtual", "backlog"],
    ),
    *grid({"max_burst": "0 s", "target": "3 ms", "trial": {"load": 1.3, **LONG}}, k=[1, 2.5]),
    {"limit_bytes": 9000, "low_limit_bytes": 6000, "c_weight": 40, "trial": {"load": 2}},
    {
        "max_th": "8 ms", "range": "6 ms", "critical": "2 ms", "critical_score": "1 ms",
        "loop_delay": "0 s", "hash_seed": 9, "trial": {"load": 1.2, "packets": 2_000},
    },
    {
        "alpha": 2, "beta": 20, "t_update": "5 ms", "max_burst": "20 ms",
        "trial": {"load": 1.6, **LONG},
    },
]  # fmt: skip
