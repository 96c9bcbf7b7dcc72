"""Stochastic fairness queueing: McKenney, INFOCOM 1990; limits of Linux `sch_sfq.c`.

Flows are hashed into queues; the queues take turns, here those of deficit round robin; a full
buffer drops from the queue with most packets.
"""

from __future__ import annotations

from .base import Packet, Parameters, flow_hash, grid
from .drr import Queue, Rounds


class Sfq(Rounds):
    def setup(self, parameters: Parameters) -> None:
        self.limit = parameters.get("limit", 127)
        self.queues = int(parameters.get("queues", 1024))
        self.quantum = parameters.get("quantum", 1514)
        self.front = parameters.flag("head_drop")
        self.seed = int(parameters.get("hash_seed", 0))

    def key(self, packet: Packet) -> int:
        return flow_hash(packet.flow, self.seed) % self.queues

    def victim(self, arrival: Queue) -> tuple[Queue, bool]:
        return max(self.active, key=self.size), self.front


CASES = [
    *grid({"limit": 30}, queues=[1024, 4, 1], head_drop=[False, True]),
    {"limit": 20, "quantum": 300, "hash_seed": 7, "queues": 3},
]
NEVER = ("marked early", "dropped early")
