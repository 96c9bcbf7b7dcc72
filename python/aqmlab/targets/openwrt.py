"""OpenWrt: SQM (`/etc/config/sqm`, sqm-scripts), or lines of `tc` for what SQM cannot express.

Options follow openwrt.org's page on the configuration, and their use in sqm-scripts (defaults.sh,
functions.sh, simplest.qos and piece_of_cake.qos of June 2024, read); not run here. Releases up to
24.10 install packages by opkg, 25.12 and later by apk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from . import tc, tc_lines
from .plan import DEVICE, DOWN, UNDO, UP, Lane
from .words import LINE, Given

RELEASE = "OpenWrt 19.07 to 25.12, sqm-scripts"
GENERAL = (
    "measure the line without SQM and give 85 to 95 % of it: SQM must be the narrowest place",
    "switch flow offloading off: its packets pass the queues by",
    "another section of /etc/config/sqm for the same interface must be off (enabled '0')",
    *tc.GENERAL[3:4],
)
REMEDY = "; tc on it has more (--tc, package tc-full)"
NATIVE = ("cake", "fq_codel")
"""Disciplines that sqm-scripts install; the others need a package with the discipline's module."""
SIMPLEST = "simplest.qos"
SCRIPTS = {"cake": "piece_of_cake.qos"} | dict.fromkeys(
    ("fq_codel", "fq_pie", "codel", "pie", "sfq", "pfifo", "bfifo"), SIMPLEST
)
"""The SQM script for each discipline: simplest.qos configures any of these below an HTB in each
direction. RED is impossible with it, since it adds `ecn` or `noecn`, and tc's red refuses
`noecn`."""
MODULES = {
    "red": "kmod-sched-red",
    "pie": "kmod-sched-pie",
    "fq_pie": "kmod-sched-fq-pie",
    "codel": "kmod-sched",
    "sfq": "kmod-sched",
    "pfifo_head_drop": "kmod-sched-core",
}
"""Packages of disciplines that are neither in the kernel nor in sqm-scripts."""
MORE = "SQM's piece_of_cake sets besteffort of its own: what is written in its options wins"
ENTRIES = tuple(
    replace(entry, pitfalls=(*entry.pitfalls, MORE)) if entry.aqm == "cake" else entry
    for entry in tc.ENTRIES
    if entry.aqm in ("cake", "fq_codel", "codel", "red", "pie", "fq_pie", "sfq", "droptail")
)
_SIDES = {DOWN: ("i", "ingress"), UP: ("e", "egress")}
"""Prefixes of SQM's options for a direction: the short and the long one."""
_SAID = {"bandwidth": 1, "overhead": 1, "mpu": 1, "noatm": 0, "atm": 0, "egress": 0}
"""cake's words that SQM writes itself, and the number of values after each."""
_SAID_BELOW_HTB = {"limit": 1, "target": 1, "ecn": 0, "noecn": 0}
"""Words of other disciplines that are options of SQM, and the number of values after each."""


def frame(lane: Lane) -> list[tuple[str, list[str]]]:
    """The lines for one queue, alone in its section; the other direction is not shaped."""
    return arrange([replace(lane, framing=_framing(lane.given))])


def arrange(lanes: Sequence[Lane], dev: str = DEVICE) -> list[tuple[str, list[str]]]:
    """The lines for both directions: one section of SQM, or lines of tc in a script if SQM lacks
    the queue."""
    kinds = {lane.entry.name for lane in lanes}
    if len(kinds) > 1 or not kinds <= set(SCRIPTS):
        packages = dict.fromkeys(MODULES[kind] for kind in kinds if kind in MODULES)
        needed = ["tc-full", "kmod-ifb", *packages]
        lines = [line for _, block in tc_lines.arrange(lanes, dev) for line in block]
        title = f"in /etc/rc.local before exit 0; {_device(lanes[0], dev)}"
        return [*_installed(needed, "SQM has no such queue: "), (title, lines)]
    (kind,) = kinds
    needed = ["sqm-scripts", *([MODULES[kind]] if kind in MODULES else [])]
    lines = ["uci set sqm.line='queue'"]
    lines += [f"uci set sqm.line.{name}='{value}'" for name, value in _section(lanes, dev).items()]
    lines += ["uci commit sqm", "/etc/init.d/sqm enable", "/etc/init.d/sqm restart"]
    ways = " and ".join(lane.way for lane in lanes)
    return [*_installed(needed), (f"{ways}; {_device(lanes[0], dev)}", lines)]


