"""Stochastic fairness queueing: McKenney, INFOCOM 1990, and Linux 6.12 `sch_sfq.c`.

Flows are hashed into queues; the queues take turns; a full buffer drops from the queue with most
packets. Profile `paper` has the turns of deficit round robin, `linux` the turns and limits of the
kernel, and its choice among equally long queues.
"""

from __future__ import annotations

from itertools import count

from .base import Packet, Parameters, flow_hash, grid
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

    def enqueue(self, packet: Packet, now: int) -> None:
        key = self.key(packet)
        queue = next((q for q in self.active if q.flow == key), None)
        if self.linux and queue is None and len(self.active) >= self.flows:
            self.dropped(packet, "overflow")
        elif self.linux and queue is not None and len(queue.packets) >= self.depth:
            self.replace(queue, packet)
        else:
            super().enqueue(packet, now)

    def replace(self, queue: Queue, packet: Packet) -> None:
        """`sfq_enqueue`, `congestion_drop`."""
        if not self.front:
            self.dropped(packet, "overflow")
            return
        self.queued(packet)
        queue.packets.append(packet)
        self.dropped(queue.packets.popleft(), "overflow")

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


CASES = [
    *grid({"limit": 30}, queues=[1024, 4, 1], head_drop=[False, True]),
    {"limit": 20, "quantum": 300, "hash_seed": 7, "queues": 3},
    *grid({"limit": 30, "profile": "linux"}, queues=[1024, 4, 1], head_drop=[False, True]),
    *grid({"limit": 12, "profile": "linux", "depth": 3}, flows=[2, 128], head_drop=[False, True]),
    {"limit": 20, "quantum": 300, "hash_seed": 7, "queues": 3, "profile": "linux"},
]
NEVER = ("marked early", "dropped early")
