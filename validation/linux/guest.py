"""What runs inside the guest kernel, as its first process: one job, one answer, power off.

Usage (by `machine.py`): python guest.py JOB.json ANSWER.json

Three network namespaces: senders, a router, receivers. Router and receivers are joined by the
devices of `line.c`; the discipline under test is the root of the router's, and so the only queue.
The guest's clock is virtual: what a process computes takes no time, and sleeping takes no host's
time. Standard library only: the guest sees the host's files.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import random
import selectors
import socket
import struct
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x4000_0000
POWER_OFF = 0x4321_FEDC
RNDADDENTROPY = 0x4008_5203
SENDERS, ROUTER, RECEIVERS = "senders", "router", "receivers"
DEVICES = {"host": SENDERS, "hosts": ROUTER, "line0": ROUTER, "line1": RECEIVERS}
ADDRESSES = {"host": "10.0.1.2", "hosts": "10.0.1.1", "line0": "10.0.0.1", "line1": "10.0.0.2"}
PORT = 5001
LINE = Path("/sys/module/aqmlab_line/parameters")
# What a bulk sender hands over at a time, and a receiver takes.
CHUNK = bytes(65_536)


def run(*words: object) -> str:
    """A command's output; its complaint as an error."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def mount(kind: str, folder: str) -> None:
    """A file system of the kernel's own."""
    if LIBC.mount(kind.encode(), folder.encode(), kind.encode(), 0, None):
        raise OSError(ctypes.get_errno(), f"mount {kind}")


def seed_kernel(seed: int) -> None:
    """Gives the kernel's random source its first 64 bytes, so that nothing waits for any."""
    drawn = random.Random(seed).randbytes(64)
    with Path("/dev/random").open("wb") as file:
        fcntl.ioctl(file, RNDADDENTROPY, struct.pack("ii64s", 512, 64, drawn))


