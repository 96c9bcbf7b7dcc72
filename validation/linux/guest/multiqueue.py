"""A device with several queues before the receivers, and cake_mq on it (`validation.linux.mq`).

The line's devices lie between senders and router here, for the round trip alone; from the router on
goes a pair of veth whose router's end has as many queues as the job says. It takes line0's name, so
that what is measured there (`bulk.observe`) is this device's root.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from validation.linux.guest.bulk import bulk
from validation.linux.guest.network import (
    ADDRESSES,
    LINE,
    RECEIVERS,
    ROUTER,
    SENDERS,
    Namespaces,
    Queue,
    run,
)

RATE, TINS = 2, 3  # TCA_CAKE_BASE_RATE64, TCA_CAKE_DIFFSERV_MODE
BEST_EFFORT = 3  # CAKE_DIFFSERV_BESTEFFORT
PLACES = {
    "line0": ("far0", SENDERS, "host"),
    "line1": ("far1", ROUTER, "hosts"),
    "mq0": ("line0", ROUTER, "line0"),
    "mq1": ("mq1", RECEIVERS, "line1"),
}
"""Name in the beginning, name, host, and whose address of `network` it has."""


def set_up(job: dict) -> Namespaces:
    """Senders - line - router - several queues - receivers."""
    ends = Namespaces()
    ends.enter("home")
    several = ("numtxqueues", job["queues"], "numrxqueues", 1)
    run("ip", "link", "add", "mq0", *several, "type", "veth", "peer", "name", "mq1")
    for device, (name, host, address) in PLACES.items():
        ends.enter("home")
        run("ip", "link", "set", device, "netns", f"/proc/{os.getpid()}/fd/{ends.files[host]}")
        ends.enter(host)
        run("ip", "link", "set", device, "name", name)
        run("ip", "address", "add", f"{ADDRESSES[address]}/24", "dev", name)
        run("ip", "link", "set", name, "up", "txqueuelen", 10_000, "gso_max_segs", 1)
    for host, gateway in ((SENDERS, "hosts"), (RECEIVERS, "line0")):
        ends.enter(host)
        run("ip", "route", "add", "default", "via", ADDRESSES[gateway])
    for host in (SENDERS, RECEIVERS):
        ends.enter(host)
        Path("/proc/sys/net/ipv4/tcp_ecn").write_text("0")
    for key, values in job["line"].items():
        (LINE / key).write_text(",".join(map(str, values)))
    ends.enter(ROUTER)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    options = [(RATE, struct.pack("=Q", job["rate"] // 8)), (TINS, struct.pack("=I", BEST_EFFORT))]
    Queue().make("cake_mq", options)
    return ends


def multiqueue(job: dict, ends: Namespaces) -> dict:
    """What bulk senders get, and the bytes that left each of the device's queues."""
    found = bulk(job, ends)
    ends.enter(ROUTER)
    shown = run("tc", "-s", "class", "show", "dev", "line0")
    each = [line.split()[1] for line in shown.splitlines() if line.split()[:1] == ["Sent"]]
    return found | {"queue_bytes": [int(octets) for octets in each]}
