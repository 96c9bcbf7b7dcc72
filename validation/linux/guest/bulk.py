"""Bulk senders in the guest: queue, goodput and losses."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import selectors
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from operator import itemgetter

from validation.linux.guest.network import (
    ADDRESSES,
    LIBC,
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
# What it hands over first, and how little of it may be unsent when it goes on, bytes. The kernel
# pushes (PSH) what goes beyond half of the largest window that it was offered (`forced_push`), and
# that is 64 KiB before the first acknowledgement: who hands over all at once asks for an
# acknowledgement every 32 KiB. Nor are these whole segments, of which the last would be pushed.
YOUNG, OPENING = 28_000, 14_480
UNSENT = 25  # TCP_NOTSENT_LOWAT
# Where receivers read to: a new buffer for every segment would cost the guest more than all else.
TAKEN = bytearray(65_536)


class Bulk:
    """Connections that send without end, each from its own instant on."""

    def __init__(self, job: dict, ends: Namespaces) -> None:
        self.job, self.ends = job, ends
        self.ready = selectors.DefaultSelector()
        self.alarm = Alarm()
        self.ready.register(self.alarm, selectors.EVENT_READ, Alarm.rung)
        # Bytes received, by the sender's port.
        self.received: Counter[int] = Counter()
        ends.enter(RECEIVERS)
        self.listener = self._socket()
        if control := job.get("listener"):
            self.listener.setsockopt(socket.IPPROTO_TCP, 13, control.encode())
        self.listener.bind((ADDRESSES["line1"], PORT))
        self.listener.listen(1024)
        self.ready.register(self.listener, selectors.EVENT_READ, self._accept)
        self.accepted: dict[int, int] = {}
        # Senders that have handed over nothing yet, and those that have heard of no window yet.
        self.young: set[socket.socket] = set()
        self.opening: set[socket.socket] = set()

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
        sender.setsockopt(socket.IPPROTO_TCP, 13, self.control(port).encode())
        if size := self.job.get("send_buffer"):
            sender.setsockopt(socket.SOL_SOCKET, 32, size)  # SO_SNDBUFFORCE
        sender.setsockopt(socket.IPPROTO_TCP, UNSENT, OPENING)
        self.young.add(sender)
        sender.bind((ADDRESSES["host"], port))
        sender.connect_ex((ADDRESSES["line1"], PORT))
        return sender

    def control(self, port: int) -> str:
        """The congestion control of the sender from this port: the job has one, or one for each."""
        given = self.job["congestion"]
        return given if isinstance(given, str) else given[port - FIRST]

    def _accept(self, listener: socket.socket) -> None:
        made, (_, port) = listener.accept()
        made.setblocking(False)
        self.accepted[made.fileno()] = port
        self.ready.register(made, selectors.EVENT_READ, self._receive)

    def _send(self, sender: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            sender.send(self.chunk(sender))

    def chunk(self, sender: socket.socket) -> memoryview:
        """What a sender hands over now."""
        if sender in self.young:
            self.young.remove(sender)
            self.opening.add(sender)
            return memoryview(CHUNK)[:YOUNG]
        if sender in self.opening:
            self.opening.remove(sender)
            # Little waits unsent, or many flows would use up the kernel's memory for sockets.
            sender.setsockopt(socket.IPPROTO_TCP, UNSENT, 2 * len(CHUNK))
        return memoryview(CHUNK)

    def _receive(self, receiver: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            self.received[self.accepted[receiver.fileno()]] += receiver.recv_into(TAKEN)

    def until(self, instant: float) -> None:
        """Serves sockets up to an instant of the virtual clock."""
        self.alarm.set(instant)
        while not self.alarm.over:
            for key, _ in self.ready.select():
                key.data(key.fileobj)


class Alarm:
    """A file that can be read from an instant on; a selector's timeouts are whole milliseconds."""

    def __init__(self) -> None:
        self.file = LIBC.timerfd_create(time.CLOCK_MONOTONIC, 0)
        self.over = False
        """Whether the instant has come."""

    def fileno(self) -> int:
        """For selectors."""
        return self.file

    def set(self, instant: float) -> None:
        """Sets the alarm to a time of the monotonic clock, s."""
        self.over = False
        # An `itimerspec`: no interval, and the end in seconds and nanoseconds.
        end = (ctypes.c_long * 4)(0, 0, *divmod(round(instant * 1e9), 1_000_000_000))
        if LIBC.timerfd_settime(self.file, 1, end, None):  # TFD_TIMER_ABSTIME
            raise OSError(ctypes.get_errno(), "timerfd_settime")

    def rung(self) -> None:
        """Takes note of it; the file can be read until the next instant is set."""
        self.over = True


def marked() -> int:
    """Packets that left line0 with the congestion-experienced code point."""
    return int((LINE / "marked").read_text())


def by_flow(flows: int) -> dict[str, list[int]]:
    """For each flow: segments with data that left line0, segments marked, and their waits, ns."""
    return {
        name: [int(value) for value in (LINE / name).read_text().split(",")[:flows]]
        for name in ("flow_packets", "flow_marked", "flow_waited")
    }


Start = tuple[float, Callable[[], None]]


def bulk(job: dict, ends: Namespaces) -> dict:
    """Queue, goodput and losses of bulk senders between the warm-up and the end."""
    LIBC.prctl(29, 1, 0, 0, 0)  # PR_SET_TIMERSLACK: wake up when asked to
    users = Bulk(job, ends)
    each = [(at, functools.partial(users.start, flow)) for flow, at in enumerate(job["starts"])]
    return observe(job, users, each)


def turn(hz: int) -> float:
    """When the kernel's ticks (jiffies) next are a multiple of 4,096, s of the monotonic clock.

    The longer a timer runs, the more ticks lie between the instants at which it may end; aqmlab's
    ticks begin with the run. The kernel's begin five minutes before they overflow 32 bits
    (INITIAL_JIFFIES).
    """
    first = (1 << 32) - 300 * hz
    ticks = round(time.monotonic() * hz) + first
    return (-(-ticks // 4096) * 4096 + 4096 - first) / hz


def observe(job: dict, users: Bulk, starts: Sequence[Start]) -> dict:
    """Starts who is to start, by time; queue, bytes received and losses from warm-up to end."""
    waiting = deque(sorted(starts, key=itemgetter(0)))
    users.ends.enter(ROUTER)
    queue = Queue()
    begun = turn(job["hz"])
    users.until(begun)
    length_sum = backlog_sum = samples = 0
    flows = len(job.get("starts", ()))
    before: dict[str, int] = {}
    counted: dict[str, list[int]] = {}
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
            counted = by_flow(flows)
            received = users.received.copy()
        length_sum += now["length"]
        backlog_sum += now["backlog"]
        samples += 1
    now = queue.ask() | {"marked": marked()}
    each = {
        name: [end - begin for end, begin in zip(values, counted[name], strict=True)]
        for name, values in by_flow(flows).items()
    }
    difference = {key: now[key] - before[key] for key in ("packets", "bytes", "drops", "marked")}
    ports = range(FIRST, FIRST + flows)
    return (
        difference
        | each
        | {
            "length_mean": length_sum / samples,
            "backlog_mean": backlog_sum / samples,
            "measured_s": time.monotonic() - begun - job["warmup_s"],
            "received": [users.received[port] - received[port] for port in ports],
        }
    )
