"""Commands of `tc` that install disciplines; each may be repeated any number of times.

A second `replace` of an HTB with its handle is refused, as HTB cannot be changed as a whole. A root
of another kind is replaced, however: so `noqueue` comes first, and HTB is then always new.
"""

from __future__ import annotations

from collections.abc import Sequence

from .framing import Framing
from .plan import DEVICE, UNDO, Lane, ifb

QUANTUM = 1514
"""The class's quantum in bytes. With a single class its value does not matter, but HTB's default
(an eighth of a tenth of the rate) makes the kernel warn from 16 Mbit/s on."""


def at_root(device: str, discipline: str) -> list[str]:
    """The command for a discipline at the root of a device."""
    return [f"tc qdisc replace dev {device} root {discipline}"]


def shaped(device: str, discipline: str, rate: str, framing: Framing | None = None) -> list[str]:
    """The commands for a discipline below an HTB with one class, which sends at `rate`."""
    return [
        *at_root(device, "noqueue"),
        f"tc qdisc replace dev {device} root handle 1: {stab(framing)}htb default 1",
        f"tc class replace dev {device} parent 1: classid 1:1 htb rate {rate} quantum {QUANTUM}",
        f"tc qdisc replace dev {device} parent 1:1 handle 10: {discipline}",
    ]


def stab(framing: Framing | None) -> str:
    """The size table from which HTB takes the size of a packet on the line (tc-stab(8)); it cannot
    express PTM."""
    if framing is None or framing.bare:
        return ""
    layer = "atm" if framing.cells == "atm" else "ethernet"
    least = f" mpu {framing.least}" if framing.least else ""
    return f"stab linklayer {layer} overhead {framing.beyond_device}{least} "


def redirected(device: str) -> list[str]:
    """The commands that send packets received at a device through its ifb device."""
    to = ifb(device)
    return [
        f"tc qdisc replace dev {device} handle ffff: ingress",
        f"tc filter replace dev {device} parent ffff: protocol all prio 10 handle 800::800 "
        f"u32 match u32 0 0 action mirred egress redirect dev {to}",
    ]


def with_ifb(device: str, queue: Sequence[str]) -> list[str]:
    """The commands for a queue on the ifb device of a device, for the packets that the device
    receives."""
    to = ifb(device)
    return [
        f"ip link show dev {to} >/dev/null 2>&1 || ip link add name {to} type ifb",
        f"ip link set dev {to} up",
        *queue,
        *redirected(device),
    ]


def unsaid(lane: Lane) -> list[str]:
    """Properties of the line that the shaper cannot express."""
    if lane.shaped and lane.entry.aqm != "cake" and lane.framing.cells == "ptm":
        return [
            "HTB does not count PTM's byte in 65: it sends 1.6 % more than was raced, which is "
            "still less than the line's rate"
        ]
    return []


def undone(lanes: Sequence[Lane], dev: str) -> str:
    """The sentence on how to remove the configuration."""
    words = [f"tc qdisc del dev {lane.device(dev)} root" for lane in lanes if not _through(lane)]
    if any(map(_through, lanes)):
        words += [f"tc qdisc del dev {dev} ingress", f"ip link del dev {ifb(dev)}"]
    return f"{UNDO}{'; '.join(words)}"


def _through(lane: Lane) -> bool:
    """Whether packets of this direction pass an ifb device."""
    return lane.down and lane.shaped


def arrange(lanes: Sequence[Lane], dev: str = DEVICE) -> list[tuple[str, list[str]]]:
    """The commands for each direction of the line, each group under a title."""
    blocks = []
    for number, lane in enumerate(lanes):
        title = f"{lane.way}{_where(lane, dev)}" + ("" if number else _named(lane, dev))
        if _through(lane):
            blocks.append((title, with_ifb(dev, _queue(lane, ifb(dev)))))
        else:
            blocks.append((title, _queue(lane, lane.device(dev))))
    return blocks


def _queue(lane: Lane, device: str) -> list[str]:
    if lane.entry.aqm == "cake":
        # Without `nat` all hosts behind a router with NAT would count as one.
        return at_root(device, f"{lane.discipline} nat" if lane.shaped else lane.discipline)
    if not lane.shaped:
        return at_root(device, lane.discipline)
    return shaped(device, lane.discipline, lane.line, lane.framing)


def _where(lane: Lane, dev: str) -> str:
    if lane.shaped:
        through = f": what comes in at {dev} passes {ifb(dev)}" if lane.down else ""
        return f", shaped to {lane.line}{through}"
    if lane.down:
        return f": {lane.device(dev)} is the device that sends into the line at its other end"
    return f": {dev} is the device that sends into the line"


def _named(lane: Lane, dev: str) -> str:
    if not lane.shaped or dev != DEVICE:
        return ""
    kind = "eth0 or wan" if lane.framing.header else "pppoe-wan or ppp0"
    return f"; {dev} is the router's device towards the line ({kind})"
