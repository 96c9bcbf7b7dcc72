"""Finds the queues of a machine that shape a line: that of a device, and that of its ifb device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aqmlab.errors import SpecError
from aqmlab.simulator.forms import Queue

from . import tc
from .from_tc import parameters
from .tc_text import NO_DEVICE, Seen, read
from .tc_words import read_rate

SHAPERS = ("htb", "tbf", "hfsc", "cbq")
"""Disciplines that only set a rate: the queue is the discipline below them."""
PARENTS = (*SHAPERS, "mq", "mqprio", "prio", "multiq", "ets", "drr")
NOTHING = ("noqueue", "ingress", "clsact", "noop")
_NO_LEAVES = frozenset((*PARENTS, *NOTHING))
_PREFIXES = ("ifb4", "ifb", "ifb-")
HEADER_BYTES = 14
"""Length of the Ethernet header, which tc counts in every packet of most devices."""
_BARE_DEVICES = ("ppp", "pppoe", "tun", "wg", "ipip", "sit", "gre")
"""Prefixes of the names of devices whose packets have no Ethernet header."""
_NAME = 15
"""Longest device name in characters: SQM scripts cut `ifb4` with a long name at this length."""


ASSUMED = 4
"""Number of queues of a multi-queue device if tc does not list them; our own choice, without a
source."""


@dataclass(frozen=True)
class DeviceQueue:
    """A queue of a device, in the form of a scenario."""

    device: str
    queue: Queue
    """The queue as in a scenario."""
    rate: float | None
    """Rate in bit/s, if a shaper sets one."""
    link: Mapping[str, object] = field(default_factory=dict)
    """Fields of the link's framing that the shaper's settings reveal."""
    remarks: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True)
class Device:
    """A device with a queue, in tc's words."""

    name: str
    queue: Seen
    """The discipline that holds the device's packets."""
    rate: float | None
    """Rate in bit/s, if a shaper sets one."""
    shapers: Sequence[Seen]
    stab: Mapping[str, str]
    remarks: Sequence[str]
    queues: int = 0
    """Number of queues of `cake_mq`, as far as tc lists them."""

    @property
    def rank(self) -> int:
        """Preference among devices: those with a shaper come first, then those with a known
        discipline."""
        return 2 * (self.rate is not None or bool(self.shapers)) + (self.queue.kind in _NAMES)


_NAMES = {"pfifo_fast", *(entry.name for entry in tc.ENTRIES)}


def devices(text: str) -> list[Device]:
    """Every device that has a queue; an error if there is none."""
    everything = read(text)
    if not any(not one.is_class for one in everything):
        raise SpecError("there is no line `qdisc …`: give what `tc -s -d qdisc show` prints")
    those: dict[str, list[Seen]] = {}
    for one in everything:
        those.setdefault(one.device, []).append(one)
    _place_classes(those)
    kept = [one for one in map(_device, those.values()) if one is not None]
    if not kept:
        raise SpecError(f"no device has a queue: there is only {everything[0].kind}")
    return kept


def _place_classes(those: dict[str, list[Seen]]) -> None:
    """Assigns classes without a device name (`tc class show dev eth0` prints none) to the only
    device with a shaper."""
    classes = those.get(NO_DEVICE, [])
    if not all(one.is_class for one in classes):
        return
    shaping = [
        name
        for name, own in those.items()
        if name != NO_DEVICE and any(one.kind in SHAPERS and not one.is_class for one in own)
    ]
    if classes and len(shaping) == 1:
        those[shaping[0]] += classes


