"""Transfers in the guest: one of which the line loses or marks listed segments, or many."""

from __future__ import annotations

import contextlib
import functools
import resource
import selectors
import socket
import struct
import time

from validation.linux.guest.bulk import TAKEN, Bulk, observe, turn
from validation.linux.guest.network import LIBC, RECEIVERS, Namespaces
from validation.linux.segments import parse


class Transfers(Bulk):
    """Senders of so many bytes each, which then close."""

    def __init__(self, job: dict, ends: Namespaces) -> None:
        super().__init__(job, ends)
        self.left: dict[socket.socket, int] = {}
        # Bytes of each transfer and when it began, by the sender's port.
        self.begun: dict[int, tuple[int, float]] = {}
        self.elapsed: list[float] = []
        self.back_s = job["line"]["delay"][1] / 1e9
        # DCTCP's SYN is ECN-capable: only who needs ECN itself agrees (tcp_ecn_create_request).
        self.listener.setsockopt(socket.IPPROTO_TCP, 13, job["congestion"].encode())

    def begin(self, octets: int) -> None:
        """Opens a connection that is to send so many bytes."""
        begun, sender = time.monotonic(), self.connect()
        self.left[sender] = octets
        self.begun[sender.getsockname()[1]] = octets, begun
        self.ready.register(sender, selectors.EVENT_WRITE, self._send)

    def _send(self, sender: socket.socket) -> None:
        try:
            self.left[sender] -= sender.send(self.chunk(sender)[: self.left[sender]])
        except BlockingIOError:
            return
        except OSError:
            # It was given up.
            self._forget(sender)
            return
        if self.left[sender] == 0:
            sender.shutdown(socket.SHUT_WR)
            self.ready.modify(sender, selectors.EVENT_READ, self._forget)

    def _forget(self, sender: socket.socket) -> None:
        self.ready.unregister(sender)
        sender.close()
        self.young.discard(sender)
        self.opening.discard(sender)
        del self.left[sender]

    def _receive(self, receiver: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            taken = receiver.recv_into(TAKEN)
            port = self.accepted[receiver.fileno()]
            self.received[port] += taken
            if not taken:
                self.ready.unregister(receiver)
                receiver.close()
            elif self.received[port] == self.begun[port][0]:
                # From the SYN until the sender knows that its last byte has come.
                elapsed = time.monotonic() - self.begun.pop(port)[1] + self.back_s
                self.elapsed.append(elapsed)
                del self.received[port]


def web(job: dict, ends: Namespaces) -> dict:
    """Queue and losses of transfers that start at given instants, and how long they took."""
    LIBC.prctl(29, 1, 0, 0, 0)  # PR_SET_TIMERSLACK: wake up when asked to
    resource.setrlimit(resource.RLIMIT_NOFILE, (16_384, 16_384))
    users = Transfers(job, ends)
    each = [(at, functools.partial(users.begin, octets)) for at, octets in job["transfers"]]
    return observe(job, users, each) | {"elapsed_s": users.elapsed}


def transfer(job: dict, ends: Namespaces) -> dict:
    """What reached the receiver and what it sent, segment by segment, ns of the guest's clock."""
    LIBC.prctl(29, 1, 0, 0, 0)  # PR_SET_TIMERSLACK: wake up when asked to
    ends.enter(RECEIVERS)
    seen = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))  # ETH_P_ALL
    seen.bind(("line1", 3))
    seen.setsockopt(socket.SOL_SOCKET, 33, 1 << 28)  # SO_RCVBUFFORCE
    seen.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
    seen.setblocking(False)
    users = Transfers(job, ends)
    # Timers end at ticks whose distance depends on how long they run: both begin at equal ones.
    begun = turn(job["hz"]) + job["start_s"]
    users.until(begun)
    users.begin(job["bytes"])
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
    return {"segments": rows}
