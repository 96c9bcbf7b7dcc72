"""One transfer in the guest, of which the line loses or marks listed segments."""

from __future__ import annotations

import contextlib
import socket
import struct
import time

from validation.linux.guest.bulk import TAKEN, Bulk
from validation.linux.guest.network import LIBC, RECEIVERS, Namespaces
from validation.linux.segments import parse


class Transfer(Bulk):
    """A sender of so many bytes, which it then closes."""

    left = 0
    ended: float | None = None

    def begin(self) -> None:
        """Opens the connection."""
        self.left = self.job["bytes"]
        # DCTCP's SYN is ECN-capable: only who needs ECN itself agrees (tcp_ecn_create_request).
        self.listener.setsockopt(socket.IPPROTO_TCP, 13, self.job["congestion"].encode())
        self.start(0)

    def _send(self, sender: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            self.left -= sender.send(bytes(min(self.left, 65_536)))
        if self.left == 0:
            self.ready.unregister(sender)
            sender.shutdown(socket.SHUT_WR)
            self.closing = sender

    def _receive(self, receiver: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            taken = receiver.recv_into(TAKEN)
            self.received[0] += taken
            if not taken:
                self.ready.unregister(receiver)
                self.ended = time.monotonic()
                receiver.close()


def transfer(job: dict, ends: Namespaces) -> dict:
    """What reached the receiver and what it sent, segment by segment, ns of the guest's clock."""
    LIBC.prctl(29, 1, 0, 0, 0)  # PR_SET_TIMERSLACK: wake up when asked to
    ends.enter(RECEIVERS)
    seen = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))  # ETH_P_ALL
    seen.bind(("line1", 3))
    seen.setsockopt(socket.SOL_SOCKET, 33, 1 << 28)  # SO_RCVBUFFORCE
    seen.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
    seen.setblocking(False)
    users = Transfer(job, ends)
    users.begin()
    begun = time.monotonic()
    users.until(begun + job["duration_s"])
    rows = []
    with contextlib.suppress(BlockingIOError):
        while True:
            data, control, _, _ = seen.recvmsg(128, 64)
            seconds, ns = struct.unpack("=qq", control[0][2])
            if data[12:14] == b"\x08\x00" and (
                found := parse(seconds * 1_000_000_000 + ns, data[14:])
            ):
                rows.append(found)
    ended = None if users.ended is None else users.ended - begun
    boot_ns = time.time_ns() - time.monotonic_ns()
    return {
        "segments": rows, "ended_s": ended, "received": users.received, "boot_ns": boot_ns
    }  # fmt: skip
