"""What transcriptions share: packets, parameters, random draws, and the plain queue."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

MARKABLE = ("ect0", "ect1", "ce")


@dataclass
class Packet:
    """A packet as the documents of test vectors write it."""

    id: int
    flow: int
    bytes: int
    ecn: str = "not-ect"
    dscp: int = 0
    ack: str = "no"
    source: int = 0
    destination: int = 0
    arrived: int = 0  # when it reached the queue, ns: filled in by the replay


class Draws:
    """The random numbers that one call may draw, in order."""

    def __init__(self) -> None:
        self.given: deque[float] = deque()

    def offer(self, numbers: Iterable[float]) -> None:
        self.given = deque(numbers)

    def uniform(self) -> float:
        """A random number, uniform in [0, 1)."""
        if not self.given:
            raise AssertionError("takes a random number that the simulator did not take")
        return self.given.popleft()

    def below(self, n: int) -> int:
        """A whole random number, uniform in 0..n."""
        return int(self.uniform() * n)

    def exponential(self, mean: float) -> float:
        return -mean * math.log(1 - self.uniform())


UNITS = {
    "%": 0.01,
    "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0,
    "bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9,
    "B": 1.0, "kB": 1e3, "KiB": 1024.0, "MB": 1e6, "packets": 1.0, "packet": 1.0,
}  # fmt: skip
QUANTITY = re.compile(r"([-+.\de]+)(?:/([.\d]+))?\s*(\S*)")


class Parameters:
    """The parameters that the user wrote, by name; records which have been read."""

    def __init__(self, written: Mapping[str, object]) -> None:
        self.written = written
        self.read: set[str] = set()

    def given(self, name: str) -> bool:
        """Whether the user wrote this parameter."""
        self.read.add(name)
        return name in self.written

    def get(self, name: str, default: float | None = None) -> float:
        """A number in base units (s, bit/s, bytes, packets)."""
        value = self.written.get(name, default) if self.given(name) else default
        if isinstance(value, str):
            match = QUANTITY.fullmatch(value)
            assert match, f"{name}: {value!r} is no quantity"
            number, below, unit = match.groups()
            value = float(number) / float(below or 1) * (UNITS[unit] if unit else 1.0)
        assert isinstance(value, int | float), f"{name} has neither a value nor a default"
        return value

    def optional(self, name: str) -> float | None:
        """A number, or None where the user wrote nothing."""
        return self.get(name) if self.given(name) else None

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.written[name] if self.given(name) else default
        assert isinstance(value, bool), f"{name} = {value!r} is no switch"
        return value

    def choice(self, name: str, default: str) -> str:
        return str(self.written[name]) if self.given(name) else default


class Discipline:
    """A queue discipline before a line. Times are whole nanoseconds, rates bits per second."""

    def __init__(self, parameters: Parameters, rate: int, draws: Draws) -> None:
        self.rate = rate
        self.draws = draws
        self.events: list[list[object]] = []
        self.due: int | None = None  # when the periodic update falls due, ns
        self.setup(parameters)

    # Methods that a transcription defines.

    def setup(self, parameters: Parameters) -> None:
        """Reads the parameters and sets the initial state."""

    def enqueue(self, packet: Packet, now: int) -> None:
        raise NotImplementedError

    def dequeue(self, now: int) -> Packet | None:
        """The next packet to send; None begins an idle time."""
        raise NotImplementedError

    def tick(self, now: int) -> None:
        """The periodic update; it sets `due` to the next one."""
        raise NotImplementedError

    def state(self) -> dict[str, float]:
        """Internal state, under the names of the simulator's gauges."""
        return {}

    # Events that a transcription reports.

    def queued(self, packet: Packet) -> None:
        self.events.append(["queued", packet.id])

    def marked(self, packet: Packet, why: str) -> None:
        packet.ecn = "ce"
        self.events.append(["marked", packet.id, why])

    def dropped(self, packet: Packet, why: str) -> None:
        self.events.append(["dropped", packet.id, why])

    # Values that a transcription may query.

    def packet_seconds(self, size: float) -> float:
        """How long `size` bytes occupy the line."""
        return size * 8 / self.rate


Verdict = tuple[str, str] | None
PASS: Verdict = None


