"""The defaults that `tc` itself passes to the kernel for words missing in a command (iproute2,
read).

The kernel's own defaults apply only where tc passes nothing. The output of `tc qdisc show` contains
all values.
"""

from __future__ import annotations

from collections.abc import Mapping

from .tc_words import AVPKT, BYTES, COUNT, TIME
from .words import number

_SFB_MAX = 65_535
"""tc's number for probability 1. tc's default steps are a 2,000th and a 20,000th of it; the
kernel's are twice and four times as large."""


OF_TC_ALONE = {"dualpi2": ("max_rtt", "typical_rtt")}
"""Words that tc itself converts to others, by discipline."""


def passed_by_tc(kind: str, pairs: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The words that tc adds to a command, and remarks on them."""
    if kind == "red":
        return _red(pairs)
    if kind == "choke":
        return _choke(pairs), []
    if kind == "sfb":
        return _sfb(pairs), []
    return (_dualpi2(pairs), []) if kind == "dualpi2" else ({}, [])


def _red(pairs: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """`tc_red.c`: thresholds by Floyd's advice, in bytes, and a burst from their mean."""
    notes = []
    if "limit" not in pairs or "avpkt" not in pairs:
        notes = ["tc itself refuses red without limit and avpkt: defaults are taken"]
    if "limit" not in pairs and "max" not in pairs and "min" not in pairs:
        return {}, notes
    size = {word: int(BYTES.read(text, {})) for word, text in pairs.items() if word in _SIZES}
    least = size.get("min", 0)
    most = size.get("max") or (3 * least if least else size["limit"] // 4)
    least = least or most // 3
    burst = (2 * least + most) // (3 * size.get("avpkt", AVPKT))
    filled = {"min": f"{least}b", "max": f"{most}b", "burst": str(burst)}
    return {word: text for word, text in filled.items() if word not in pairs}, notes


_SIZES = ("limit", "min", "max", "avpkt")


def _choke(pairs: Mapping[str, str]) -> dict[str, str]:
    """`q_choke.c`: as `_red`, but in packets, and `max` does not default to a multiple of `min`."""
    if "limit" not in pairs:
        return {}
    count = {word: int(COUNT.read(text, {})) for word, text in pairs.items() if word in _SIZES[:3]}
    most = count.get("max") or count["limit"] // 4
    least = count.get("min") or most // 3
    filled = {"max": str(most), "min": str(least), "burst": str((2 * least + most) // 3)}
    return {word: text for word, text in filled.items() if word not in pairs}


def _sfb(pairs: Mapping[str, str]) -> dict[str, str]:
    """`q_sfb.c`: bins, and steps of the probability, that differ from the kernel's own defaults."""
    most, target = (int(COUNT.read(pairs.get(word, "0"), {})) for word in ("max", "target"))
    most = most or ((target * 5 + 1) // 4 if target else 25)
    filled = {
        "increment": number((_SFB_MAX + 1000) // 2000 / _SFB_MAX),
        "decrement": number((_SFB_MAX + 10000) // 20000 / _SFB_MAX),
        "max": str(most),
        "target": str(target or (most * 4 + 3) // 5),
    }
    return {word: text for word, text in filled.items() if word not in pairs}


def _dualpi2(pairs: Mapping[str, str]) -> dict[str, str]:
    """`q_dualpi2.c`: tc computes four values from `max_rtt` and `typical_rtt`, which take
    precedence over words for these values."""
    if "max_rtt" not in pairs and "typical_rtt" not in pairs:
        return {}
    known = {
        word: float(TIME.read(pairs[word], {}))
        for word in ("max_rtt", "typical_rtt")
        if word in pairs
    }
    most = known.get("max_rtt") or known["typical_rtt"] * 6
    usual = known.get("typical_rtt") or most / 6
    update = min(usual, most / 3)
    return {
        "target": f"{number(usual)}s",
        "tupdate": f"{number(update)}s",
        "alpha": _in_256ths(0.1 * update / most**2),
        "beta": _in_256ths(0.3 / most),
    }


def _in_256ths(gain: float) -> str:
    """A gain as tc passes it: rounded down to a multiple of 1/256."""
    return number(int(gain * 256) / 256)
