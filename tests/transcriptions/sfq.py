"""Stochastic fairness queueing: McKenney, INFOCOM 1990; limits of Linux `sch_sfq.c`.

Flows are hashed into queues; the queues take turns, here those of deficit round robin; a full
buffer drops from the queue with most packets.
"""

from __future__ import annotations

from .base import Packet, Parameters, grid
from .drr import Queue, Rounds


def bucket_hash(flow: int, seed: int) -> int:
    """The simulator's hash of a flow into a queue: the finalizer of SplitMix64."""

    def mix(z: int) -> int:
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    return mix(flow ^ mix((seed + 0x9E3779B97F4A7C15) % 2**64))


class Sfq(Rounds):
    def setup(self, parameters: Parameters) -> None:
        self.limit = parameters.get("limit", 127)
        self.queues = int(parameters.get("queues", 1024))
        self.quantum = parameters.get("quantum", 1514)
        self.front = parameters.flag("head_drop")
        self.seed = int(parameters.get("hash_seed", 0))

    def key(self, packet: Packet) -> int:
        return bucket_hash(packet.flow, self.seed) % self.queues

    def victim(self, arrival: Queue) -> tuple[Queue, bool]:
        return max(self.active, key=self.size), self.front


CASES = [
    *grid({"limit": 30}, queues=[1024, 4, 1], head_drop=[False, True]),
    {"limit": 20, "quantum": 300, "hash_seed": 7, "queues": 3},
]
NEVER = ("marked early", "dropped early")