def signal(why: str = "early") -> Verdict:
    """Mark the arrival if ECN is on and it is ECN-capable, drop it otherwise."""
    return ("signal", why)


def drop(why: str = "forced") -> Verdict:
    """Drop the arrival whatever its ECN field says."""
    return ("drop", why)


class Fifo(Discipline):
    """A FIFO queue that decides about each packet at its arrival."""

    limit_first: ClassVar[bool] = False  # test the limit before `judge`
    # Whether an idle line looks into the queue after each arrival, so that a dropped arrival starts
    # a new idle time, as in ns-2, Linux and ALTQ.
    looks_again: ClassVar[bool] = False
    ecn = False
    nodrop = False  # do not drop packets that are not ECN-capable
    limit = math.inf
    limit_bytes = math.inf

    def __init__(self, parameters: Parameters, rate: int, draws: Draws) -> None:
        self.queue: deque[Packet] = deque()
        self.bytes = 0
        self.resting = True  # the line is idle
        super().__init__(parameters, rate, draws)

    # Methods that a transcription of a FIFO queue defines.

    def judge(self, packet: Packet, now: int) -> Verdict:
        """Decides about an arrival; `self.queue` are the packets that wait."""
        return PASS

    def fits(self, packet: Packet) -> bool:
        return len(self.queue) < self.limit and self.bytes + packet.bytes <= self.limit_bytes

    def signalled(self, marked: bool) -> None:
        """A signal has been carried out, by a mark or by a drop."""

    def overflowed(self, now: int) -> None:
        """The arrival does not fit and will be dropped; `lost` is called next."""

    def lost(self, why: str) -> None:
        """The arrival has been dropped, for any reason."""

    def idle(self, now: int) -> None:
        """The line has sent its last packet; the queue is empty."""

    # The queue.

    def enqueue(self, packet: Packet, now: int) -> None:
        self.decide(packet, now)
        if self.looks_again and self.resting and not self.queue:
            self.idle(now)

    def decide(self, packet: Packet, now: int) -> None:
        fits = self.fits(packet)
        if not fits and self.limit_first:
            return self.overflow(packet, now)
        verdict = self.judge(packet, now)
        kind, why = verdict or ("pass", "")
        mark = kind == "signal" and self.ecn and packet.ecn in MARKABLE
        if verdict and not mark and not (self.nodrop and kind == "signal"):
            if kind == "signal":
                self.signalled(False)
            return self.lose(packet, why)
        if not fits:
            return self.overflow(packet, now)
        if mark:
            self.signalled(True)
            self.marked(packet, why)
        return self.accept(packet)

    def overflow(self, packet: Packet, now: int) -> None:
        self.overflowed(now)
        self.lose(packet, "overflow")

    def lose(self, packet: Packet, why: str) -> None:
        self.lost(why)
        self.dropped(packet, why)

    def accept(self, packet: Packet) -> None:
        self.queue.append(packet)
        self.bytes += packet.bytes
        self.queued(packet)

    def dequeue(self, now: int) -> Packet | None:
        self.resting = not self.queue
        if self.resting:
            self.idle(now)
            return None
        packet = self.queue.popleft()
        self.bytes -= packet.bytes
        return packet


def packets_in(span: float, seconds: float) -> int:
    """How many packets of `seconds` each fit into `span` ns; a whole multiple counts in full."""
    return int(span / (seconds * 1e9) + 1e-9)


def ns(seconds: float) -> int:
    """Seconds as the nearest whole number of nanoseconds."""
    return int(seconds * 1e9 + 0.5)


def flow_hash(flow: int, seed: int) -> int:
    """The simulator's seeded 64-bit hash of a flow: the finalizer of SplitMix64."""

    def mix(z: int) -> int:
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    return mix(flow ^ mix((seed + 0x9E3779B97F4A7C15) % 2**64))


def grid(common: Mapping[str, object], **axes: Iterable[object]) -> list[dict[str, object]]:
    """Parameter sets: `common` with every combination of the axes' values."""
    sets: list[dict[str, object]] = [dict(common)]
    for name, values in axes.items():
        sets = [{**chosen, name: value} for chosen in sets for value in values]
    return sets
