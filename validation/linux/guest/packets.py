"""Listed packets through the queue under test, in the guest."""

from __future__ import annotations

import contextlib
import socket
import struct
import time

from validation.linux.guest.network import ADDRESSES, LIBC, PORT, RECEIVERS, ROUTER, Namespaces


def frame(number: int, flow: int, size: int, ecn: int = 0) -> bytes:
    """An Ethernet frame with an IP packet of `size` bytes in which its number can be read."""
    source, target = (socket.inet_aton(ADDRESSES[device]) for device in ("host", "line1"))
    data = struct.pack("=I", number).ljust(size - 28, b"\0")
    udp = struct.pack("!HHHH", 20_000 + flow, PORT, 8 + len(data), 0)
    fields = struct.pack("!BBHHHBBH", 0x45, ecn, size, 0, 0, 64, 17, 0) + source + target
    total = sum(struct.unpack("!10H", fields))
    check = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return (
        bytes(12) + b"\x08\x00" + fields[:10] + struct.pack("!H", check) + fields[12:] + udp + data
    )


def trace(job: dict, ends: Namespaces) -> dict:
    """Listed packets (ns, flow, bytes of IP, ECN field) before the queue, each at its time.

    When each came, and when and with which ECN field those that got through did, ns from the first.
    """
    LIBC.prctl(29, 1, 0, 0, 0)  # PR_SET_TIMERSLACK: wake up when asked to
    ends.enter(RECEIVERS)
    seen = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    seen.bind(("line1", 0x0800))
    seen.setsockopt(socket.SOL_SOCKET, 33, 1 << 28)  # SO_RCVBUFFORCE
    seen.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
    seen.setblocking(False)
    ends.enter(ROUTER)
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    out.bind(("line0", 0))
    out.setsockopt(socket.SOL_SOCKET, 32, 1 << 28)  # SO_SNDBUFFORCE
    begun = time.monotonic_ns() + 1_000_000
    wall = time.time_ns() - time.monotonic_ns() + begun
    sent, received = [], []
    for number, (at_ns, flow, size, ecn) in enumerate(job["arrivals"]):
        if (left := begun + at_ns - time.monotonic_ns()) > 0:
            time.sleep(left / 1e9)
        sent.append(time.monotonic_ns() - begun)
        with contextlib.suppress(OSError):  # ENOBUFS: the queue has dropped it
            out.send(frame(number, flow, size, ecn))
    time.sleep(job["drain_s"])
    try:
        while True:
            data, control, _, _ = seen.recvmsg(64, 64)
            if data[23:24] == b"\x11":
                seconds, ns = struct.unpack("=qq", control[0][2])
                at_ns = seconds * 1_000_000_000 + ns - wall
                received.append((struct.unpack_from("=I", data, 42)[0], at_ns, data[15] & 3))
    except BlockingIOError:
        return {"begun_ns": begun, "sent_ns": sent, "received": received}
