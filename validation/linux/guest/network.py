"""The guest's network: hosts, a router between them, and the queue under test at the router.

Router and receivers are joined by the devices of `line.c`; the discipline under test is the root of
the router's, and so the only queue.
"""

from __future__ import annotations

import ctypes
import fcntl
import math
import os
import random
import socket
import struct
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from validation.linux.guest import dualpi2

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x4000_0000
POWER_OFF = 0x4321_FEDC
RNDADDENTROPY = 0x4008_5203
SENDERS, ROUTER, RECEIVERS = "senders", "router", "receivers"
DEVICES = {"host": SENDERS, "hosts": ROUTER, "line0": ROUTER, "line1": RECEIVERS}
ADDRESSES = {"host": "10.0.1.2", "hosts": "10.0.1.1", "line0": "10.0.0.1", "line1": "10.0.0.2"}
PORT = 5001
LINE = Path("/sys/module/aqmlab_line/parameters")


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


def introduce(ends: Namespaces) -> None:
    """Both ends of the line know each other's Ethernet address: no first segment waits for ARP."""
    sides = {"line0": ROUTER, "line1": RECEIVERS}
    known = {}
    for device, name in sides.items():
        ends.enter(name)
        known[device] = run("ip", "-brief", "link", "show", device).split()[2]
    for (device, name), peer in zip(sides.items(), reversed(sides), strict=True):
        ends.enter(name)
        entry = (ADDRESSES[peer], "lladdr", known[peer], "dev", device, "nud", "permanent")
        run("ip", "neighbour", "replace", *entry)


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
        # With `quickack` a host acknowledges every segment at once.
        quick = ("quickack", "1") if job.get("quickack") else ()
        run("ip", "route", "add", "default", "via", ADDRESSES[gateway], *quick)
        for key, value in job.get("sysctl", {}).items():
            Path("/proc/sys/net", key).write_text(str(value))
    introduce(ends)
    for key in ("rate", "delay", "slot", "drop", "mark", "fresh"):
        if values := job["line"].get(key):
            (LINE / key).write_text(",".join(map(str, values)))
    ends.enter(ROUTER)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    if period := job["line"].get("slot", [0])[0]:
        # A discipline's updates begin with it: their place in the slots is that of aqmlab's.
        LIBC.prctl(29, 1, 0, 0, 0)  # PR_SET_TIMERSLACK: wake up in time
        time.sleep((period - time.monotonic_ns() % period) / 1e9)
    if job["qdisc"].startswith("dualpi2"):
        Queue().make("dualpi2", dualpi2.options(job["qdisc"].split()[1:]))
        return ends
    # GRED is made by one command and set by another.
    for verb, words in zip(("replace", "change"), job["qdisc"].split("; "), strict=False):
        run("tc", "qdisc", verb, "dev", "line0", "root", *words.split())
    if "adaptive" in job["qdisc"].split():
        Queue().adapt()
    return ends


class Queue:
    """The root discipline of line0, by netlink: its counters and length, and its options."""

    ROOT = 0xFFFF_FFFF  # TC_H_ROOT

    def __init__(self) -> None:
        self.netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self.index = socket.if_nametoindex("line0")
        # RTM_GETQDISC of that device's root alone: one answer, of one message.
        of = struct.pack("=BxxxiIII", 0, self.index, 0, self.ROOT, 0)
        self.request = struct.pack("=IHHII", 36, 38, 9, 1, 0) + of

    def ask(self) -> dict[str, int]:
        """Packets and bytes that left, packets waiting, bytes waiting, packets dropped."""
        stats = dict(_attributes(self._root()[7]))  # TCA_STATS2
        octets, packets = struct.unpack_from("=QI", stats[1])  # TCA_STATS_BASIC
        length, backlog, drops = struct.unpack_from("=III", stats[3])  # TCA_STATS_QUEUE
        names = ("bytes", "packets", "length", "backlog", "drops")
        return dict(zip(names, (octets, packets, length, backlog, drops), strict=True))

    def _root(self) -> dict[int, bytes]:
        self.netlink.send(self.request)
        data = self.netlink.recv(65_536)
        length, kind = struct.unpack_from("=IH", data)
        if kind == 2:  # NLMSG_ERROR
            (error,) = struct.unpack_from("=i", data, 16)
            raise OSError(-error, "line0 has no discipline that can be asked")
        return dict(_attributes(data[36:length]))

    def adapt(self) -> None:
        """Lets RED adapt, as its options say.

        The kernel arms the timer of adaptive RED by the old flags of TCA_RED_PARMS; tc tells the
        new ones (TCA_RED_FLAGS) alone, so that `tc qdisc ... red ... adaptive` never adapts.
        """
        options = dict(_attributes(self._root()[2]))  # TCA_OPTIONS
        parms = bytearray(options[1])  # struct tc_red_qopt: three limits, then four bytes
        w_log, _, cell_log, _ = parms[12:16]
        parms[15] |= 4  # TC_RED_ADAPTATIVE
        each = -math.log2(1 - 2**-w_log)
        cells = [min(31, int((i << cell_log) * each + 0.5)) for i in range(255)]
        described = b"".join(
            _attribute(kind, value)
            for kind, value in ((1, parms), (2, bytes([*cells, 31])), (3, options[3]))
        )
        self._set("red", described, 0)

    def make(self, kind: str, options: Iterable[tuple[int, bytes]]) -> None:
        """Puts a discipline that tc does not know there, with these options."""
        self._set(kind, b"".join(_attribute(*one) for one in options), 0x500)  # CREATE, REPLACE

    def _set(self, kind: str, described: bytes, flags: int) -> None:
        body = struct.pack("=BxxxiIII", 0, self.index, 0, self.ROOT, 0)
        # TCA_KIND and TCA_OPTIONS, nested (NLA_F_NESTED), which younger disciplines insist on.
        body += _attribute(1, kind.encode() + b"\0") + _attribute(0x8002, described)
        self.netlink.send(struct.pack("=IHHII", 16 + len(body), 36, 5 | flags, 2, 0) + body)
        (error,) = struct.unpack_from("=i", self.netlink.recv(4096), 16)
        if error:
            raise OSError(-error, f"{kind}: refused")


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        yield kind & 0x3FFF, data[at + 4 : at + length]
        at += length + 3 & ~3
