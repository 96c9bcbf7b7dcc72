"""SFB: Feng, Kandlur, Saha and Shin, INFOCOM 2001; Linux `net/sched/sch_sfb.c`.

BLUE's probability in the bins of a Bloom filter: an arrival is signalled with the least
probability of its bins, and where that is certain its flow shares a small rate with its like.
"""

from __future__ import annotations

import math

from .base import PASS, Fifo, Packet, Parameters, Verdict, drop, flow_hash, grid, ns, signal

UNIT = 1 / 65536  # of Linux's probabilities


class Bin:
    qlen = 0
    p = 0.0


class Filter:
    """One of the two sets of L levels of N bins."""

    def __init__(self, levels: int, bins: int, salt: int) -> None:
        self.bins = [[Bin() for _ in range(bins)] for _ in range(levels)]
        self.salt = salt

    def of(self, flow: int) -> list[Bin]:
        """The digits of the hash, a fraction of 64 bits, to the base N."""
        fraction, found = flow_hash(flow, self.salt) | 1, []
        for level in self.bins:
            digit, fraction = divmod(fraction * len(level), 2**64)
            found.append(level[digit])
        return found


class Sfb(Fifo):
    limit_first = True

    def setup(self, p: Parameters) -> None:
        self.profile = p.choice("profile", "lab")
        paper = self.profile == "paper"
        self.shape = int(p.get("L", 2 if paper else 8)), int(p.get("N", 23 if paper else 16))
        self.bin_size = p.get("bin_size", 20)
        self.max = p.get("max", math.inf if paper else 25)
        self.d1, self.d2 = p.get("d1", 66 * UNIT), p.get("d2", 11 * UNIT)
        self.most = {"lab": 1 - UNIT, "linux": 0xFFFF, "paper": 1.0}[self.profile]
        if self.profile == "linux":  # whole units
            self.d1, self.d2 = (int(d / UNIT + 0.5) for d in (self.d1, self.d2))
        self.rate_limit = p.get("penalty_rate", 10)
        self.burst = p.get("penalty_burst", 20)
        self.tokens, self.token_time = self.burst, 0
        self.rehash_interval = ns(p.get("rehash_interval", 600))
        self.warmup_time = ns(p.get("warmup_time", 60))
        self.limit = p.get("limit", 1000)
        self.ecn = p.flag("ecn", True)
        self.seed = int(p.get("hash_seed", 0))
        self.sets = [Filter(*self.shape, flow_hash(n, self.seed)) for n in (1, 2)]
        self.salted, self.current, self.p_min = 2, 0, 0.0
        self.rehash_time: int | None = None
        self.hashed: dict[int, list[Bin]] = {}  # the bins that a waiting packet is counted in

    def rehash(self, now: int) -> bool:
        """Changes the sets when it is time; whether the next one is warmed up."""
        if self.rehash_time is None:
            self.rehash_time = now
        if self.rehash_interval == 0:
            return False
        age = now - self.rehash_time
        if age > self.rehash_interval:
            self.salted += 1
            self.sets[self.current].salt = flow_hash(self.salted, self.seed)
            self.current ^= 1
            self.rehash_time = now
            return False
        return self.warmup_time > 0 and age > self.rehash_interval - self.warmup_time

    def update(self, bins: list[Bin]) -> None:
        for b in bins:
            crowded = b.qlen > self.bin_size if self.profile == "paper" else b.qlen >= self.bin_size
            if b.qlen == 0:
                b.p = max(b.p - self.d2, 0)
            elif crowded:
                b.p = min(b.p + self.d1, 1 if self.profile != "linux" else 0xFFFF)

    def judge(self, packet: Packet, now: int) -> Verdict:
        warm_up = self.rehash(now)
        self.arrival = self.sets[self.current].of(packet.flow)
        self.update(self.arrival)
        self.p_min = min(b.p for b in self.arrival)
        if min(b.qlen for b in self.arrival) >= self.max:
            return drop("forced")
        if self.p_min >= self.most:
            if warm_up:
                other = self.sets[self.current ^ 1].of(packet.flow)
                self.update(other)
                self.arrival = self.arrival + other
            return PASS if self.token(now) else drop("forced")
        if self.profile == "linux":
            r, half = self.draws.below(65536), 0xFFFF // 2
        else:
            r, half = self.draws.uniform(), 0.5
        if r >= self.p_min:
            return PASS
        sure = self.profile != "paper" and self.p_min > half and r < 2 * (self.p_min - half)
        return drop("early") if sure else signal()

    def token(self, now: int) -> bool:
        """The penalty box's bucket. Linux refills an empty one only, by whole tokens, and
        restarts the clock even if that is none."""
        if self.profile == "linux" and self.rate_limit == 0:
            return False
        age = (now - self.token_time) / 1e9
        if self.profile != "linux":
            self.tokens = min(self.tokens + age * self.rate_limit, self.burst)
            self.token_time = now
        elif self.tokens < 1:
            self.tokens = min(int(min(age, 10) * self.rate_limit), self.burst)
            self.token_time = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    def accept(self, packet: Packet) -> None:
        self.hashed[packet.id] = self.arrival
        for b in self.arrival:
            b.qlen += 1
        super().accept(packet)

    def dequeue(self, now: int) -> Packet | None:
        packet = super().dequeue(now)
        if packet:
            for b in self.hashed.pop(packet.id):
                b.qlen -= 1
        return packet

    def state(self) -> dict[str, float]:
        p_min = self.p_min * UNIT if self.profile == "linux" else self.p_min
        return {"p_min": p_min, "tokens": self.tokens, "set": self.current}


PROFILES = ("lab", "linux", "paper")
HARD = {"limit": 40, "bin_size": 2, "d1": 0.05, "d2": 0.01, "penalty_burst": 5}
CASES = [
    {"limit": 60, "max": 4, "bin_size": 2, "trial": {"load": 2}},
    *grid({"limit": 40}, profile=PROFILES, bin_size=[20, 3], ecn=[True, False]),
    *grid(HARD, profile=PROFILES, penalty_rate=[0, 10, 100], max=[30]),
    *grid(HARD, profile=PROFILES, rehash_interval=["200 ms"], warmup_time=["100 ms", "0 s"]),
    *grid(HARD, profile=PROFILES, L=[3], N=[4], hash_seed=[5], rehash_interval=["0 s"],
          warmup_time=["0 s"]),
]  # fmt: skip
