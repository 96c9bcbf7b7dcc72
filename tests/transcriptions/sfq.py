"""Stochastic fairness queueing: McKenney, INFOCOM 1990, and Linux 6.12 `sch_sfq.c`.

Flows are hashed into queues; the queues take turns; a full buffer drops from the queue with most
packets. Profile `paper` has the turns of deficit round robin, `linux` the turns and limits of the
kernel, its choice among equally long queues, its new hash now and then, and its RED in every queue.
"""

from __future__ import annotations

import math
from itertools import count

from ._red_linux import LinuxRed, wlog_for
from .base import MARKABLE, Packet, Parameters, flow_hash, grid
from .drr import Queue, Rounds


class Sfq(Rounds):
    def setup(self, parameters: Parameters) -> None:
        self.limit = parameters.get("limit", 127)
        self.queues = int(parameters.get("queues", 1024))
        self.quantum = parameters.get("quantum", 1514)
        self.front = parameters.flag("head_drop")
        self.seed = int(parameters.get("hash_seed", 0))
        self.linux = parameters.choice("profile", "paper") == "linux"
        if self.linux:
            self.depth = parameters.get("depth", 127)
            self.flows = min(parameters.get("flows", 128), self.limit)
            self.turns = count()
            self.came: dict[int, int] = {}  # when a queue came to its length
            self.red(parameters)
            self.perturb = parameters.optional("perturb")
            if self.perturb is not None:
                self.due = round(self.perturb * 1e9)
                self.free = list(range(int(self.flows)))  # slots, the next one last
                self.slot: dict[int, int] = {}

    def key(self, packet: Packet) -> int:
        return flow_hash(packet.flow, self.seed) % self.queues

    def victim(self, arrival: Queue) -> tuple[Queue, bool]:
        if self.linux:
            longest = max(self.active, key=lambda q: (len(q.packets), self.came[q.flow]))
            return longest, self.front
        return max(self.active, key=self.size), self.front

    def touched(self, queue: Queue) -> None:
        if self.linux:
            self.came[queue.flow] = next(self.turns)

    def red(self, p: Parameters) -> None:
        """`sfq_parse_opt` of tc, and `red_parms`."""
        self.reds: dict[int, LinuxRed] = {}
        high = p.optional("red_max_th")
        if high is None:
            self.new_red = None
            return
        low, mean = p.get("red_min_th", high / 3), p.get("red_mean_packet_bytes", 1000)
        wlog = round(-math.log2(p.get("red_w_q"))) if p.given("red_w_q") else wlog_for(low, high)
        max_p, hard = p.get("red_max_p", 0.02), p.flag("red_harddrop")
        self.ecn = p.flag("red_ecn")
        self.new_red = lambda: LinuxRed(
            self.draws, low, high, wlog, max_p, mean=mean, packet_us=1, hard=hard
        )

    def enqueue(self, packet: Packet, now: int) -> None:
        if self.linux:
            self.take_in(packet, now)
        else:
            super().enqueue(packet, now)

    def take_in(self, packet: Packet, now: int) -> None:
        """`sfq_enqueue`."""
        key = self.key(packet)
        queue = next((q for q in self.active if q.flow == key), None)
        if queue is None and len(self.active) >= self.flows:
            self.dropped(packet, "overflow")
        elif queue is not None and (why := self.congested(queue, packet, now)):
            self.replace(queue, packet, why)
        else:
            if queue is None:
                self.begin(key)
            super().enqueue(packet, now)

    def begin(self, key: int) -> None:
        """A queue gets its first packet."""
        if self.new_red:
            self.reds[key] = self.new_red()
        if self.perturb is not None:
            self.slot[key] = self.free.pop()

    def congested(self, queue: Queue, packet: Packet, now: int) -> str | None:
        """`sfq_enqueue` up to `congestion_drop`: why the queue is to lose a packet."""
        if self.new_red:
            verdict = self.reds[queue.flow].arrive(0, sum(p.bytes for p in queue.packets), now)
            if verdict:
                kind, why = verdict
                first = [queue.packets[0]] if self.front else []
                for one in [*first, packet] if kind == "signal" and self.ecn else []:
                    if one.ecn in MARKABLE:
                        self.marked(one, why)
                        break
                else:
                    return why
        return "overflow" if len(queue.packets) >= self.depth else None

    def leave_if_empty(self, queue: Queue) -> None:
        super().leave_if_empty(queue)
        if self.linux and self.perturb is not None and not queue.packets:
            self.free.append(self.slot.pop(queue.flow))

    def tick(self, now: int) -> None:
        """`sfq_perturbation` and `sfq_rehash`."""
        self.seed = self.draws.below(2**53)
        self.due = now + round(self.perturb * 1e9)
        packets = []
        for queue in sorted(self.active, key=lambda q: self.slot[q.flow]):
            packets += queue.packets
            queue.packets.clear()
            self.leave_if_empty(queue)
        for packet in packets:
            key = self.key(packet)
            queue = next((q for q in self.active if q.flow == key), None)
            full = queue is not None and len(queue.packets) >= self.depth
            if full or (queue is None and len(self.active) >= self.flows):
                self.dropped(packet, "overflow")
                continue
            if queue is None:
                self.begin(key)
                queue = Queue(key)
                self.active.append(queue)
            if self.new_red:
                self.reds[key].average(sum(p.bytes for p in queue.packets), now)
            queue.packets.append(packet)
            self.touched(queue)

    def replace(self, queue: Queue, packet: Packet, why: str) -> None:
        """`sfq_enqueue`, `congestion_drop`."""
        if not self.front:
            self.dropped(packet, why)
            return
        self.queued(packet)
        queue.packets.append(packet)
        self.dropped(queue.packets.popleft(), why)

    def dequeue(self, now: int) -> Packet | None:
        if not self.linux:
            return super().dequeue(now)
        while self.active:
            queue = self.active[0]
            if not queue.visited:
                # A queue that becomes active has its quantum (`allot`).
                queue.deficit, queue.visited = int(self.quantum), True
            if queue.deficit <= 0:
                queue.deficit += int(self.quantum)
                self.active.append(self.active.pop(0))
                continue
            head = queue.packets.popleft()
            queue.deficit -= head.bytes
            self.leave_if_empty(queue)
            self.touched(queue)
            return head
        return None


EARLY = {"limit": 30, "profile": "linux"}
CASES = [
    *grid({"limit": 30}, queues=[1024, 4, 1], head_drop=[False, True]),
    {"limit": 20, "quantum": 300, "hash_seed": 7, "queues": 3},
    *grid({"limit": 30, "profile": "linux"}, queues=[1024, 4, 1], head_drop=[False, True]),
    *grid({"limit": 12, "profile": "linux", "depth": 3}, flows=[2, 128], head_drop=[False, True]),
    {"limit": 20, "quantum": 300, "hash_seed": 7, "queues": 3, "profile": "linux"},
    *grid({**EARLY, "red_max_th": 5, "red_w_q": 1 / 4, "red_ecn": True, "queues": 3},
          head_drop=[False, True], red_harddrop=[False, True]),
    {**EARLY, "red_max_th": 8, "red_min_th": 2, "red_max_p": 0.3, "depth": 9,
     "red_mean_packet_bytes": 500},
    {**EARLY, "perturb": "1 s", "queues": 3, "depth": 9, "flows": 2},
    {**EARLY, "perturb": "1 s", "queues": 64, "red_max_th": 4, "red_w_q": 1 / 2},
]  # fmt: skip
NEVER = ()
