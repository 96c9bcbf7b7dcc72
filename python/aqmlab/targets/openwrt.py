"""OpenWrt: SQM (`/etc/config/sqm`, sqm-scripts), or the lines of `tc` where it has no word.

Names after openwrt.org's page of the configuration (read); not run here.
"""

from __future__ import annotations

from dataclasses import replace

from . import tc
from .words import LINE, Entry, Given

RELEASE = "OpenWrt 19.07 and later, sqm-scripts"
GENERAL = (
    "measure the line without SQM and give 85 to 95 % of it: SQM must be the narrowest place",
    "switch flow offloading off: its packets pass the queues by",
    *tc.GENERAL[3:4],
)
REMEDY = "; tc on it has more (--tc, package tc-full)"
SCRIPTS = {"cake": "piece_of_cake.qos", "fq_codel": "simplest.qos"}
MODULES = {
    "red": "kmod-sched-red",
    "pie": "kmod-sched-pie",
    "fq_pie": "kmod-sched-fq-pie",
    "codel": "kmod-sched-core",
    "pfifo": "kmod-sched-core",
    "bfifo": "kmod-sched-core",
}
"""Packages with the disciplines; `kmod-sched` has the rest."""
_SQM_WORDS = ("bandwidth", "overhead", "mpu")
_SHARED = [
    entry
    for entry in tc.ENTRIES
    if entry.aqm in ("cake", "fq_codel", "codel", "red", "pie", "fq_pie", "sfq", "droptail")
]
ENTRIES = tuple(
    replace(
        entry,
        pitfalls=(
            *entry.pitfalls,
            "SQM's piece_of_cake sets besteffort of its own: what is written in eqdisc_opts wins",
        )
        if entry.name == "cake"
        else entry.pitfalls,
    )
    for entry in _SHARED
)


def frame(entry: Entry, words: list[str], line: str, given: Given) -> list[tuple[str, list[str]]]:
    """UCI for what SQM has; a script for what it has not."""
    if entry.name not in SCRIPTS:
        module = MODULES.get(entry.name, "kmod-sched")
        block = tc.frame(entry, words, line, given)[-1][1]
        return [
            ("SQM has no such queue: once", [f"opkg install tc-full {module}"]),
            ("in /etc/rc.local, DEV the device towards the line", block),
        ]
    rate = given.get("rate", given[LINE])
    options = {
        "enabled": "1",
        "interface": "DEV",
        "download": "0",
        "upload": str(round(rate / 1000)),
        "qdisc": entry.name,
        "script": SCRIPTS[entry.name],
        **_layer(given),
        "qdisc_advanced": "1",
        "qdisc_really_really_advanced": "1",
        "eqdisc_opts": " ".join(_rest(words)),
    }
    lines = ["opkg install sqm-scripts", "uci set sqm.line=queue"]
    lines += [f"uci set sqm.line.{name}='{value}'" for name, value in options.items()]
    title = "DEV towards the line; of downloads, set download as well (kbit/s)"
    return [(title, [*lines, "uci commit sqm", "/etc/init.d/sqm restart"])]


def _layer(given: Given) -> dict[str, str]:
    kind = {"atm": "atm", "ptm": "ethernet"}.get(given.get("framing", "none"))
    overhead = given.get("overhead", 0)
    if kind is None and not overhead:
        return {"linklayer": "none"}
    layer = {"linklayer": kind or "ethernet", "overhead": str(overhead)}
    return layer | ({"tcMPU": str(given["mpu"])} if given.get("mpu") else {})


def _rest(words: list[str]) -> list[str]:
    """cake's and fq_codel's words but those that SQM has options for."""
    kept, skip = [], False
    bare = {"noatm", "atm", "ptm", "egress"}
    for word in words:
        if skip or word in _SQM_WORDS:
            skip = not skip
        elif word not in bare:
            kept.append(word)
    return kept
