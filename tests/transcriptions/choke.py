"""CHOKe: Pan, Prabhakar and Psounis, INFOCOM 2000; Linux `net/sched/sch_choke.c`.

RED, and before its test the arrival is compared with a random waiting packet: both are dropped if
they are of one flow.
"""

from __future__ import annotations

import math

from ._red_linux import LinuxRed, wlog_for
from .base import Discipline, Packet, Parameters, grid


class Choke(Discipline):
    def setup(self, p: Parameters) -> None:
        self.linux = p.choice("profile", "paper") == "linux"
        self.ecn, self.harddrop = p.flag("ecn"), p.flag("harddrop")
        self.limit = p.get("limit", 300)
        self.max_p, mean = p.get("max_p", 0.02), p.get("mean_packet_bytes", 1000)
        low, high = 100.0, 200.0
        if self.linux:
            high = max(self.limit // 4, 1)  # tc: not from min_th
            high = p.get("max_th", high)
            low = high // 3
        self.min_th, self.max_th = p.get("min_th", low), p.get("max_th", high)
        if self.linux:
            w = p.optional("w_q")
            wlog = round(-math.log2(w)) if w else wlog_for(self.min_th, self.max_th)
            us = self.packet_seconds(mean) * 1e6
            self.red = LinuxRed(
                self.draws, self.min_th, self.max_th, wlog, self.max_p, mean=1, packet_us=us
            )
        else:
            self.w_q, self.s = p.get("w_q", 0.002), round(self.packet_seconds(mean) * 1e9)
        self.avg, self.count = 0.0, -1
        self.q_time: int | None = 0  # since when the line idles, less what has aged the average
        self.aged_to = 0
        self.tab: list[Packet | None] = []  # from the head on; Linux leaves holes

    def waiting(self) -> int:
        return sum(packet is not None for packet in self.tab)

    def average(self, now: int) -> None:
        q = self.waiting()
        if self.linux:
            self.red.idle_start = self.q_time
            self.red.average(q, now)
            self.avg = self.red.packets()
        elif self.q_time is None:
            self.avg = (1 - self.w_q) * self.avg + self.w_q * q
        else:
            m = (now - self.q_time) // self.s
            self.avg *= (1 - self.w_q) ** m
            self.aged_to = self.q_time + m * self.s

    def drawn(self) -> int:
        """`choke_peek_random`: three tries to hit a packet, then the head."""
        for _ in range(3):
            i = self.draws.below(len(self.tab))
            if self.tab[i]:
                return i
        return 0

    def remove(self, i: int) -> None:
        if not self.linux:
            del self.tab[i]
            return
        self.tab[i] = None
        self.zap_head_holes()

    def zap_head_holes(self) -> None:
        while self.tab and self.tab[0] is None:
            del self.tab[0]

    def enqueue(self, packet: Packet, now: int) -> None:
        idle = self.q_time is not None
        self.average(now)
        self.q_time = None
        self.arrive(packet)
        if idle and not self.tab:  # dropped: the line stays idle, and Linux starts its clock anew
            self.q_time = now if self.linux else self.aged_to

    def arrive(self, packet: Packet) -> None:
        mark = False
        if self.avg <= self.min_th:
            self.count = -1
        else:
            if self.tab:
                i = self.drawn()
                match = self.tab[i]
                assert match
                if match.flow == packet.flow:
                    self.remove(i)
                    self.dropped(match, "early")
                    return self.dropped(packet, "early")
            why = self.test()
            if why:
                mark = self.ecn and packet.ecn != "not-ect"
                if not mark or (why == "forced" and self.harddrop):
                    return self.dropped(packet, why)
                if self.waiting() < self.limit:
                    self.marked(packet, why)
        if self.waiting() >= self.limit:
            return self.dropped(packet, "overflow")
        self.tab.append(packet)
        return self.queued(packet)

    def p_b(self) -> float:
        above = self.avg - self.min_th
        if self.linux:
            return self.red.per_byte / 2**32 * (above // 1)
        return self.max_p * above / (self.max_th - self.min_th)

    def test(self) -> str:
        """RED's, between and above the thresholds; "" if the arrival passes."""
        if self.avg > self.max_th:
            self.count = -1
            return "forced"
        self.count += 1
        if not self.linux:
            p_b, c = self.p_b(), self.count
            if self.draws.uniform() >= (p_b / (1 - c * p_b) if c * p_b < 1 else 1):
                return ""
        else:
            red = self.red
            above = red.avg - (red.low << red.wlog) >> red.wlog
            if self.count == 0:
                red.r = red.random()
                return ""
            if above * self.count < red.r:
                return ""
            red.r = red.random()
        self.count = 0
        return "early"

    def dequeue(self, now: int) -> Packet | None:
        if not self.tab:
            if self.q_time is None:
                self.q_time = now
            return None
        packet = self.tab.pop(0)
        self.zap_head_holes()
        return packet

    def state(self) -> dict[str, float]:
        p_b = 1.0 if self.avg > self.max_th else max(self.p_b(), 0.0)
        return {"avg": self.avg, "p_b": p_b, "count": self.count}


BUSY = {"min_th": 2, "max_th": 6, "limit": 20, "max_p": 0.1, "w_q": 1 / 16}
CASES = [
    *grid(BUSY, profile=["paper", "linux"], ecn=[False, True]),
    *grid(BUSY, profile=["paper", "linux"], ecn=[True], harddrop=[True], mean_packet_bytes=[300]),
    *grid({"limit": 40, "w_q": 1 / 4}, profile=["linux", "paper"], min_th=[4], max_th=[36]),
    {"profile": "linux", "limit": 30},
    {"profile": "linux", "limit": 30, "min_th": 3},
    {"min_th": 1, "max_th": 9, "limit": 9, "w_q": 0.5},
    # The line idles while arrivals are dropped, closer together than packets of the idle clock.
    *grid(
        {"min_th": 2, "max_th": 4, "w_q": 1 / 128, "trial": {"load": 8}},
        profile=["paper", "linux"],
        mean_packet_bytes=[1000, 3000],
    ),
]
