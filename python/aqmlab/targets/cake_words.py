"""cake's keywords that are shorthands for others (tc-cake(8); iproute2's q_cake.c)."""

from __future__ import annotations

from collections.abc import Sequence

RTT = {
    "datacentre": "100us",
    "lan": "1ms",
    "metro": "10ms",
    "regional": "30ms",
    "internet": "100ms",
    "oceanic": "300ms",
    "satellite": "1s",
    "interplanetary": "1000s",
}
"""Round-trip times by cake's keywords."""
_CELLS = {
    "ipoa-vcmux": ("atm", 8),
    "ipoa-llcsnap": ("atm", 16),
    "bridged-vcmux": ("atm", 24),
    "bridged-llcsnap": ("atm", 32),
    "pppoa-vcmux": ("atm", 10),
    "pppoa-llc": ("atm", 14),
    "pppoe-vcmux": ("atm", 32),
    "pppoe-llcsnap": ("atm", 40),
    "pppoe-ptm": ("ptm", 30),
    "bridged-ptm": ("ptm", 22),
    "ethernet": ("", 38),
    "ether-vlan": ("", 4),
    "docsis": ("noatm", 18),
}
"""For each keyword: the framing of packets in cells, and the bytes that it adds to the overhead."""
_LEAST = {"ethernet": 84, "docsis": 64}
"""Smallest size of a frame (mpu), in bytes, by keyword."""
_FRAMES = ("atm", "ptm", "noatm")
WITHOUT_EFFECT = ("via-ethernet", "diffserv-llt", "no-sce", "sce")
"""Keywords of old versions and forks."""


def plain(words: Sequence[str]) -> list[str]:
    """The settings with shorthands replaced by words with values: `ptm overhead 34` for `pppoe-ptm
    ether-vlan`."""
    left: list[str] = []
    frame, overhead, least = "", 0, ""
    has_overhead = False
    i = 0
    while i < len(words):
        word, following = words[i], words[i + 1] if i + 1 < len(words) else ""
        i += 1
        if word in RTT:
            left += ["rtt", RTT[word]]
        elif word in _CELLS:
            kind, more = _CELLS[word]
            frame, overhead, has_overhead = kind or frame, overhead + more, True
            least = str(_LEAST.get(word, least))
        elif word == "conservative":
            frame, overhead, has_overhead = "atm", 48, True
        elif word == "raw":
            # Printed together with `overhead 0`; sizes are then those of the device.
            frame, overhead, has_overhead = "noatm", 0, False
            left.append(word)
        elif word in _FRAMES:
            frame = word
        elif word == "overhead" and following.lstrip("-").isdigit():
            overhead, has_overhead, i = int(following), "raw" not in left, i + 1
        elif word == "mpu" and following.isdigit():
            least, i = following, i + 1
        elif word == "diffserv":
            left.append("diffserv4")
        elif word not in WITHOUT_EFFECT:
            left.append(word)
    left += [frame] if frame else []
    left += ["overhead", str(overhead)] if has_overhead else []
    return left + (["mpu", least] if least else [])
