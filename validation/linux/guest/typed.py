"""Lines of a shell, typed twice at a router, and what its queues then have and send.

The router's device is one end of a veth pair, the other end is the line's: a stream of datagrams
each way, faster than both shapers, shows at which rate each direction passes.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from contextlib import ExitStack

from validation.linux.guest.network import RECEIVERS, ROUTER, Namespaces, run

PORT = 5002
ADDRESSES = {ROUTER: "10.0.9.1", RECEIVERS: "10.0.9.2"}
FAR = "peer"
IP_BYTES = 1500
PAYLOAD = IP_BYTES - 28
PER_TICK, TICK_S = 8, 1e-3
"""Packets that are sent each ms: 96 Mbit/s."""
SETTLED_S, MEASURED_S = 0.5, 1.5


def typed(job: dict, ends: Namespaces) -> dict:
    """Types the lines of each case twice, and says what devices then have and what was refused."""
    device = job["device"]
    found = []
    for lines, measured in zip(job["cases"], job["measured"], strict=True):
        _pair(ends, device)
        complaints = []
        for line in [*lines, *lines]:
            done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
            if done.returncode or done.stderr.strip():
                complaints.append(f"{line}: {done.stderr.strip()}")
        ifb = f"ifb4{device}"
        shown = {
            "qdisc": {n: run("tc", "-d", "qdisc", "show", "dev", n) for n in (device, ifb)},
            "class": {n: run("tc", "class", "show", "dev", n) for n in (device, ifb)},
            "filter": run("tc", "filter", "show", "dev", device, "parent", "ffff:"),
        }
        passed = {}
        if measured:
            passed = {ifb: _rate(ends, RECEIVERS, ROUTER), device: _rate(ends, ROUTER, RECEIVERS)}
        found.append({"complaint": "\n".join(complaints), "shown": shown, "passed": passed})
        ends.enter(ROUTER)
        run("ip", "link", "del", device)
        run("ip", "link", "del", ifb)
    return {"typed": found}


def _pair(ends: Namespaces, device: str) -> None:
    """The router's device, and the line's at its other end; leaves the router entered."""
    ends.enter(ROUTER)
    run("ip", "link", "add", device, "type", "veth", "peer", "name", FAR)
    for name, space in ((FAR, RECEIVERS), (device, ROUTER)):
        if space == RECEIVERS:
            run("ip", "link", "set", name, "netns", f"/proc/{os.getpid()}/fd/{ends.files[space]}")
        ends.enter(space)
        run("ip", "address", "add", f"{ADDRESSES[space]}/24", "dev", name)
        run("ip", "link", "set", name, "up")
        ends.enter(ROUTER)


def _rate(ends: Namespaces, sender: str, receiver: str) -> float:
    """IP bits per second that arrive of a stream that fills the queue of its direction."""
    with ExitStack() as stack:
        ends.enter(receiver)
        into = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        into.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**20)
        into.bind((ADDRESSES[receiver], PORT))
        into.setblocking(False)
        ends.enter(sender)
        out = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        out.setblocking(False)
        began = time.monotonic()
        counted = 0
        while (now := time.monotonic() - began) < SETTLED_S + MEASURED_S:
            for _ in range(PER_TICK):
                _quietly(out.sendto, bytes(PAYLOAD), (ADDRESSES[receiver], PORT))
            arrived = 0
            while _quietly(into.recv, 2048):
                arrived += 1
            counted += arrived if now >= SETTLED_S else 0
            time.sleep(TICK_S)
    ends.enter(ROUTER)
    return counted * 8 * IP_BYTES / MEASURED_S


def _quietly(call: object, *words: object) -> object:
    """A call of a socket that may have no room or nothing."""
    try:
        return call(*words)  # type: ignore[operator]
    except BlockingIOError:
        return None
