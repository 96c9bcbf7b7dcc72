"""HHF, the heavy-hitter filter: Linux `sch_hhf.c`; Estan and Varghese, SIGCOMM 2002.

A multi-stage filter with conservative update and shielding finds the flows that send much. They
have a bucket of their own, with less weight in a deficit round robin of two.
"""

from __future__ import annotations

from collections import deque

from .base import Discipline, Packet, Parameters, flow_hash, grid, ns

HH, NON_HH = 0, 1


class Hhf(Discipline):
    def setup(self, p: Parameters) -> None:
        self.limit = p.get("limit", 1000)
        quantum, weight = int(p.get("quantum", 1514)), int(p.get("non_hh_weight", 2))
        self.quantum = [quantum, quantum * weight]
        self.flows_limit = p.get("hh_limit", 2048)
        self.reset_timeout = ns(p.get("reset_timeout", 0.04))
        self.admit_bytes = p.get("admit_bytes", 131072)
        self.evict_timeout = ns(p.get("evict_timeout", 1))
        self.seed = int(p.get("hash_seed", 0))
        self.arrays: list[dict[int, int]] = [{} for _ in range(4)]
        self.reset_at = 0
        self.table: dict[int, list[list[int]]] = {}  # by slot: [hash, hit_timestamp]
        self.buckets: list[deque[Packet]] = [deque(), deque()]
        self.deficit = [0, 0]
        self.new: list[int] = []
        self.old: list[int] = []

    def current(self) -> int:
        return sum(len(chain) for chain in self.table.values())

    def seek(self, key: int, now: int) -> list[int] | None:
        chain = self.table.setdefault(key & 1023, [])
        for flow in list(chain):
            if flow[1] + self.evict_timeout < now:
                if flow is chain[-1]:
                    return None
                chain.remove(flow)
            elif flow[0] == key:
                return flow
        return None

    def capture(self, key: int, now: int) -> bool:
        """Notes a new heavy hitter in the first expired entry, or in a new one."""
        chain = self.table.setdefault(key & 1023, [])
        for flow in chain:
            if flow[1] + self.evict_timeout < now:
                flow[:] = key, now
                return True
        if self.current() >= self.flows_limit:
            return False
        chain.append([key, now])
        return True

    def classify(self, packet: Packet, now: int) -> int:
        if self.reset_at + self.reset_timeout < now:
            self.arrays = [{} for _ in range(4)]
            self.reset_at = now
        key = flow_hash(packet.flow, self.seed) & 0xFFFFFFFF
        if flow := self.seek(key, now):
            flow[1] = now
            return HH
        chunks = [key & 1023, (key >> 10) & 1023, (key >> 20) & 1023]
        where = [*chunks, chunks[0] ^ chunks[1] ^ chunks[2] ^ (key >> 30)]
        pairs = list(zip(self.arrays, where, strict=True))
        least = min(array.get(at, 0) for array, at in pairs) + packet.bytes
        if least > self.admit_bytes:
            return HH if self.capture(key, now) else NON_HH
        for array, at in pairs:
            array[at] = max(array.get(at, 0), least)
        return NON_HH

    def enqueue(self, packet: Packet, now: int) -> None:
        idx = self.classify(packet, now)
        self.buckets[idx].append(packet)
        self.queued(packet)
        if idx not in self.new and idx not in self.old:
            (self.old if idx == HH else self.new).append(idx)
            self.deficit[idx] = self.quantum[idx]
        if sum(map(len, self.buckets)) > self.limit:
            victim = self.buckets[HH] or self.buckets[NON_HH]
            self.dropped(victim.popleft(), "overflow")

    def dequeue(self, now: int) -> Packet | None:
        while head := self.new or self.old:
            idx = head[0]
            if self.deficit[idx] <= 0:
                self.deficit[idx] += self.quantum[idx]
                self.old.append(head.pop(0))
            elif self.buckets[idx]:
                packet = self.buckets[idx].popleft()
                self.deficit[idx] -= packet.bytes
                return packet
            elif head is self.new and self.old:
                self.old.append(head.pop(0))
            else:
                head.pop(0)
        return None

    def state(self) -> dict[str, float]:
        heavy, others = map(len, self.buckets)
        return {
            "heavy_hitters": self.current(),
            "heavy_packets": heavy,
            "other_packets": others,
        }


CASES = [
    {"limit": 30},
    *grid({"limit": 30, "admit_bytes": 3000}, non_hh_weight=[1, 2], quantum=[300, 1514]),
    {"limit": 20, "admit_bytes": 1500, "evict_timeout": "5 ms", "reset_timeout": "10 ms"},
    {"limit": 20, "admit_bytes": 0, "evict_timeout": "1 ms", "hh_limit": 3, "hash_seed": 5},
]
NEVER = ("marked early", "dropped early")
