"""TCP segments as a packet capture has them: of the guest's socket, and of aqmlab's captures."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

ETHERNET, NANOSECONDS = 1, 0xA1B2_3C4D
"""A pcap file's kind of link, and its first word where times are in nanoseconds."""


class Segment(NamedTuple):
    """A TCP segment."""

    at_ns: int
    source: int
    """Source port."""
    seq: int
    ack: int
    data: int
    """Number of payload bytes."""
    ce: bool
    window: int
    """The window field of the header: the receive window shifted right by the window scale of the
    SYN."""


def parse(at_ns: int, packet: bytes) -> Segment | None:
    """A segment from an IPv4 packet; none if it is of another protocol."""
    if packet[0] >> 4 != 4 or packet[9] != 6:
        return None
    begin = (packet[0] & 15) * 4
    total = struct.unpack_from("!H", packet, 2)[0]
    source, _, seq, ack, offset, window = struct.unpack_from("!HHIIBxH", packet, begin)
    data = total - begin - (offset >> 4) * 4
    return Segment(at_ns, source, seq, ack, data, packet[1] & 3 == 3, window)


def read_pcap(text: bytes) -> Iterator[Segment]:
    """The segments of a pcap file."""
    magic, link = struct.unpack_from("<I16xI", text)
    unit = 1 if magic == NANOSECONDS else 1_000
    at = 24
    while at < len(text):
        seconds, part, captured = struct.unpack_from("<III", text, at)
        packet = text[at + 16 : at + 16 + captured]
        packet = packet[14:] if link == ETHERNET else packet
        if found := parse(seconds * 1_000_000_000 + part * unit, packet):
            yield found
        at += 16 + captured


class Sent(NamedTuple):
    """A data segment of the sender, by its first byte."""

    at_ns: int
    """Time since the first data segment, ns."""
    first: int
    """Position of the segment's first byte in the connection's data, from 0."""
    data: int
    again: bool
    """Whether its first byte was sent before."""


def sent(segments: Iterable[Segment], receiver: int) -> list[Sent]:
    """The data segments towards a port."""
    found: list[Sent] = []
    begin = start_ns = None
    reached = 0
    for one in segments:
        if one.source == receiver:
            continue
        if begin is None:
            begin = one.seq + 1  # behind the SYN
        if one.data <= 0:
            continue
        if start_ns is None:
            start_ns = one.at_ns
        first = (one.seq - begin) & 0xFFFF_FFFF
        found.append(Sent(one.at_ns - start_ns, first, one.data, first < reached))
        reached = max(reached, first + one.data)
    return found
