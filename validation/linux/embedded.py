"""One of our disciplines called packet by packet, at instants that another program's line has.

It is the library for C programs (`crates/embed`), built by cargo when it is asked for.
"""

from __future__ import annotations

import ctypes
import heapq
import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from validation.external import Missing

ROOT = Path(__file__).resolve().parents[2]
MARKED, DROPPED = 1, 2


HEADER = ROOT / "crates" / "embed" / "include" / "aqmlab.h"


def structure(name: str) -> type[ctypes.Structure]:
    """A structure of the library's C header, read there so that its fields are those of C."""
    bare = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    body = re.search(rf"typedef struct {name} {{(.*?)}}", bare, re.DOTALL)
    fields = re.findall(r"uint(\d+)_t (\w+);", body[1]) if body else []
    if body is None or len(fields) != body[1].count(";"):
        raise LookupError(f"{HEADER} has no structure {name} of whole numbers")
    sized = [(field, getattr(ctypes, f"c_uint{bits}")) for bits, field in fields]
    return type(name, (ctypes.Structure,), {"_fields_": sized})


_Packet = structure("aqmlab_packet")
_Departure = structure("aqmlab_departure")
_Event = structure("aqmlab_event")


@cache
def library() -> ctypes.CDLL:
    """The library `aqmlab-embed`, built from the sources of this repository."""
    if shutil.which("cargo") is None:
        raise Missing("cargo is not installed: our disciplines are called through crates/embed")
    words = ["cargo", "build", "--quiet", "--release", "--package", "aqmlab-embed"]
    described = subprocess.run(
        [*words, "--message-format=json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [
        file
        for line in described.stdout.splitlines()
        for file in json.loads(line).get("filenames", ())
        if file.endswith(".so")
    ]
    return ctypes.CDLL(files[-1])


@dataclass
class Arrival:
    """A packet that arrives at the queue."""

    at_ns: int
    flow: int
    octets: int
    """Length of the packet in bytes, as the discipline and the line count it."""
    ecn: int


@dataclass
class Fates:
    """What became of every packet, by its number in the order of arrival."""

    left_ns: dict[int, int] = field(default_factory=dict)
    """For each packet that was sent, the time at which its last bit was sent, ns."""
    marked: set[int] = field(default_factory=set)
    dropped: set[int] = field(default_factory=set)


class Queue:
    """A queue discipline of aqmlab in front of a line, called through the library."""

    def __init__(
        self, name: str, parameters: Mapping[str, Any], rate: int, seed: int, now: int
    ) -> None:
        self.library, self.handle = library(), ctypes.c_void_p()
        error = ctypes.create_string_buffer(500)
        status = self.library.aqmlab_create(
            name.encode(), json.dumps(parameters).encode(), ctypes.c_uint64(rate),
            ctypes.c_uint64(seed), ctypes.c_uint64(now), ctypes.byref(self.handle), error, 500,
        )  # fmt: skip
        if status:
            raise ValueError(error.value.decode())
        self.fates = Fates()

    def enqueue(self, number: int, packet: Arrival, now: int) -> None:
        """Passes an arriving packet to the discipline."""
        described = _Packet(
            flow=packet.flow, id=number, bytes=packet.octets, ecn=packet.ecn,
            source=packet.flow, destination=100,
        )  # fmt: skip
        self._ask(self.library.aqmlab_enqueue, ctypes.byref(described), ctypes.c_uint64(now))

    def dequeue(self, now: int) -> int | None:
        """Takes a packet from the discipline for the line. Returns the packet's number, None if
        there is none."""
        sent = _Departure()
        status = self._ask(self.library.aqmlab_dequeue, ctypes.c_uint64(now), ctypes.byref(sent))
        return None if status else sent.id

    def _ask(self, function: Any, *arguments: Any) -> int:
        status = function(self.handle, *arguments)
        assert status >= 0, status
        events, count = (_Event * 4096)(), ctypes.c_size_t()
        self.library.aqmlab_take_events(
            self.handle, events, ctypes.c_size_t(4096), ctypes.byref(count)
        )
        for event in events[: count.value]:
            if event.what == MARKED:
                self.fates.marked.add(event.id)
            elif event.what == DROPPED:
                self.fates.dropped.add(event.id)
        return status

    def close(self) -> None:
        """Frees the discipline."""
        self.library.aqmlab_destroy(self.handle)


def replay(
    queue: Queue, arrivals: Sequence[Arrival], ends_ns: Sequence[int], ns_per_byte: int
) -> Fates:
    """Packets through a queue before a line whose n-th transmission ends at a given instant.

    Beyond those that are given, the line sends at its rate.
    """
    busy: int | None = None
    on_line: int | None = None
    ends = iter(ends_ns)
    pending = [(packet.at_ns, 1, number) for number, packet in enumerate(arrivals)]
    heapq.heapify(pending)

    def ask(now: int) -> None:
        nonlocal busy, on_line
        on_line = queue.dequeue(now)
        busy = None
        if on_line is not None:
            least = now + arrivals[on_line].octets * ns_per_byte
            # An end that lies before this one is of a packet that ours has dropped.
            busy = max(next(ends, least), now)
            heapq.heappush(pending, (busy, 0, on_line))

    while pending:
        now, kind, number = heapq.heappop(pending)
        if kind:
            queue.enqueue(number, arrivals[number], now)
            if busy is None:
                ask(now)
        else:
            queue.fates.left_ns[number] = now
            ask(now)
    return queue.fates
