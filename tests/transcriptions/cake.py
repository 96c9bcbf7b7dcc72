"""CAKE: Linux `net/sched/sch_cake.c`; Høiland-Jørgensen, Taht and Morton, LANMAN 2018.

A shaper without a bucket, tins by code point, flow queues in sets of eight with COBALT at their
heads, and turns in inverse proportion to the busy queues of a flow's hosts (triple isolation).
Here with one tin or three, without ingress mode, ACK filter and framing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace

from .base import Discipline, Packet, Parameters, flow_hash, grid, ns
from .cobalt import Vars

ONE = 1 << 16  # a byte of deficit
# Per tin: the rate's shift and the quantum of the unshaped mode.
TINS = {"besteffort": [(0, 65535)], "diffserv3": [(0, 1024), (4, 64), (2, 256)]}
BULK_CODES = (1, 8)  # LE, CS1
VOICE_CODES = (4, 44, 46, 48, 56)  # TOS4, VA, EF, CS6, CS7


KNOWN = {"rate", "tins", "target", "interval", "ecn", "memory_limit", "mtu", "queues", "hash_seed"}


def covers(parameters: Mapping[str, object]) -> bool:
    """Whether a published case asks for nothing that is not transcribed."""
    return parameters.keys() <= KNOWN and parameters.get("tins", "diffserv3") in TINS


class Flow:
    def __init__(self, variables: Vars) -> None:
        self.cvars = variables
        self.packets: deque[Packet] = deque()
        self.bytes = self.deficit = 0
        self.tag = -1
        self.set = ""  # sparse, wait (SPARSE_WAIT), bulk, decaying, or none
        self.hosts = (0, 0)


def ways(tag: int, places: int) -> list[int]:
    """The set of eight that a tag may be in, its direct place first."""
    direct = tag % places
    return [direct - direct % 8 + (direct + i) % 8 for i in range(8)]


class Hosts:
    """Hosts of one direction and how many bulk flows each has."""

    def __init__(self, places: int) -> None:
        self.tags, self.bulk = [0] * places, [0] * places

    def place(self, tag: int) -> int:
        found = ways(tag, len(self.tags))
        known = [i for i in found if self.tags[i] == tag]
        idle = [i for i in found if self.bulk[i] == 0]
        place = (known or idle or found)[0]
        self.tags[place] = tag
        return place


class Tin:
    def __init__(self, rate: int, quantum: int, p: Parameters, queues: int) -> None:
        mtu = int(p.get("mtu", 1514))
        self.pace = (10**9 << 32) // rate if rate else 0  # time of a byte, 2^-32 ns
        mtu_time = mtu * self.pace >> 32
        target, interval = ns(p.get("target", 0.005)), ns(p.get("interval", 0.1))
        longer = max(mtu_time * 3 // 2, target)
        self.interval = max(interval + longer - target, 2 * longer)
        self.flow_quantum = min(max(rate // 4096, 300), 1514) if rate else 1514
        self.quantum, self.deficit, self.next = quantum, 0, 0
        self.flows = [Flow(Vars(longer, self.interval, 1 / 256, 1 / 4096)) for _ in range(queues)]
        for flow in self.flows:
            flow.cvars.least_stay = 4 * mtu_time
        self.new: list[Flow] = []
        self.old: list[Flow] = []
        self.decaying: list[Flow] = []
        self.hosts = Hosts(queues), Hosts(queues)  # sources, destinations

    def count(self, *sets: str) -> int:
        return sum(flow.set in sets for flow in self.new + self.old + self.decaying)

    def turn(self, flow: Flow) -> int:
        """cake_get_flow_quantum."""
        loads = [side.bulk[host] for side, host in zip(self.hosts, flow.hosts, strict=True)]
        load = max(1, *loads)
        return self.flow_quantum * ONE // load

    def move(self, flow: Flow, to: list[Flow] | None, kind: str) -> None:
        """To the end of another list, and into another set; bulk flows count for their hosts."""
        change = (kind == "bulk") - (flow.set == "bulk")
        for side, host in zip(self.hosts, flow.hosts, strict=True):
            side.bulk[host] += change
        for flows in (self.new, self.old, self.decaying):
            if flow in flows:
                flows.remove(flow)
        flow.set = kind
        if to is not None:
            to.append(flow)


class Cake(Discipline):
    def setup(self, p: Parameters) -> None:
        rate = int(p.get("rate", 0)) // 8
        queues = int(p.get("queues", 1024))
        scheme = p.choice("tins", "diffserv3")
        self.tins = [Tin(rate >> shift, q, p, queues) for shift, q in TINS[scheme]]
        self.ecn, self.seed = p.flag("ecn", True), int(p.get("hash_seed", 0))
        self.pace, mtu = self.tins[0].pace, int(p.get("mtu", 1514))
        most = 10240 * mtu
        if rate:
            most = min(max(4 * rate * self.tins[0].interval // 10**9, 4 << 20), most)
        self.buffer = p.get("memory_limit", most)
        self.next = self.failsafe = self.fraction = self.current = 0

    def waiting(self) -> int:
        return sum(len(f.packets) for t in self.tins for f in t.new + t.old + t.decaying)

    # cake_hash, cake_enqueue.

    def classify(self, tin: Tin, packet: Packet) -> Flow:
        tag = flow_hash(packet.flow, self.seed) % 2**32
        found = [tin.flows[i] for i in ways(tag, len(tin.flows))]
        tagged = [flow for flow in found if flow.tag == tag]
        free = [flow for flow in found if not flow.set]
        flow = (tagged or free or found)[0]
        flow.tag = tag
        if not tagged or not flow.set:  # a new tenant, or one more: it is taken for its hosts
            bulk = flow.set == "bulk"
            hosts = []
            sides = zip(tin.hosts, flow.hosts, (packet.source, packet.destination), strict=True)
            for n, (side, before, host) in enumerate(sides):
                side.bulk[before] -= bulk
                hosts.append(side.place(flow_hash(host, self.seed + 1 + n) % 2**32))
                side.bulk[hosts[n]] += bulk
            flow.hosts = hosts[0], hosts[1]
        return flow

    def enqueue(self, packet: Packet, now: int) -> None:
        self.due = None
        code = packet.dscp if len(self.tins) > 1 else 0
        tin = self.tins[1 if code in BULK_CODES else 2 if code in VOICE_CODES else 0]
        flow = self.classify(tin, packet)
        if not any(f.packets for f in tin.new + tin.old + tin.decaying):
            tin.next = max(tin.next, now)
            if not self.waiting() and self.next < now:
                self.next, self.failsafe, self.fraction = now, now, 0
        flow.packets.append(packet)
        flow.bytes += packet.bytes
        self.queued(packet)
        if flow.set in ("", "decaying"):
            tin.move(flow, tin.new, "sparse")
            flow.deficit = tin.turn(flow)
        elif flow.set == "wait":
            where = tin.old.index(flow)
            tin.move(flow, None, "bulk")
            tin.old.insert(where, flow)
        every = [f for t in self.tins for f in t.flows]
        while sum(f.bytes for t in self.tins for f in t.new + t.old) > self.buffer:
            longest = max(every, key=lambda f: f.bytes)  # the first of several
            self.dropped(self.pop(longest), "overflow")
            longest.cvars.full(now)
        self.wake(now)

    def pop(self, flow: Flow) -> Packet:
        packet = flow.packets.popleft()
        flow.bytes -= packet.bytes
        return packet

    # cake_dequeue.

    def wake(self, now: int) -> None:
        until = min(self.next, self.failsafe)
        self.due = until if until > now and self.waiting() else None

    def tick(self, now: int) -> None:
        self.due = None

    def dequeue(self, now: int) -> Packet | None:
        packet = self.take(now)
        self.wake(now)
        return packet

    def take(self, now: int) -> Packet | None:
        first = True
        while self.waiting():
            if min(self.next, self.failsafe) > now:
                return None
            tin = self.shaped_tin(now) if self.pace else self.next_tin()
            again = True
            while again:
                lists = [tin.decaying] * first + [tin.new, tin.old, tin.decaying]
                held = next((flows for flows in lists if flows), None)
                if held is None:
                    break
                flow, first = held[0], False
                again = flow.deficit <= 0
                if again:
                    kind = flow.set
                    if kind == "sparse":
                        kind = "bulk" if flow.packets else "wait"
                    tin.move(flow, tin.old, kind)
                    flow.deficit += tin.turn(flow)
                elif packet := self.judged(tin, flow, now):
                    self.charge(tin, flow, packet.bytes, now)
                    return packet
        return None

    def shaped_tin(self, now: int) -> Tin:
        best, best_time = self.tins[0], 1 << 63
        for tin in self.tins:
            wait = tin.next - now
            if tin.count("sparse", "wait", "bulk") and (wait <= 0 or wait <= best_time):
                best, best_time = tin, wait
        return best

    def next_tin(self) -> Tin:
        while True:
            tin = self.tins[self.current]
            if tin.deficit >= 0 and tin.count("sparse", "wait", "bulk"):
                return tin
            if tin.deficit <= 0:
                tin.deficit += tin.quantum
            self.current = (self.current + 1) % len(self.tins)

    def judged(self, tin: Tin, flow: Flow, now: int) -> Packet | None:
        while flow.packets:
            packet = self.pop(flow)
            judged = packet if self.ecn else replace(packet, ecn="not-ect")
            verdict = flow.cvars.should_drop(judged, now, self.draws)
            if verdict in ("early", "forced") and flow.packets:
                self.dropped(packet, verdict)
                continue
            if flow.cvars.marks:
                self.marked(packet, "early")
            return packet
        v = flow.cvars
        v.empty(now)
        if v.p_drop > 0 or v.count > 0 or now < v.drop_next:
            tin.move(flow, tin.decaying, "decaying")
        else:
            tin.move(flow, None, "")
        return None

    def charge(self, tin: Tin, flow: Flow, size: int, now: int) -> None:
        """cake_advance_shaper."""
        flow.deficit -= size * ONE
        tin.deficit -= size
        if not self.pace:
            return
        own = size * tin.pace >> 32
        tin.next = tin.next + own if tin.next < now else max(tin.next, now + own)
        time, self.fraction = divmod(size * self.pace + self.fraction, 1 << 32)
        self.next += time
        self.failsafe += time + time // 2

    def state(self) -> dict[str, float]:
        return {
            "bulk_flows": sum(t.count("bulk") for t in self.tins),
            "sparse_flows": sum(t.count("sparse", "wait") for t in self.tins),
            "decaying_flows": sum(t.count("decaying") for t in self.tins),
            "max_p_drop": max(f.cvars.p_drop for t in self.tins for f in t.flows),
        }


HEADERS = {"headers": True, "flows": 14, "load": 1.3}
CASES = [
    *grid({"memory_limit": 30_000, "queues": 64}, tins=["besteffort", "diffserv3"],
          rate=["8 Mbit/s", "1 Mbit/s"], trial=[HEADERS]),
    *grid({"memory_limit": 30_000, "queues": 16}, tins=["besteffort", "diffserv3"],
          interval=["10 ms"], ecn=[False, True], hash_seed=[3], trial=[HEADERS]),
    *grid({"memory_limit": 40_000, "queues": 8, "interval": "5 ms", "target": "2 ms", "mtu": 500},
          tins=["besteffort", "diffserv3"], rate=["6 Mbit/s"], trial=[{"headers": True,
                                                                       "flows": 30}]),
]  # fmt: skip
