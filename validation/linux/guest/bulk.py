"""Bulk senders in the guest: queue, goodput and losses."""

from __future__ import annotations

import contextlib
import functools
import random
import selectors
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence

from validation.linux.guest.network import (
    ADDRESSES,
    LINE,
    PORT,
    RECEIVERS,
    ROUTER,
    SENDERS,
    Namespaces,
    Queue,
)

# Port of the first bulk sender.
FIRST = 10_000
# What a bulk sender hands over at a time.
CHUNK = bytes(65_536)
# Where receivers read to: a new buffer for every segment would cost the guest more than all else.
TAKEN = bytearray(65_536)


class Bulk:
    """Connections that send without end, each from its own instant on."""

    def __init__(self, job: dict, ends: Namespaces) -> None:
        self.job, self.ends = job, ends
        self.ready = selectors.DefaultSelector()
        # Bytes by the sender's port.
        self.received: Counter[int] = Counter()
        ends.enter(RECEIVERS)
        self.listener = self._socket()
        self.listener.bind((ADDRESSES["line1"], PORT))
        self.listener.listen(1024)
        self.ready.register(self.listener, selectors.EVENT_READ, self._accept)
        self.accepted: dict[int, int] = {}

    def _socket(self) -> socket.socket:
        made = socket.socket()
        made.setblocking(False)
        if size := self.job.get("receive_buffer"):
            made.setsockopt(socket.SOL_SOCKET, 33, size)  # SO_RCVBUFFORCE
        return made

    def start(self, flow: int) -> None:
        """Opens one connection."""
        self.ready.register(self.connect(FIRST + flow), selectors.EVENT_WRITE, self._send)

    def connect(self, port: int = 0) -> socket.socket:
        """A sender that has asked for its connection, from a port of its own or any (0)."""
        self.ends.enter(SENDERS)
        sender = self._socket()
        sender.setsockopt(socket.IPPROTO_TCP, 13, self.job["congestion"].encode())
        if size := self.job.get("send_buffer"):
            sender.setsockopt(socket.SOL_SOCKET, 32, size)  # SO_SNDBUFFORCE
        # Little waits unsent, or many flows would use up the kernel's memory for sockets.
        sender.setsockopt(socket.IPPROTO_TCP, 25, 2 * len(CHUNK))  # TCP_NOTSENT_LOWAT
        sender.bind((ADDRESSES["host"], port))
        sender.connect_ex((ADDRESSES["line1"], PORT))
        return sender

    def _accept(self, listener: socket.socket) -> None:
        made, (_, port) = listener.accept()
        made.setblocking(False)
        self.accepted[made.fileno()] = port
        self.ready.register(made, selectors.EVENT_READ, self._receive)

    def _send(self, sender: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            sender.send(CHUNK)

    def _receive(self, receiver: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            self.received[self.accepted[receiver.fileno()]] += receiver.recv_into(TAKEN)

    def until(self, instant: float) -> None:
        """Serves sockets up to an instant of the virtual clock."""
        while (left := instant - time.monotonic()) > 0:
            for key, _ in self.ready.select(left):
                key.data(key.fileobj)


def marked() -> int:
    """Packets that left line0 with the congestion-experienced code point."""
    return int((LINE / "marked").read_text())


Start = tuple[float, Callable[[], None]]


def bulk(job: dict, ends: Namespaces) -> dict:
    """Queue, goodput and losses of bulk senders between the warm-up and the end."""
    flows, drawn = job["flows"], random.Random(job["seed"])
    users = Bulk(job, ends)
    starts = sorted(drawn.uniform(0, job["start_spread_s"]) for _ in range(flows))
    each = [(at, functools.partial(users.start, flow)) for flow, at in enumerate(starts)]
    return observe(job, users, each)


def observe(job: dict, users: Bulk, starts: Sequence[Start]) -> dict:
    """Starts who is to start; queue, bytes received and losses from the warm-up to the end."""
    waiting = deque(starts)
    users.ends.enter(ROUTER)
    queue = Queue()
    begun = time.monotonic()
    length_sum = backlog_sum = samples = 0
    before: dict[str, int] = {}
    received: Counter[int] = Counter()
    for tick in range(round(job["duration_s"] / job["sample_s"]) + 1):
        at = tick * job["sample_s"]
        while waiting and waiting[0][0] <= at:
            instant, start = waiting.popleft()
            users.until(begun + instant)
            start()
        users.until(begun + at)
        if at < job["warmup_s"]:
            continue
        now = queue.ask()
        if not before:
            before = now | {"marked": marked()}
            received = users.received.copy()
        length_sum += now["length"]
        backlog_sum += now["backlog"]
        samples += 1
    now = queue.ask() | {"marked": marked()}
    difference = {key: now[key] - before[key] for key in ("packets", "bytes", "drops", "marked")}
    ports = range(FIRST, FIRST + job.get("flows", 0))
    return difference | {
        "length_mean": length_sum / samples,
        "backlog_mean": backlog_sum / samples,
        "measured_s": time.monotonic() - begun - job["warmup_s"],
        "received": [users.received[port] - received[port] for port in ports],
    }