def _device(those: list[Seen]) -> Device | None:
    """The device with its leaf discipline and the rate of the shaper above it; None without a
    queue."""
    classes = {one.handle: one for one in those if one.is_class}
    all_seen = [one for one in those if not one.is_class]
    leaves = [one for one in all_seen if one.kind not in _NO_LEAVES]
    # The queues below cake_mq are parts of it, not queues of their own.
    leaves = [one for one in leaves if one.kind == "cake_mq"] or leaves
    if not leaves:
        return None
    leaf = _main(all_seen, leaves)
    # The parents of the queues below cake_mq are classes of its handle, such as `parent 1:2`.
    queues = sum(one.kind == "cake" and one.parent.split(":")[0] == leaf.handle for one in all_seen)
    remarks = []
    if len(leaves) > 1:
        remarks.append(
            f"{leaf.device} has {len(leaves)} queues side by side: {_named(leaf)} is taken"
        )
    shapers = [one for one in all_seen if one.kind in SHAPERS]
    rate, notes = _rate(leaf, shapers, classes)
    stab = next((one.stab for one in all_seen if one.stab), {})
    return Device(leaf.device, leaf, rate, shapers, stab, (*remarks, *notes), queues)


def found(device: Device) -> DeviceQueue:
    """The device's queue in the form of a scenario, with remarks."""
    leaf = device.queue
    queue, remarks = _parameters(leaf)
    if leaf.kind == "cake_mq":
        queue["tx_queues"] = device.queues or ASSUMED
        if not device.queues:
            remarks.append(f"how many queues the device has is not said: {ASSUMED} (tx_queues)")
    if device.shapers and queue["aqm"] in ("red", "ared", "choke"):
        remarks.append(tc.ENTRIES[3].pitfalls[0])
    if leaf.sent is not None and leaf.sent + (leaf.dropped or 0):
        share = (leaf.dropped or 0) / (leaf.sent + (leaf.dropped or 0))
        remarks.append(f"it dropped {share:.2%} of {leaf.sent + (leaf.dropped or 0)} packets")
    link, notes = _link(leaf, queue, device.stab)
    return DeviceQueue(device.name, queue, device.rate, link, (*device.remarks, *remarks, *notes))


def _named(leaf: Seen) -> str:
    return f"{leaf.kind} {leaf.handle}:" if leaf.handle else f"the first, {leaf.kind}"


def _main(all_seen: Sequence[Seen], leaves: Sequence[Seen]) -> Seen:
    """The queue of the shaper's default class, else the first queue."""
    for one in all_seen:
        if one.kind == "htb" and "default" in one.words[:-1]:
            default = one.words[one.words.index("default") + 1].removeprefix("0x").lstrip("0")
            for leaf in leaves:
                if leaf.parent == f"{one.handle}:{default}":
                    return leaf
    return leaves[0]


def _parameters(leaf: Seen) -> tuple[dict[str, object], list[str]]:
    try:
        return parameters(leaf.kind, leaf.words, leaf.printed)
    except SpecError as error:
        raise SpecError(f"{leaf.device}: {error}") from None


def _after(words: Sequence[str], word: str) -> str | None:
    return words[words.index(word) + 1] if word in words[:-1] else None


def _rate(
    leaf: Seen, shapers: Sequence[Seen], classes: Mapping[str, Seen]
) -> tuple[float | None, list[str]]:
    """The shaper's rate in bit/s: cake's own, that of tbf, or that of the queue's class; and
    remarks."""
    if leaf.kind in ("cake", "cake_mq"):
        own = _after(leaf.words, "bandwidth")
        if own is not None and own != "unlimited":
            return read_rate(own, {}), []
    rates = []
    place = leaf.parent
    while place in classes:
        most = _after(classes[place].words, "ceil") or _after(classes[place].words, "rate")
        rates += [read_rate(most, {})] if most else []
        place = classes[place].parent if classes[place].parent != place else "root"
    for one in shapers:
        if one.kind == "tbf" and (most := _after(one.words, "rate")):
            rates.append(read_rate(most, {}))
    if rates or not shapers:
        return min(rates, default=None), []
    kind = shapers[0].kind
    return None, [
        f"{kind} has its rate in its classes (`tc class show dev {leaf.device}`): give it with "
        "--rate, or that output too"
    ]


def _header(device: str) -> int:
    name = device.removeprefix("ifb4")
    return 0 if name.startswith(_BARE_DEVICES) else HEADER_BYTES


