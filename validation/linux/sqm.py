"""What sqm-scripts make of `/etc/config/sqm`: a section read back, and the commands of tc from it.

Our own writing of what defaults.sh, functions.sh, simplest.qos and piece_of_cake.qos do (June 2024,
read): the order of words, the defaults that they add and where what is written comes after them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

Section = Mapping[str, str]
LEAST_BURST = 1749
"""Bytes: a packet of 1,500 bytes with 48 more in the cells of ATM; else what is sent in 1 ms."""
LIMIT = "1001"
"""Packets: what SQM gives every queue that has a limit unless the section says another."""


def section(lines: Iterable[str], name: str = "sqm.line") -> dict[str, str]:
    """The options that lines `uci set sqm.line.OPTION='VALUE'` leave in a section of type queue."""
    found: dict[str, str] = {}
    made = False
    for line in lines:
        words = shlex.split(line)
        if words[:2] != ["uci", "set"]:
            continue
        (assignment,) = words[2:]
        path, _, value = assignment.partition("=")
        if path == name:
            made = value == "queue"
        elif path.startswith(f"{name}."):
            found[path.removeprefix(f"{name}.")] = value
    if not made:
        raise ValueError(f"no section of type queue is made: {name}")
    return found


def commands(options: Section) -> list[str]:
    """What is typed for a section that is on; a rate of 0 leaves its direction as it is."""
    if options.get("enabled") != "1":
        return []
    device = options["interface"]
    ifb = f"ifb4{device}"[:15]
    lines = [f"ip link add name {ifb} type ifb 2>/dev/null || true"]
    if int(options["upload"]):
        lines += _queue(options, device, options["upload"], "e")
    if int(options["download"]):
        lines += [
            f"tc qdisc del dev {device} handle ffff: ingress 2>/dev/null || true",
            f"tc qdisc add dev {device} handle ffff: ingress",
            *_queue(options, ifb, options["download"], "i"),
            f"ip link set dev {ifb} up",
            f"tc filter add dev {device} parent ffff: protocol all prio 10 u32 match u32 0 0 "
            f"flowid 1:1 action mirred egress redirect dev {ifb}",
        ]
    return lines


def _queue(options: Section, device: str, rate: str, side: str) -> list[str]:
    clear = f"tc qdisc del dev {device} root 2>/dev/null || true"
    more = options.get(f"{side}qdisc_opts", "")
    if options["script"] == "piece_of_cake.qos":
        # What defaults.sh has for uploads is not used: piece_of_cake misspells its name.
        usual = "diffserv3 nat besteffort wash" if side == "i" else "besteffort"
        words = f"bandwidth {rate}kbit {_of_cake(options)} {usual} {more}"
        return [clear, f"tc qdisc add dev {device} root cake {words}"]
    if options["script"] != "simplest.qos":
        raise ValueError(f"no such script here: {options['script']}")
    kind = options["qdisc"]
    leaf = " ".join([kind, *_leaf(options, kind, side), more])
    burst = max(LEAST_BURST, int(rate) * 1000 // 8000)
    shape = f"htb quantum {burst} rate {rate}kbit ceil {rate}kbit burst {burst} cburst {burst}"
    return [
        clear,
        f"tc qdisc add dev {device} root handle 1: {_stab(options)} htb default 10",
        f"tc class add dev {device} parent 1: classid 1:1 {shape}",
        f"tc class add dev {device} parent 1:1 classid 1:10 {shape} prio 0",
        f"tc qdisc add dev {device} parent 1:10 handle 110: {leaf}",
    ]


def _of_cake(options: Section) -> str:
    if options["linklayer"] == "none":
        return ""
    atm = "atm " if options["linklayer"] == "atm" else ""
    return f"{atm}overhead {options.get('overhead', 0)} mpu {options.get('tcMPU', 0)}"


def _stab(options: Section) -> str:
    if options["linklayer"] == "none":
        return ""
    return (
        f"stab mtu 2047 tsize 512 mpu {options.get('tcMPU', 0)} "
        f"overhead {options.get('overhead', 0)} linklayer {options['linklayer']}"
    )


def _leaf(options: Section, kind: str, side: str) -> list[str]:
    """The words that functions.sh puts before those of the section."""
    words = []
    if kind.endswith(("codel", "pie")) or kind in ("sfq", "pfifo"):
        words += ["limit", options.get(f"{side}limit", LIMIT)]
    elif kind == "bfifo" and f"{side}limit" in options:
        words += ["limit", options[f"{side}limit"]]
    if kind.endswith(("codel", "pie")):
        # Without a target of the section's own fq_pie would get `target us`, which tc refuses.
        words += ["target", options.get(f"{side}target", "us" if kind == "fq_pie" else "5000us")]
        ecn = options.get("ingress_ecn" if side == "i" else "egress_ecn", "ECN")
        words.append(ecn.lower())
    if kind.endswith("fq_codel") or kind == "sfq":
        words += ["flows", "1024"]
    return words