def unsaid(lane: Lane) -> list[str]:
    """Properties of the line that SQM cannot express."""
    if not lane.shaped:
        return [
            f"{lane.way}: SQM is a shaper and has the line's own rate here: give 85 to 95 % of it"
        ]
    return tc_lines.unsaid(lane)


def undone(lanes: Sequence[Lane], dev: str) -> str:
    """The sentence on how to remove the configuration."""
    if {lane.entry.name for lane in lanes} <= set(SCRIPTS):
        return f"{UNDO}uci delete sqm.line; uci commit sqm; /etc/init.d/sqm restart"
    return tc_lines.undone(lanes, dev)


def _installed(packages: Sequence[str], why: str = "") -> list[tuple[str, list[str]]]:
    names = " ".join(packages)
    return [
        (f"{why}once, OpenWrt up to 24.10", ["opkg update", f"opkg install {names}"]),
        (f"{why}once, OpenWrt from 25.12", ["apk update", f"apk add {names}"]),
    ]


def _device(lane: Lane, dev: str) -> str:
    if dev != DEVICE:
        return f"at {dev}"
    kind = "wan or eth1" if lane.framing.header else "pppoe-wan"
    return f"{dev} is the device towards the line ({kind})"


def _section(lanes: Sequence[Lane], dev: str) -> dict[str, str]:
    """The options of the section; a direction without a plan is not shaped."""
    rates = {lane.way: str(round(_rate(lane) / 1000)) for lane in lanes}
    kind = lanes[0].entry.name
    section = {
        "enabled": "1",
        "interface": dev,
        "download": rates.get(DOWN, "0"),
        "upload": rates.get(UP, "0"),
        "qdisc": kind,
        "script": SCRIPTS[kind],
        **_layer(lanes[0]),
        "qdisc_advanced": "1",
        "qdisc_really_really_advanced": "1",
    }
    for lane in lanes:
        section |= _options(lane)
    return section


def _rate(lane: Lane) -> float:
    return lane.given.get("rate") or lane.given[LINE]


def _options(lane: Lane) -> dict[str, str]:
    """The options of one direction's queue."""
    short, long = _SIDES[lane.way]
    if lane.entry.aqm == "cake":
        # In piece_of_cake only downloads have `nat`, without which all hosts behind NAT count as
        # one.
        more = ["nat"] if lane.shaped else []
        more += ["ptm"] if lane.framing.cells == "ptm" else []
        return {f"{short}qdisc_opts": " ".join([*_rest(lane.words, _SAID), *more])}
    given = lane.given
    said = {f"{short}limit": str(round(given["limit"]))} if "limit" in given else {}
    if "limit_bytes" in given and lane.entry.name == "bfifo":
        said = {f"{short}limit": str(round(given["limit_bytes"]))}
    if "target" in given:
        # The target is always written: SQM's own default differs below 4 Mbit/s, and tc refuses it
        # for fq_pie.
        said[f"{short}target"] = f"{round(given['target'] * 1e6)}us"
    if "ecn" in given:
        said[f"{long}_ecn"] = "ECN" if given["ecn"] else "NOECN"
    return said | {f"{short}qdisc_opts": " ".join(_rest(lane.words, _SAID_BELOW_HTB))}


def _layer(lane: Lane) -> dict[str, str]:
    """The options for the link layer: cake's overhead is relative to the IP packet, HTB's to the
    size that the device counts."""
    framing = lane.framing
    if framing.bare:
        return {"linklayer": "none"}
    cake = lane.entry.aqm == "cake"
    return {
        "linklayer": "atm" if framing.cells == "atm" else "ethernet",
        "overhead": str(framing.overhead if cake else framing.beyond_device),
        **({"tcMPU": str(framing.least)} if framing.least else {}),
    }


def _rest(words: Sequence[str], said: Mapping[str, int]) -> list[str]:
    """The words that have no option of SQM."""
    kept: list[str] = []
    skip = 0
    for word in words:
        if skip:
            skip -= 1
        elif word in said:
            skip = said[word]
        elif word != "ptm":
            kept.append(word)
    return kept


def _framing(given: Given) -> tc_lines.Framing:
    """The framing from cake's own parameters."""
    cells = given.get("framing", "none")
    return tc_lines.Framing(given.get("overhead", 0), given.get("mpu", 0), cells)