def _link(leaf: Seen, queue: Queue, stab: Mapping[str, str]) -> tuple[dict[str, object], list[str]]:
    """The link's framing, as far as the shaper knows it."""
    header = _header(leaf.device)
    if stab.get("linklayer", "ethernet") != "ethernet" or "overhead" in stab or "mpu" in stab:
        return sized(header, stab)
    if queue["aqm"] == "cake" and "overhead" in queue:
        return {}, []
    ethernet = {"framing": "ethernet", "header_bytes": HEADER_BYTES}
    return (ethernet if header else {}), []


_BY_LAYER = {"atm": ("pppoa-vcmux", 10), "adsl": ("pppoa-vcmux", 10), "ptm": ("bridged-ptm", 22)}
"""For each link layer of tc-stab(8): a framing of the simulator and its bytes. A larger overhead is
set by `framing_bytes`."""


def sized(header: int, stab: Mapping[str, str]) -> tuple[dict[str, object], list[str]]:
    """The framing that a size table (tc-stab(8)) gives: the device's packet size plus overhead, in
    ATM cells if the link layer is ATM; and remarks."""
    layer, overhead = stab.get("linklayer", "ethernet"), header + int(stab.get("overhead", "0"))
    remarks = []
    if int(stab.get("mpu", "0")):
        remarks.append(f"mpu {stab['mpu']} of the size table is left out")
    framing, least = _BY_LAYER.get(layer, ("none", 0))
    if overhead < least:
        remarks.append(f"{overhead} bytes around a packet ({layer}) are taken as {least}")
    made: dict[str, object] = {"framing": framing}
    if overhead > least:
        made["framing_bytes"] = overhead - least
    if header:
        made["header_bytes"] = header
    return made, remarks


def ways(text: str, device: str | None = None) -> tuple[dict[str, DeviceQueue], list[str]]:
    """The queues of the two directions. Downloads pass an ifb device, uploads the device that it
    belongs to; a single queue is `forward`.

    Devices with a shaper are preferred; the remarks list those that were not used.
    """
    those = devices(text)
    pairs = _pairs(those)
    if device is not None:
        pairs = [pair for pair in pairs if any(one.name == device for one in pair)]
        if not pairs:
            names = _list([one.name for one in those])
            raise SpecError(f"{device} has no queue here: {names} have one")
    chosen = max(pairs, key=lambda pair: sum(one.rank for one in pair))
    remarks = []
    taken = {one.name for one in chosen}
    left = [f"{one.name} ({one.queue.kind})" for one in those if one.name not in taken]
    if left and device is None:
        remarks.append(f"passed over: {_list(left)}; --dev takes another")
    down = [one for one in chosen if _is_ifb(one)]
    up = [one for one in chosen if not _is_ifb(one)]
    if not (down and up):
        return {"forward": found(chosen[0])}, remarks
    if not _belongs(down[0].name, up[0].name):
        remarks.append(f"{down[0].name} is taken as the downloads of {up[0].name}")
    return {"forward": found(down[0]), "reverse": found(up[0])}, remarks


def _list(names: Sequence[str]) -> str:
    most = 8
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _is_ifb(one: Device) -> bool:
    return one.name.startswith("ifb")


def _belongs(ifb: str, device: str) -> bool:
    return ifb in {f"{prefix}{device}"[:_NAME] for prefix in _PREFIXES}


def _pairs(those: Sequence[Device]) -> list[list[Device]]:
    """Each device with its ifb; an ifb without a device of its name goes with the only device that
    has a shaper."""
    named = {one.name: one for one in those if _is_ifb(one)}
    pairs = []
    for one in those:
        if not _is_ifb(one):
            names = (f"{prefix}{one.name}"[:_NAME] for prefix in _PREFIXES)
            own = next((named.pop(name) for name in names if name in named), None)
            pairs.append([one] if own is None else [own, one])
    alone = [pair for pair in pairs if len(pair) == 1]
    alone = [pair for pair in alone if pair[0].rank > 1] or (alone if len(pairs) == 1 else [])
    for ifb in named.values():
        if len(alone) == 1 and len(named) == 1:
            alone[0].insert(0, ifb)
        else:
            pairs.append([ifb])
    return pairs