class Namespaces:
    """Hosts and router; a socket or command belongs to the one that was entered last."""

    def __init__(self) -> None:
        self.files: dict[str, int] = {"home": os.open("/proc/self/ns/net", os.O_RDONLY)}
        for name in (SENDERS, ROUTER, RECEIVERS):
            if LIBC.unshare(CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "unshare")
            self.files[name] = os.open("/proc/self/ns/net", os.O_RDONLY)

    def enter(self, name: str) -> None:
        """Later sockets and commands are of this one; devices begin in `home`."""
        if LIBC.setns(self.files[name], CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")

    def move(self, device: str, name: str) -> None:
        """Gives a device of `home` to one of them, with its address."""
        self.enter("home")
        run("ip", "link", "set", device, "netns", f"/proc/{os.getpid()}/fd/{self.files[name]}")
        self.enter(name)
        run("ip", "address", "add", f"{ADDRESSES[device]}/24", "dev", device)
        # Segments, not bundles of them, pass the queue: a line of 10 Mbit/s shows the difference.
        run("ip", "link", "set", device, "up", "txqueuelen", 10_000, "gso_max_segs", 1)


def set_up(job: dict) -> Namespaces:
    """Senders - router - line - receivers, the queue at the router, and the kernel's settings.

    The router is there because a kernel holds back a sender whose packets wait in a queue of its
    own (TCP small queues).
    """
    ends = Namespaces()
    ends.enter("home")
    run("ip", "link", "add", "host", "type", "veth", "peer", "name", "hosts")
    for device, name in DEVICES.items():
        ends.move(device, name)
    for name, gateway in ((SENDERS, "hosts"), (RECEIVERS, "line0")):
        ends.enter(name)
        run("ip", "route", "add", "default", "via", ADDRESSES[gateway])
        for key, value in job.get("sysctl", {}).items():
            Path("/proc/sys/net/ipv4", key).write_text(str(value))
    for key in ("rate", "delay", "drop", "mark"):
        if values := job["line"].get(key):
            (LINE / key).write_text(",".join(map(str, values)))
    ends.enter(ROUTER)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    run("tc", "qdisc", "replace", "dev", "line0", "root", *job["qdisc"].split())
    return ends


class Queue:
    """Counters and length of the root discipline of line0, asked by netlink."""

    REQUEST = struct.pack("=IHHII", 36, 38, 0x301, 1, 0) + struct.pack("=BxxxiIII", 0, 0, 0, 0, 0)

    def __init__(self) -> None:
        self.netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self.index = socket.if_nametoindex("line0")

    def ask(self) -> dict[str, int]:
        """Packets and bytes that left, packets waiting, bytes waiting, packets dropped."""
        self.netlink.send(self.REQUEST)
        found: dict[str, int] = {}
        while True:
            data = self.netlink.recv(65_536)
            at = 0
            while at < len(data):
                length, kind = struct.unpack_from("=IH", data, at)
                if kind == 3:  # NLMSG_DONE
                    return found
                _, index, _, parent, _ = struct.unpack_from("=BxxxiIII", data, at + 16)
                if index == self.index and parent == 0xFFFF_FFFF:  # TC_H_ROOT
                    found = self._counters(data[at + 36 : at + length])
                at += length + 3 & ~3

    def _counters(self, attributes: bytes) -> dict[str, int]:
        stats = dict(_attributes(dict(_attributes(attributes))[7]))  # TCA_STATS2
        octets, packets = struct.unpack_from("=QI", stats[1])  # TCA_STATS_BASIC
        length, backlog, drops = struct.unpack_from("=III", stats[3])  # TCA_STATS_QUEUE
        names = ("bytes", "packets", "length", "backlog", "drops")
        return dict(zip(names, (octets, packets, length, backlog, drops), strict=True))


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        yield kind & 0x3FFF, data[at + 4 : at + length]
        at += length + 3 & ~3


class Bulk:
    """Connections that send without end, each from its own instant on."""

    def __init__(self, job: dict, ends: Namespaces) -> None:
        self.job, self.ends = job, ends
        self.ready = selectors.DefaultSelector()
        self.received: list[int] = []
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
        self.ends.enter(SENDERS)
        sender = self._socket()
        sender.setsockopt(socket.IPPROTO_TCP, 13, self.job["congestion"].encode())
        if size := self.job.get("send_buffer"):
            sender.setsockopt(socket.SOL_SOCKET, 32, size)  # SO_SNDBUFFORCE
        # Little waits unsent, or many flows would use up the kernel's memory for sockets.
        sender.setsockopt(socket.IPPROTO_TCP, 25, 2 * len(CHUNK))  # TCP_NOTSENT_LOWAT
        sender.bind((ADDRESSES["host"], 10_000 + flow))
        sender.connect_ex((ADDRESSES["line1"], PORT))
        self.ready.register(sender, selectors.EVENT_WRITE, self._send)

    def _accept(self, listener: socket.socket) -> None:
        made, (_, port) = listener.accept()
        made.setblocking(False)
        while len(self.received) <= port - 10_000:
            self.received.append(0)
        self.accepted[made.fileno()] = port - 10_000
        self.ready.register(made, selectors.EVENT_READ, self._receive)

    def _send(self, sender: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            sender.send(CHUNK)

    def _receive(self, receiver: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            self.received[self.accepted[receiver.fileno()]] += len(receiver.recv(1 << 20))

    def until(self, instant: float) -> None:
        """Serves sockets up to an instant of the virtual clock."""
        while (left := instant - time.monotonic()) > 0:
            for key, _ in self.ready.select(left):
                key.data(key.fileobj)


def marked() -> int:
    """Packets that left line0 with the congestion-experienced code point."""
    return int((LINE / "marked").read_text())


def bulk(job: dict, ends: Namespaces) -> dict:
    """Queue, goodput and losses of bulk senders between the warm-up and the end."""
    flows, drawn = job["flows"], random.Random(job["seed"])
    starts = sorted(drawn.uniform(0, job["start_spread_s"]) for _ in range(flows))
    users = Bulk(job, ends)
    ends.enter(ROUTER)
    queue = Queue()
    begun = time.monotonic()
    length_sum = backlog_sum = samples = 0
    before: dict[str, int] = {}
    received: list[int] = []
    for tick in range(round(job["duration_s"] / job["sample_s"]) + 1):
        at = tick * job["sample_s"]
        while starts and starts[0] <= at:
            users.until(begun + starts.pop(0))
            users.start(flows - len(starts) - 1)
        users.until(begun + at)
        if at < job["warmup_s"]:
            continue
        now = queue.ask()
        if not before:
            before = now | {"marked": marked()}
            received = list(users.received)
        length_sum += now["length"]
        backlog_sum += now["backlog"]
        samples += 1
    now = queue.ask() | {"marked": marked()}
    difference = {key: now[key] - before[key] for key in ("packets", "bytes", "drops", "marked")}
    received += [0] * (flows - len(received))
    octets = [a - b for a, b in zip(users.received, received, strict=False)]
    return difference | {
        "length_mean": length_sum / samples,
        "backlog_mean": backlog_sum / samples,
        "measured_s": time.monotonic() - begun - job["warmup_s"],
        "received": octets + [0] * (flows - len(octets)),
    }


def frame(number: int, flow: int, size: int) -> bytes:
    """An Ethernet frame with an IP packet of `size` bytes in which its number can be read."""
    source, target = (socket.inet_aton(ADDRESSES[device]) for device in ("host", "line1"))
    data = struct.pack("=I", number).ljust(size - 28, b"\0")
    udp = struct.pack("!HHHH", 20_000 + flow, PORT, 8 + len(data), 0)
    fields = struct.pack("!BBHHHBBH", 0x45, 0, size, 0, 0, 64, 17, 0) + source + target
    total = sum(struct.unpack("!10H", fields))
    check = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return (
        bytes(12) + b"\x08\x00" + fields[:10] + struct.pack("!H", check) + fields[12:] + udp + data
    )


def trace(job: dict, ends: Namespaces) -> dict:
    """Listed packets before the queue, each at its time: when it came, and when it got through."""
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
    for number, (at_ns, flow, size) in enumerate(job["arrivals"]):
        if (left := begun + at_ns - time.monotonic_ns()) > 0:
            time.sleep(left / 1e9)
        sent.append(time.monotonic_ns() - begun)
        out.send(frame(number, flow, size))
    time.sleep(job["drain_s"])
    try:
        while True:
            data, control, _, _ = seen.recvmsg(64, 64)
            if data[23:24] == b"\x11":
                seconds, ns = struct.unpack("=qq", control[0][2])
                at_ns = seconds * 1_000_000_000 + ns - wall
                received.append((struct.unpack_from("=I", data, 42)[0], at_ns))
    except BlockingIOError:
        return {"sent_ns": sent, "received": received}


def commands(job: dict, ends: Namespaces) -> dict:
    """What tc prints of each discipline that it was told, and its complaint if it refuses it."""
    ends.enter(ROUTER)
    told = []
    for words in job["qdiscs"]:
        place = ("tc", "qdisc", "replace", "dev", "line0", "root")
        done = subprocess.run([*place, *words.split()], capture_output=True, text=True, check=False)
        shown = run("tc", "-s", "-d", "qdisc", "show", "dev", "line0")
        told.append({"complaint": done.stderr.strip(), "shown": shown})
        run("tc", "qdisc", "replace", "dev", "line0", "root", "pfifo")
    return {"told": told}


JOBS = {"bulk": bulk, "trace": trace, "commands": commands}


def main() -> None:
    """Mounts what the guest lacks, does the job, writes the answer."""
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    job = json.loads(Path(sys.argv[1]).read_text())
    mount("proc", "/proc")
    mount("sysfs", "/sys")
    mount("tmpfs", "/run")
    seed_kernel(job["seed"])
    try:
        answer = JOBS[job["kind"]](job, set_up(job))
    except BaseException:
        answer = {"error": traceback.format_exc()}
    Path(sys.argv[2]).write_text(json.dumps(answer))


if __name__ == "__main__":
    try:
        main()
    finally:
        os.sync()
        LIBC.reboot(POWER_OFF)
