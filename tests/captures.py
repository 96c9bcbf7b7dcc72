"""Small captures made by hand for the tests of `aqmlab learn`."""

from __future__ import annotations

import struct
from collections.abc import Iterable

SYN, FIN, RST, ACK = 2, 1, 4, 16
CLIENT, SERVER = "10.0.0.1", "192.0.2.7"
Said = tuple[float, str, int, int, int, int]
"""Time in ms, sender (`>` the client), flags, sequence and acknowledged number, payload bytes."""

REQUEST: list[Said] = [
    (0, ">", SYN, 0, 0, 0),
    (40, "<", SYN | ACK, 0, 1, 0),
    (41, ">", ACK, 1, 1, 0),
    (51, ">", ACK, 1, 1, 100),
    (96, "<", ACK, 1, 101, 1000),
    (97, ">", ACK, 101, 1001, 0),
    (297, ">", ACK, 101, 1001, 60),
    (337, "<", ACK, 1001, 161, 70),
    (338, ">", FIN | ACK, 161, 1071, 0),
    (378, "<", FIN | ACK, 1071, 162, 0),
    (379, ">", ACK, 162, 1072, 0),
]
"""Two requests; 1 ms to the client and back, 40 ms to the server and back."""


def packet(said: Said, port: int = 47_123, server_port: int = 80) -> bytes:
    """An IPv4 packet."""
    _, sender, flags, seq, ack, payload = said
    ends = [(bytes(map(int, CLIENT.split("."))), port)]
    ends.append((bytes(map(int, SERVER.split("."))), server_port))
    source, target = ends if sender == ">" else ends[::-1]
    options = bytes([2, 4, 5, 180]) if flags & SYN else b""
    tcp = struct.pack(
        ">HHIIBBHHH",
        *(source[1], target[1], 1000 + seq, 1000 + ack if flags & ACK else 0),
        *((20 + len(options)) // 4 << 4, flags, 60_000, 0, 0),
    )
    above = tcp + options + bytes(payload)
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(above), 0, 0x4000, 64, 6, 0)
    return head + source[0] + target[0] + above


def pcap(packets: Iterable[tuple[float, bytes]], link: int = 101) -> bytes:
    """A pcap file: times in ms."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, link)
    for ms, data in packets:
        us = 1_600_000_000_000_000 + round(1e3 * ms)
        out += struct.pack("<IIII", us // 10**6, us % 10**6, len(data), len(data)) + data
    return out


def request(link: int = 101, begin_ms: float = 0, port: int = 47_123) -> bytes:
    """A capture of the one connection."""
    return pcap([(begin_ms + said[0], packet(said, port)) for said in REQUEST], link)
