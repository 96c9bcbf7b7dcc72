"""Generic RED: Linux `net/sched/sch_gred.c`, the RED of `include/net/red.h` in each virtual queue.

Separate: each has its own average. RIO (`grio`): to it are added those of the virtual queues of
higher priority that are not idle. Shared (Linux: WRED mode): one average of the whole queue.
"""

import math

from ._red_linux import LinuxRed, wlog_for
from .base import PASS, Fifo, Packet, Parameters, Verdict, grid


class Gred(Fifo):
    def setup(self, p: Parameters) -> None:
        self.ecn, self.mode = p.flag("ecn"), p.choice("mode", "separate")
        n = int(p.get("virtual_queues", 3))
        self.classes = int(p.get("classes", n))
        self.default = p.optional("default_vq")
        mean = p.get("mean_packet_bytes", 1000)
        low, high = p.get("min_th", 5), p.get("max_th", 15)
        low_last, high_last = p.get("min_th_last", low), p.get("max_th_last", high)
        wlog = round(-math.log2(p.get("w_q"))) if p.given("w_q") else wlog_for(low, high)
        us, max_p, hard = self.packet_seconds(mean) * 1e6, p.get("max_p", 0.02), p.flag("harddrop")
        self.vqs = []
        for i in range(n):
            part = i / (n - 1) if n > 1 else 0.0
            self.vqs.append(
                LinuxRed(
                    self.draws,
                    low + part * (low_last - low),
                    high + part * (high_last - high),
                    wlog,
                    max_p,
                    mean=mean,
                    packet_us=us,
                    hard=hard,
                )
            )
        self.backlogs = [0] * n
        limit = p.get("limit", 60)
        self.total_limit = limit * mean
        self.vq_limit = min(p.get("vq_limit", limit), limit) * mean

    def vq(self, packet: Packet) -> int | None:
        i = packet.flow % self.classes
        if i < len(self.vqs):
            return i
        return None if self.default is None else int(self.default)

    def judge(self, packet: Packet, now: int) -> Verdict:
        i = self.vq(packet)
        if i is None:
            return PASS
        own, others = self.vqs[i], 0
        if self.mode == "grio":
            others = sum(vq.avg for vq in self.vqs[:i] if vq.idle_start is None)
        shared = self.vqs[0]
        if self.mode == "shared":
            own.avg, own.idle_start = shared.avg, shared.idle_start
        own.average(self.bytes if self.mode == "shared" else self.backlogs[i], now)
        if self.mode == "shared":
            shared.avg, shared.idle_start = own.avg, own.idle_start
        return own.decide(own.avg + others)

    def fits(self, packet: Packet) -> bool:
        i = self.vq(packet)
        if i is None:
            return self.bytes + packet.bytes <= self.total_limit
        waiting = self.bytes if self.mode == "shared" else self.backlogs[i]
        return waiting + packet.bytes <= self.vq_limit

    def accept(self, packet: Packet) -> None:
        super().accept(packet)
        i = self.vq(packet)
        if i is not None:
            self.backlogs[i] += packet.bytes

    def dequeue(self, now: int) -> Packet | None:
        packet = super().dequeue(now)
        i = None if packet is None else self.vq(packet)
        if packet is None or i is None:
            return packet
        self.backlogs[i] -= packet.bytes
        if self.mode == "shared":
            if self.bytes == 0:
                self.vqs[0].idle_start = now
        elif self.backlogs[i] == 0:
            self.vqs[i].idle_start = now
        return packet

    def state(self) -> dict[str, float]:
        if self.mode == "shared":
            return {"avg": self.vqs[0].packets()}
        return {f"avg_{i}": vq.packets() for i, vq in enumerate(self.vqs)}


BUSY = {"min_th": 1, "max_th": 4, "w_q": 1 / 8, "max_p": 0.2, "ecn": True}
CASES = [
    {},
    *grid(BUSY, mode=["separate", "grio", "shared"], harddrop=[False, True]),
    *grid({**BUSY, "min_th_last": 2, "max_th_last": 9}, mode=["separate", "grio", "shared"],
          virtual_queues=[1, 2, 5], classes=[5], vq_limit=[4]),
    *grid(BUSY, mode=["separate", "grio", "shared"], virtual_queues=[2], classes=[4],
          default_vq=[1], limit=[6], mean_packet_bytes=[700]),
    *grid({"ecn": False, "min_th": 1, "max_th": 3}, mode=["separate", "grio", "shared"]),
]  # fmt: skip
