"""FQ-CoDel: RFC 8290 sections 4 and 5; Linux `sch_fq_codel.c`, ns-3 FqCoDelQueueDisc.

Flows are hashed into queues with a CoDel each. Queues that have just become active are served
before the others, which take turns by bytes; a full buffer drops from the queue with most bytes.
"""

from __future__ import annotations

import math
from collections import deque

from .base import Discipline, Draws, Packet, Parameters, flow_hash, grid
from .codel import ControlledDelay


class Queue:
    """One of the hashed queues."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.packets: deque[Packet] = deque()
        self.bytes = 0
        self.deficit = 0

    def pop(self) -> Packet | None:
        if not self.packets:
            return None
        packet = self.packets.popleft()
        self.bytes -= packet.bytes
        return packet


class TwoLists(Discipline):
    """RFC 8290 section 4.2: the lists of new and old queues, and the deficits."""

    limit = limit_bytes = math.inf
    moves_to_empty_list = True  # an emptied new queue becomes old though no queue is old

    def __init__(self, parameters: Parameters, rate: int, draws: Draws) -> None:
        self.queues: list[Queue] = []
        self.new: list[Queue] = []
        self.old: list[Queue] = []
        super().__init__(parameters, rate, draws)

    def hashing(self, parameters: Parameters, quantum: float) -> None:
        self.queues = [Queue(i) for i in range(int(parameters.get("flows", 1024)))]
        self.seed = int(parameters.get("hash_seed", 0))
        self.quantum = int(parameters.get("quantum", quantum))

    def classify(self, packet: Packet) -> Queue:
        return self.queues[flow_hash(packet.flow, self.seed) % len(self.queues)]

    def total(self) -> int:
        return sum(len(queue.packets) for queue in self.new + self.old)

    def bytes(self) -> int:
        return sum(queue.bytes for queue in self.new + self.old)

    def append(self, queue: Queue, packet: Packet) -> None:
        queue.packets.append(packet)
        queue.bytes += packet.bytes
        if queue not in self.new and queue not in self.old:
            self.new.append(queue)
            queue.deficit = self.quantum
        self.queued(packet)

    def serve(self, queue: Queue, now: int) -> Packet | None:
        """Takes a packet from the queue, if it still holds one to send."""
        raise NotImplementedError

    def dequeue(self, now: int) -> Packet | None:
        while self.new or self.old:
            from_new = bool(self.new)
            source = self.new if from_new else self.old
            queue = source[0]
            if queue.deficit <= 0:
                queue.deficit += self.quantum
                self.old.append(source.pop(0))
                continue
            packet = self.serve(queue, now)
            if packet:
                queue.deficit -= packet.bytes
                return packet
            source.pop(0)
            if from_new and (self.old or self.moves_to_empty_list):
                self.old.append(queue)
        return None

    def drop_from_fattest(self, batch: float) -> tuple[Queue, int]:
        """Section 4.1: half the bytes of the queue with most, but at most `batch` packets."""
        fattest = max(self.queues, key=lambda queue: queue.bytes)  # the first of several
        threshold, lost, dropped = fattest.bytes / 2, 0, 0
        while lost < threshold and dropped < batch:
            packet = fattest.pop()
            assert packet
            lost += packet.bytes
            dropped += 1
            self.dropped(packet, "overflow")
        return fattest, dropped


class FqCodel(TwoLists):
    def setup(self, parameters: Parameters) -> None:
        self.profile = parameters.choice("profile", "rfc8290")
        ns3 = self.profile == "ns3"
        self.hashing(parameters, 1500 if ns3 else 1514)
        self.limit = parameters.get("limit", 10_240)
        self.limit_bytes = parameters.get("limit_bytes", math.inf if ns3 else 32 << 20)
        self.batch = parameters.get("drop_batch", 64)
        linux = self.profile in ("linux", "linux-6.12")
        self.moves_to_empty_list = not linux
        self.codels = [ControlledDelay(parameters, ecn=True) for _ in self.queues]
        for queue, codel in zip(self.queues, self.codels, strict=True):
            # Linux's CoDel looks at the bytes of all queues.
            backlog = self.bytes if linux else lambda queue=queue: queue.bytes
            codel.connect(queue.pop, backlog, self.marked, self.dropped)

    def enqueue(self, packet: Packet, now: int) -> None:
        self.append(self.classify(packet), packet)
        if self.total() > self.limit or self.bytes() > self.limit_bytes:
            fattest, dropped = self.drop_from_fattest(self.batch)
            if self.profile != "ns3":
                self.codels[fattest.index].count += dropped

    def serve(self, queue: Queue, now: int) -> Packet | None:
        return self.codels[queue.index].dequeue(now)

    def state(self) -> dict[str, float]:
        most = max(codel.count for codel in self.codels)
        return {"new_flows": len(self.new), "old_flows": len(self.old), "max_count": most}


PROFILES = ("rfc8290", "linux", "linux-6.12", "ns3")
CASES = [
    {"limit": 60, "interval": "20 ms"},
    *grid({"limit": 60, "interval": "20 ms"}, profile=PROFILES, flows=[64, 4], ecn=[False, True]),
    *grid({"limit_bytes": 40000, "quantum": 300, "flows": 8}, profile=PROFILES, drop_batch=[1, 64]),
    *grid({"limit": 50, "target": "1 ms", "interval": "5 ms", "flows": 2}, profile=PROFILES),
    *grid(
        {"limit": 50, "mtu": 3000, "hash_seed": 3, "flows": 9, "interval": "20 ms"},
        profile=PROFILES,
    ),
    *grid(
        {"limit": 50, "interval": "30 ms", "ce_threshold": "10 ms", "flows": 9}, profile=PROFILES
    ),
]
