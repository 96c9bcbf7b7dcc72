"""DCN: Le, Aikat, Jeffay and Smith, ICNP 2004, as reconstructed here (`aqmlab describe dcn`).

Flows are counted on a scoreboard (SB); those that reach the threshold are high-bandwidth flows
(HB), the only ones dropped, with the probability of a PI controller. Never marks.
"""

from collections.abc import Collection
from dataclasses import dataclass

from ._pi import PiLaw, limits
from .base import Fifo, Packet, Parameters, Verdict, drop, flow_hash, grid, ns


@dataclass
class Entry:
    """Of the scoreboard."""

    flow: int
    count: int
    last: int


class Slots:
    """Where a table of flows with linear probing, at most half full, keeps each of them."""

    def __init__(self, capacity: int, seed: int) -> None:
        self.size, self.seed = 1, seed
        while self.size < 2 * max(capacity, 1):
            self.size *= 2
        self.held: dict[int, int] = {}  # flow by slot

    def past_home(self, slot: int, flow: int) -> int:
        return (slot - flow_hash(flow, self.seed)) % self.size

    def probes(self, flow: int) -> int:
        """Slots looked at to find the flow, or that it is not there."""
        slot, seen = flow_hash(flow, self.seed) % self.size, 1
        while self.held.get(slot, flow) != flow:
            slot, seen = (slot + 1) % self.size, seen + 1
        return seen

    def insert(self, flow: int) -> None:
        home = flow_hash(flow, self.seed) + self.probes(flow) - 1
        self.held[home % self.size] = flow

    def remove(self, flow: int) -> None:
        hole = (flow_hash(flow, self.seed) + self.probes(flow) - 1) % self.size
        del self.held[hole]
        slot = (hole + 1) % self.size
        while slot in self.held:  # what was pushed past the hole moves back
            if self.past_home(slot, self.held[slot]) >= (slot - hole) % self.size:
                self.held[hole] = self.held.pop(slot)
                hole = slot
            slot = (slot + 1) % self.size

    def keep(self, flows: Collection[int]) -> None:
        """Removes all others, those in high slots first."""
        for flow in [self.held[s] for s in sorted(self.held, reverse=True)]:
            if flow not in flows:
                self.remove(flow)


class Dcn(Fifo):
    limit_first = True

    def setup(self, p: Parameters) -> None:
        self.limit, self.limit_bytes = limits(p, 200)
        self.threshold = int(p.get("threshold", 100))
        self.decrement = int(p.get("decrement", self.threshold))
        self.below_only, self.spares = p.flag("age_below_target"), p.flag("spare_short_queue")
        self.size, self.room = int(p.get("scoreboard_size", 8192)), p.get("table_size", 8192)
        self.seed = int(p.get("hash_seed", 1))
        self.collision = p.choice("collision", "decrement-incumbent")
        self.rule = p.choice("probability", "uniform")
        self.law = PiLaw(p, self.rate)
        self.interval = ns(p.get("interval", 0.8))
        self.due_law, self.due_age = self.law.period, self.interval
        self.due = min(self.due_law, self.due_age)
        self.hb: dict[int, int] = {}
        self.sb: dict[int, Entry] = {}  # by slot; in chains by flow, as many as there are slots
        self.hb_slots, self.sb_slots = Slots(int(self.room), self.seed), Slots(self.size, self.seed)
        self.packets = self.probes = self.live = 0
        self.mean_probes = 0.0

    def tick(self, now: int) -> None:
        if self.due_law == now:  # at one instant first the law, then, in a call of its own, ageing
            self.law.update(len(self.queue), self.bytes)
            self.due_law += self.law.period
        else:
            if (
                not self.below_only
                or self.law.measure(len(self.queue), self.bytes) < self.law.q_ref
            ):
                aged = {flow: count - self.decrement for flow, count in self.hb.items()}
                self.hb = {flow: count for flow, count in aged.items() if count > 0}
            if self.collision == "chain":  # slots are cleared when they are next looked at
                self.sb = {k: e for k, e in self.sb.items() if now - e.last <= self.interval}
                self.sb_slots.keep(self.sb)
            self.hb_slots.keep(self.hb)
            self.live = sum(e.count > 0 and now - e.last <= self.interval for e in self.sb.values())
            if self.packets:
                self.mean_probes = self.probes / self.packets
            self.packets = self.probes = 0
            self.due_age += self.interval
        self.due = min(self.due_law, self.due_age)

    def judge(self, packet: Packet, now: int) -> Verdict:
        self.packets += 1
        self.probes += self.hb_slots.probes(packet.flow)
        if packet.flow not in self.hb:
            self.score(packet.flow, now)
            return None
        self.hb[packet.flow] += 1
        p = self.law.p
        if self.rule == "bytes":
            p *= packet.bytes / self.law.mean
        elif self.rule == "count-weighted":
            p *= 1 + self.hb[packet.flow] / self.threshold
        hit = self.draws.uniform() < p
        return drop("early") if hit and not (self.spares and len(self.queue) <= 1) else None

    def score(self, flow: int, now: int) -> None:
        entry = self.entry(flow, now)
        if entry is None:
            return
        entry.count, entry.last = min(entry.count + 1, self.threshold), now
        if entry.count == self.threshold and len(self.hb) < self.room:
            self.hb[flow] = entry.count
            self.hb_slots.insert(flow)
            if self.collision == "chain":
                self.sb_slots.remove(flow)
            self.sb = {key: held for key, held in self.sb.items() if held is not entry}

    def entry(self, flow: int, now: int) -> Entry | None:
        """The flow's on the scoreboard; none where it goes uncounted."""
        chain = self.collision == "chain"
        key = flow if chain else flow_hash(flow, self.seed) % self.size
        held = self.sb.get(key)
        self.probes += self.sb_slots.probes(flow) if chain else 1
        if chain and held is None and len(self.sb) >= self.size:
            return None
        free = held is None or now - held.last > self.interval
        if not free and held.flow != flow:
            free = held.count == 0
            free |= self.collision == "replace-if-smaller" and held.count <= 1
            if not free:
                held.count -= self.collision == "decrement-incumbent"
                return None
        if free:
            held = self.sb[key] = Entry(flow, 0, now)
            if chain:
                self.sb_slots.insert(flow)
        return held

    def state(self) -> dict[str, float]:
        return {
            "p": self.law.p,
            "high_bandwidth_flows": len(self.hb),
            "scoreboard_flows": self.live,
            "probes_per_packet": self.mean_probes,
        }


FAST = {"threshold": 6, "interval": "20 ms", "q_ref": 3, "a": 0.03, "b": 0.025, "T": "3 ms"}
COLLISIONS = ["decrement-incumbent", "replace-if-smaller", "chain", "ignore"]
CASES = [
    {"trial": {"load": 2}, "threshold": 50},
    {**FAST, "spare_short_queue": True},
    *grid({**FAST, "limit": 30}, collision=COLLISIONS, scoreboard_size=[2, 64],
          trial=[{"flows": 40, "load": 1.5}]),
    *grid({**FAST, "table_size": 2, "limit": 9}, probability=["uniform", "bytes", "count-weighted"],
          age_below_target=[False, True], queue_in_bytes=[False, True]),
    *grid({**FAST, "decrement": 2, "scoreboard_size": 3, "hash_seed": 7, "limit_bytes": 20000},
          collision=COLLISIONS, trial=[{"flows": 40}]),
    {**FAST, "threshold": 1, "interval": "9 ms", "mean_packet_bytes": 900, "probability": "bytes"},
]  # fmt: skip
NEVER = ("marked early",)
