"""DualPI2: RFC 9332 appendix A (as in picoquic's and mahimahi's ports); Linux `sch_dualpi2.c`.

A Classic and a Scalable (L4S) queue behind weighted round robin, and one PI controller of the
larger of their delays. Linux draws random numbers; the RFC's listing accumulates probabilities.
"""

from __future__ import annotations

import math
from collections import deque

from .base import MARKABLE, Discipline, Packet, Parameters, grid, ns


class Dualpi2(Discipline):
    def setup(self, parameters: Parameters) -> None:
        self.linux = linux = parameters.choice("profile", "rfc9332") == "linux"
        self.target = parameters.get("target", 0.015)
        self.t_update = ns(parameters.get("t_update", 0.016 if linux else 0.015))
        self.alpha = parameters.get("alpha", 41 / 256 if linux else 0.15)
        self.beta = parameters.get("beta", 819 / 256 if linux else 3.0)
        self.k = parameters.get("k", 2)
        self.mtu = int(parameters.get("mtu", 1514))
        if linux:
            self.step = ns(parameters.get("step", 0.001))
            self.step_packets = parameters.get("step_packets", math.inf)
            self.in_packets = parameters.given("step_packets")
            self.min_qlen_step = parameters.get("min_qlen_step", 0)
            self.drop_overload = parameters.flag("drop_overload", True)
        else:
            self.min_th = ns(parameters.get("min_th", 0.0008))
            self.range = ns(parameters.get("range", 0.0004))
            self.th_len = parameters.get("th_len", 1)
        self.min_backlog = parameters.get("min_backlog", 2 * self.mtu if linux else 0)
        self.wc = int(parameters.get("c_weight", 10))
        self.wl = 100 - self.wc
        self.limit_bytes = parameters.get("limit_bytes", math.inf)
        bytes_given = parameters.given("limit_bytes")
        self.limit = parameters.get("limit", math.inf if bytes_given else 10_000)
        self.C: deque[Packet] = deque()
        self.L: deque[Packet] = deque()
        self.apply_step: deque[bool] = deque()
        self.credit0 = self.credit = self.mtu * (self.wc - self.wl)
        self.p = self.qdelay = 0.0
        self.sums = {"C": 0.0, "L": 0.0}
        self.due = self.t_update

    def bytes(self) -> int:
        return sum(packet.bytes for packet in (*self.C, *self.L))

    def tick(self, now: int) -> None:
        before = self.qdelay
        ages = [now - queue[0].arrived for queue in (self.C, self.L) if queue]
        self.qdelay = max(ages, default=0) / 1e9
        self.p += self.alpha * (self.qdelay - self.target) + self.beta * (self.qdelay - before)
        most = 1 / self.k if self.linux and not self.drop_overload else 1.0
        self.p = min(max(self.p, 0.0), most)
        self.due = now + self.t_update

    def enqueue(self, packet: Packet, now: int) -> None:
        room = packet.bytes if self.linux else self.mtu
        full = len(self.C) + len(self.L) >= self.limit or self.bytes() + room > self.limit_bytes
        if full:
            return self.dropped(packet, "overflow")
        scalable = packet.ecn in ("ect1", "ce")
        if scalable and self.linux:
            self.apply_step.append(len(self.L) >= self.min_qlen_step)
        (self.L if scalable else self.C).append(packet)
        return self.queued(packet)

    def dequeue(self, now: int) -> Packet | None:
        while True:
            if not self.C and not self.L:
                self.credit = self.credit0
                return None
            scalable = bool(self.L) and (not self.C or self.credit <= 0)
            packet = (self.L if scalable else self.C).popleft()
            if scalable:
                change = self.wc * packet.bytes if self.C else 0
            else:
                change = -self.wl * packet.bytes if self.L else 0
            judge = self.judge_linux if self.linux else self.judge_rfc
            verdict = judge(packet, scalable, now)
            if verdict in ("early", "forced"):
                self.dropped(packet, verdict)
                continue
            if verdict == "mark":
                self.marked(packet, "early")
            self.credit += change
            return packet

    # Linux.

    def twice(self) -> bool:
        return self.draws.uniform() < self.p and self.draws.uniform() < self.p

    def judge_linux(self, packet: Packet, scalable: bool, now: int) -> str:
        """ "mark", "early" or "forced" (a drop, in overload), or nothing."""
        mark = False
        overload = self.k * self.p > 1
        stepped = scalable and self.apply_step.popleft()
        if self.bytes() >= self.min_backlog:
            if not scalable and self.twice():
                if overload or packet.ecn not in MARKABLE:
                    return "forced" if overload else "early"
                mark = True
            elif scalable and overload:
                if self.drop_overload and self.twice():
                    return "forced"
                mark = True
            elif scalable:
                mark = self.draws.uniform() < self.k * self.p
        late = now - packet.arrived > self.step
        if self.in_packets:
            late = len(self.L) > self.step_packets
        return "mark" if mark or (stepped and late) else ""

    # RFC 9332.

    def recur(self, queue: str, likelihood: float) -> bool:
        self.sums[queue] += likelihood
        if self.sums[queue] > 1:
            self.sums[queue] -= 1
            return True
        return False

    def ramp(self, age: int) -> float:
        """The Scalable queue's native probability; up to Th_len packets of it are spared."""
        if age <= self.min_th or len(self.L) <= self.th_len:
            return 0.0
        return 1.0 if age >= self.min_th + self.range else (age - self.min_th) / self.range

    def judge_rfc(self, packet: Packet, scalable: bool, now: int) -> str:
        if self.bytes() < self.min_backlog:
            return ""
        p_cl = min(self.k * self.p, 1.0)
        p_c = self.p**2
        if scalable:
            if p_cl < 1:
                native = self.ramp(now - packet.arrived)
                return "mark" if self.recur("L", max(native, p_cl)) else ""
            if self.recur("L", p_c):
                return "forced"
            return "mark" if self.recur("L", p_cl) else ""
        if self.recur("C", p_c):
            overload = p_c >= min(1 / self.k**2, 1.0)
            return "forced" if overload else "mark" if packet.ecn in MARKABLE else "early"
        return ""

    def state(self) -> dict[str, float]:
        return {
            "p": self.p,
            "qdelay": self.qdelay,
            "classic_packets": len(self.C),
            "scalable_packets": len(self.L),
        }


CASES = [
    *grid({"limit": 60}, profile=["rfc9332", "linux"], k=[2, 1, 4], c_weight=[10, 50]),
    *grid({"limit_bytes": 40000, "t_update": "4 ms"}, profile=["rfc9332", "linux"], mtu=[600]),
    *grid({"profile": "linux", "limit": 90}, drop_overload=[True, False], step=["1 ms", "20 ms"]),
    {"limit": 60, "min_th": "2 ms", "range": "5 ms", "alpha": 2, "beta": 10},
    {"limit": 60, "range": "0 s"},
    *grid({"limit": 60}, th_len=[0, 3], min_backlog=[0, 4000]),
    *grid({"limit": 60, "profile": "linux"}, step_packets=[0, 4], min_qlen_step=[0, 3]),
    {"limit": 60, "profile": "linux", "min_qlen_step": 2, "min_backlog": 0},
    *grid(
        {"limit": 80, "alpha": 3, "beta": 20, "t_update": "4 ms", "trial": {"load": 2}},
        profile=["rfc9332", "linux"],
        k=[2, 0.9],
    ),
    {"limit": 80, "profile": "linux", "drop_overload": False, "alpha": 5, "trial": {"load": 2}},
]
