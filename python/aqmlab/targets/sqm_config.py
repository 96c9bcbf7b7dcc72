"""`/etc/config/sqm` of OpenWrt (or `uci show sqm`): both directions of a line, with their rates.

The options are those of openwrt.org's page on SQM and of the sqm-scripts (read); additions by a
script are noted where they matter.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from aqmlab.errors import SpecError

from .devices import HEADER_BYTES, DeviceQueue, sized
from .from_tc import parameters

_SECTION = re.compile(r"^\s*config\s+queue\b\s*(\S*)")
_OPTION = re.compile(r"^\s*(?:option|list)\s+(\S+)\s+(.*?)\s*$")
_SHOWN = re.compile(
    r"^\s*(?:uci\s+(?:set|add_list)\s+)?sqm\.(@?[\w-]+(?:\[-?\d+\])?)\.(\w+)=(.*?)\s*$"
)
_OWN_TINS = {"layer_cake.qos": "diffserv3", "piece_of_cake.qos": "besteffort"}
_CAKES = tuple(_OWN_TINS)
_ONE = ("simplest.qos", "simplest_tbf.qos", *_CAKES)


def is_config(text: str) -> bool:
    """Whether a text is a configuration of SQM, as a file or as the output of `uci show`."""
    return any(_SECTION.match(line) or _SHOWN.match(line) for line in text.splitlines()[:400])


def _sections(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Each section `queue` with its options."""
    sections: dict[str, dict[str, str]] = {}
    current: dict[str, str] | None = None
    for line in text.splitlines():
        if found := _SECTION.match(line):
            name = found[1].strip("'\"") or f"queue {len(sections) + 1}"
            current = sections.setdefault(name, {})
        elif line.lstrip().startswith("config "):
            current = None
        elif current is not None and (found := _OPTION.match(line)):
            current[found[1]] = _unquoted(found[2])
        elif found := _SHOWN.match(line):
            sections.setdefault(found[1], {})[found[2]] = _unquoted(found[3])
    return iter(sections.items())


def _unquoted(text: str) -> str:
    try:
        return " ".join(shlex.split(text, comments=True))
    except ValueError:
        return text.strip("'\"")


def ways(text: str, device: str | None = None) -> tuple[dict[str, DeviceQueue], list[str]]:
    """The settings for downloads (forward) and uploads (reverse), in the first enabled section or
    the section of `device`; also remarks for the user."""
    sections = [(name, options) for name, options in _sections(text) if options]
    if device is not None:
        wanted = [one for one in sections if device in (one[0], one[1].get("interface"))]
    else:
        wanted = [one for one in sections if one[1].get("enabled", "1") == "1"] or sections
    if not wanted:
        names = ", ".join(options.get("interface", name) for name, options in sections)
        why = f"{device} is none of its queues: it has {names}" if sections else "it has no queue"
        raise SpecError(f"the configuration of sqm: {why}")
    name, options = wanted[0]
    remarks = []
    if options.get("enabled", "1") != "1":
        remarks.append(f"{name} is not enabled")
    others = [one[1].get("interface", one[0]) for one in sections if one[0] != name]
    if others and device is None:
        remarks.append(f"passed over: {', '.join(others)}; --dev takes another")
    made = {}
    for way, key, side in (("forward", "download", "i"), ("reverse", "upload", "e")):
        rate = _kilobits(options, key)
        if rate:
            made[way] = _queue(options, side, rate)
        else:
            remarks.append(f"{key} = 0: this direction is not shaped and is left out")
    if not made:
        raise SpecError(f"the configuration of sqm: {name} shapes neither direction")
    if "forward" not in made:
        made = {"forward": made["reverse"]}
    return made, remarks


def _kilobits(options: Mapping[str, str], key: str) -> float:
    text = options.get(key, "0")
    if not text.isdigit():
        raise SpecError(f'the configuration of sqm: {key} "{text}" is no number of kbit/s')
    return 1e3 * int(text)


def _queue(options: Mapping[str, str], side: str, rate: float) -> DeviceQueue:
    device = options.get("interface", "DEV")
    kind, script = options.get("qdisc", "fq_codel"), options.get("script", "simple.qos")
    words, remarks = _words(options, side, kind, script)
    queue, about = parameters(kind, words, printed=False)
    remarks += about
    if script in _CAKES or kind == "cake":
        queue = {**queue, "rate": f"{rate:.12g} bit/s"}
    elif script not in _ONE:
        remarks.append(f"{script} has three classes with a queue each: one is taken for all")
    link, shown = _link(options, kind)
    name = device if side == "e" else f"ifb4{device}"
    return DeviceQueue(name, queue, rate, link, (*remarks, *shown))


def _words(
    options: Mapping[str, str], side: str, kind: str, script: str
) -> tuple[list[str], list[str]]:
    """The words that the script passes to tc for the discipline, and remarks."""
    words: list[str] = []
    if kind == "cake":
        tins = _OWN_TINS.get(script, "besteffort")
        if side == "i" and options.get("squash_dscp", "1") == "1":
            tins = "besteffort"
        words += [tins]
        words += ["ingress"] if side == "i" else []
        words += _framed(options)
    else:
        for key, word in (("limit", "limit"), ("target", "target")):
            value = options.get(f"{side}{key}", "auto")
            words += [word, value] if value not in ("", "auto", "default") else []
        mark = options.get("ingress_ecn" if side == "i" else "egress_ecn")
        default = "ECN" if side == "i" else "NOECN"
        if kind in ("fq_codel", "codel", "pie", "fq_pie"):
            words.append("ecn" if (mark or default).upper() == "ECN" else "noecn")
    given = options.get(f"{side}qdisc_opts", "")
    advanced = options.get("qdisc_really_really_advanced") == "1"
    if given and (advanced or options.get("qdisc_advanced", "1") == "1"):
        words += given.split()
    return words, []


def _framed(options: Mapping[str, str]) -> list[str]:
    """cake's own words for the link layer."""
    layer = options.get("linklayer", "none")
    if layer == "none":
        return []
    words = ["overhead", options.get("overhead", "0")]
    words += ["mpu", options["tcMPU"]] if options.get("tcMPU", "0") not in ("", "0") else []
    return [*words, "atm" if layer in ("atm", "adsl") else "noatm"]


def _link(options: Mapping[str, str], kind: str) -> tuple[dict[str, object], list[str]]:
    layer = options.get("linklayer", "none")
    if layer == "none":
        return {"framing": "ethernet", "header_bytes": HEADER_BYTES}, []
    if kind == "cake":
        return {}, []
    # The size table of HTB (tc-stab(8)) adds SQM's overhead to the packet size that the kernel
    # counts, which includes the Ethernet header.
    overhead = int(options.get("overhead", "0") or 0)
    stab = {"linklayer": layer, "overhead": str(overhead), "mpu": options.get("tcMPU", "0") or "0"}
    return sized(HEADER_BYTES, stab)
