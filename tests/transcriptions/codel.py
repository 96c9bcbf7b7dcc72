"""CoDel: RFC 8289 section 5 (Nichols and Jacobson); Linux `codel_impl.h`, ns-3, ns-2.35 `codel.cc`.

Packets carry the time of their arrival; at each departure the sojourn of the packet at the head is
compared with a target. The names are those of the RFC's listing.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .base import MARKABLE, Fifo, Packet, Parameters, grid, ns


class ControlledDelay:
    """The algorithm for one queue, which `pop` empties; `backlog` tells the bytes left."""

    first_above_time = count = lastcount = 0
    drop_next = -math.inf  # no series was ever left
    dropping = False
    largest = 256  # ns-2: the largest packet seen stands for MAXPACKET
    rec_inv_sqrt = 0  # Linux, ns-3: 1/sqrt(count), 16 bits

    def __init__(self, parameters: Parameters, ecn: bool = False) -> None:
        self.profile = parameters.choice("profile", "rfc")
        self.linux = self.profile in ("linux", "linux-6.12")
        self.integers = self.linux or self.profile == "ns3"
        self.target = self.cut(ns(parameters.get("target", 0.005)))
        self.interval = self.cut(ns(parameters.get("interval", 0.1)))
        self.mtu = parameters.get("mtu", 1514 if self.linux else 1500)
        self.ecn = parameters.flag("ecn", ecn)
        threshold = parameters.optional("ce_threshold")
        self.ce_threshold = math.inf if threshold is None else self.cut(ns(threshold))

    def connect(
        self,
        pop: Callable[[], Packet | None],
        backlog: Callable[[], int],
        marked: Callable[[Packet, str], None],
        dropped: Callable[[Packet, str], None],
    ) -> None:
        self.pop, self.backlog, self.marked, self.dropped = pop, backlog, marked, dropped

    def cut(self, time: int) -> int:
        """Linux and ns-3 count in units of 1,024 ns (`CODEL_SHIFT`)."""
        return time >> 10 << 10 if self.integers else time

    def stay(self, packet: Packet, now: int) -> int:
        """Linux cuts both times (`codel_get_time`), ns-3 their difference."""
        if self.linux:
            return self.cut(now) - self.cut(packet.arrived)
        return self.cut(now - packet.arrived)

    def ok_to_drop(self, packet: Packet | None, now: int) -> bool:
        if packet is None:
            self.first_above_time = 0
            return False
        self.largest = max(self.largest, packet.bytes)
        left = self.backlog()
        small = {"ns3": left < self.mtu, "ns2": left <= self.largest}.get(
            self.profile, left <= self.mtu
        )
        if self.stay(packet, now) < self.target or small:
            self.first_above_time = 0
            return False
        now = self.cut(now)
        if self.first_above_time == 0:
            self.first_above_time = now + self.interval
            return False
        # Linux and ns-3 want the interval exceeded.
        return now > self.first_above_time or (not self.integers and now == self.first_above_time)

    def newton_step(self) -> None:
        """Linux `codel_Newton_step`: one step of 1/sqrt(count), in wrapping 64-bit words."""
        invsqrt = self.rec_inv_sqrt << 16
        value = ((3 << 32) - self.count * (invsqrt * invsqrt >> 32)) % 2**64 >> 2
        self.rec_inv_sqrt = (value * invsqrt % 2**64 >> 31 >> 16) % 2**16

    def control_law(self, t: float) -> float:
        if self.integers:
            # In units of 1,024 ns; what is left over is forgotten.
            units = (self.interval >> 10) * (self.rec_inv_sqrt << 16) >> 32
            # Linux 7.3: one unit at least.
            return t + (max(units, int(self.profile == "linux")) << 10)
        return t + ns(self.interval / math.sqrt(self.count) / 1e9)

    def signal(self, packet: Packet) -> bool:
        """Marks the packet if that is possible, or drops it; whether it is still there."""
        if self.ecn and packet.ecn in MARKABLE:
            self.marked(packet, "early")
            self.just_marked = True
            return True
        self.dropped(packet, "early")
        return False

    def dequeue(self, now: int) -> Packet | None:
        self.just_marked = False
        packet = self.decide(now)
        late = packet and self.stay(packet, now) > self.ce_threshold
        if packet and late and packet.ecn in MARKABLE and not self.just_marked:
            self.marked(packet, "early")
        return packet

    def decide(self, now: int) -> Packet | None:
        packet = self.pop()
        if packet is None:
            self.dropping = False
            if self.profile != "ns3":
                self.first_above_time = 0
            return None
        ok = self.ok_to_drop(packet, now)
        if self.dropping:
            if not ok:
                self.dropping = False
            drops = 0
            while self.dropping and self.cut(now) >= self.drop_next:
                assert packet
                drops += 1
                if drops > 256 and self.profile == "linux":
                    # CODEL_MAX_DROPS_PER_DEQUEUE of Linux 7.3.
                    self.drop_next = self.control_law(self.cut(now))
                    break
                self.count += 1
                self.newton_step()
                if self.signal(packet):
                    since = self.cut(now) if self.profile == "ns3" else self.drop_next
                    self.drop_next = self.control_law(since)
                    return packet
                packet = self.pop()
                if self.ok_to_drop(packet, now):
                    self.drop_next = self.control_law(self.drop_next)
                else:
                    self.dropping = False
        elif ok:
            if not self.signal(packet):
                packet = self.pop()
                self.ok_to_drop(packet, now)
            self.dropping = True
            self.enter(self.cut(now))
        return packet

    def enter(self, now: int) -> None:
        """If control was lost a short while ago, it resumes at the rate that held it."""
        recent = now - self.drop_next < 16 * self.interval
        again = self.count - 1 if self.profile == "ns2" else self.count - self.lastcount
        enough = again >= 1 if self.profile == "ns2" else again > 1
        if enough and recent:
            self.count = again
            self.newton_step()
        else:
            self.count = 1
            self.rec_inv_sqrt = 0xFFFF
        self.lastcount = self.count
        self.drop_next = self.control_law(now)


class Codel(Fifo):
    limit_first = True

    def setup(self, parameters: Parameters) -> None:
        self.core = ControlledDelay(parameters)
        self.core.connect(self.pop, lambda: self.bytes, self.marked, self.dropped)
        default = {"ns2": (50, math.inf), "ns3": (math.inf, 1_500_000)}.get(
            self.core.profile, (1000, math.inf)
        )
        given = parameters.given("limit"), parameters.given("limit_bytes")
        if any(given):
            default = (math.inf, math.inf)
        self.limit = parameters.get("limit", default[0])
        self.limit_bytes = parameters.get("limit_bytes", default[1])

    def pop(self) -> Packet | None:
        if not self.queue:
            return None
        packet = self.queue.popleft()
        self.bytes -= packet.bytes
        return packet

    def dequeue(self, now: int) -> Packet | None:
        return self.core.dequeue(now)

    def state(self) -> dict[str, float]:
        return {"count": self.core.count, "dropping": self.core.dropping}


PROFILES = ("rfc8289", "linux", "linux-6.12", "ns3")
CASES = [
    *grid({"limit": 60}, profile=PROFILES, ecn=[False, True]),
    *grid(
        {"limit": 60, "target": "2 ms", "interval": "10 ms"}, profile=PROFILES, ecn=[False, True]
    ),
    *grid({"limit": 40, "profile": "ns2"}, interval=["100 ms", "20 ms"]),
    *grid({"limit_bytes": 40000, "interval": "20 ms"}, profile=PROFILES, mtu=[500, 3000]),
    *grid({"limit": 50, "interval": "30 ms"}, profile=PROFILES, ce_threshold=["10 ms"]),
    {"limit": 30, "limit_bytes": 20000},
]
