"""Deficit round robin (Shreedhar and Varghese, SIGCOMM 1995) with a shared buffer that takes from
the longest queue, or nearly (Suter, Lakshman, Stiliadis and Choudhury, INFOCOM 1998).

Victims: LQD the longest queue; ALQD the queue registered as the longest; RND a random one above
its equal share of the buffer; tail the arrival.
"""

from __future__ import annotations

import math
from collections import deque

from .base import Discipline, Draws, Packet, Parameters, grid


class Queue:
    def __init__(self, flow: int) -> None:
        self.flow = flow
        self.packets: deque[Packet] = deque()
        self.deficit = 0
        self.visited = False  # whether this visit's quantum was given


class Rounds(Discipline):
    """The active list and its service; who loses is for `victim` to say."""

    limit = limit_bytes = math.inf
    quantum = 1500.0
    front = True

    def __init__(self, parameters: Parameters, rate: int, draws: Draws) -> None:
        self.active: list[Queue] = []  # in order of becoming active
        super().__init__(parameters, rate, draws)

    def key(self, packet: Packet) -> int:
        return packet.flow

    def victim(self, arrival: Queue) -> tuple[Queue, bool]:
        """Whose packet is dropped, and whether its first one."""
        raise NotImplementedError

    def touched(self, queue: Queue) -> None:
        """The queue has changed its length."""

    def size(self, queue: Queue) -> int:
        """The length by which queues are compared: packets if these are limited, else bytes."""
        by_packets = self.limit < math.inf
        return len(queue.packets) if by_packets else sum(p.bytes for p in queue.packets)

    def waiting(self) -> tuple[int, int]:
        packets = [p for queue in self.active for p in queue.packets]
        return len(packets), sum(p.bytes for p in packets)

    def enqueue(self, packet: Packet, now: int) -> None:
        key = self.key(packet)
        queue = next((q for q in self.active if q.flow == key), None)
        if queue is None:
            queue = Queue(key)
            self.active.append(queue)
        queue.packets.append(packet)
        self.queued(packet)
        self.touched(queue)
        while self.waiting()[0] > self.limit or self.waiting()[1] > self.limit_bytes:
            loser, first = self.victim(queue)
            self.dropped(loser.packets.popleft() if first else loser.packets.pop(), "overflow")
            self.leave_if_empty(loser)
            self.touched(loser)

    def leave_if_empty(self, queue: Queue) -> None:
        if not queue.packets:
            self.active.remove(queue)

    def dequeue(self, now: int) -> Packet | None:
        while self.active:
            queue = self.active[0]
            if not queue.visited:
                queue.deficit += int(self.quantum)
                queue.visited = True
            head = queue.packets[0]
            if head.bytes > queue.deficit:
                self.next_turn()
                continue
            queue.packets.popleft()
            queue.deficit -= head.bytes
            self.leave_if_empty(queue)
            self.touched(queue)
            if queue.packets and queue.packets[0].bytes > queue.deficit:
                self.next_turn()
            return head
        return None

    def next_turn(self) -> None:
        queue = self.active.pop(0)
        queue.visited = False
        self.active.append(queue)

    def state(self) -> dict[str, float]:
        return {"active_flows": len(self.active)}


class Drr(Rounds):
    def setup(self, parameters: Parameters) -> None:
        self.policy = parameters.choice("victim", "lqd")
        self.front = parameters.flag("front", True)
        self.quantum = parameters.get("quantum", 1500)
        self.limit = parameters.get("limit", math.inf)
        unlimited = parameters.given("limit")
        self.limit_bytes = parameters.get("limit_bytes", math.inf if unlimited else 150_000)
        self.register: Queue | None = None  # ALQD's longest queue, as far as it knows
        self.registered = 0

    def victim(self, arrival: Queue) -> tuple[Queue, bool]:
        if self.policy == "tail":
            return arrival, False
        longest = max(self.active, key=self.size)  # the first of several
        if self.policy == "alqd":
            return self.register or longest, self.front
        if self.policy == "rnd":
            share = min(self.limit, self.limit_bytes) / len(self.active)  # of the buffer
            above = [q for q in self.active if self.size(q) > share]
            return above[self.draws.below(len(above))], self.front
        return longest, self.front

    def touched(self, queue: Queue) -> None:
        if self.register is queue:
            self.registered = self.size(queue)
            if not queue.packets:
                self.register = None
        elif queue.packets and self.size(queue) > (self.registered if self.register else 0):
            self.register, self.registered = queue, self.size(queue)


CASES = [
    *grid({"limit": 30}, victim=["lqd", "alqd", "rnd", "tail"], front=[True, False]),
    *grid({"limit_bytes": 20000}, victim=["lqd", "alqd", "rnd", "tail"], quantum=[300, 1500]),
]
NEVER = ("marked early", "dropped early")
