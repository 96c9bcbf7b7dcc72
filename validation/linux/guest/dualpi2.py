"""Linux's dualpi2 by netlink, in the words of tc(8): iproute2 knows it only from 6.17 on."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence

NUMBERS = {
    "limit": (1, "I"),
    "memory_limit": (2, "I"),
    "alpha": (5, "I"),
    "beta": (6, "I"),
    "min_qlen_step": (9, "I"),
    "coupling_factor": (10, "B"),
    "classic_protection": (13, "B"),
}
"""A number as it is (TCA_DUALPI2_*), and its format; gains are in 1/256 Hz there."""

TIMES = {"target": 3, "tupdate": 4}
"""In microseconds."""

FLAGS = {
    "drop_on_overload": (11, 1),
    "overflow": (11, 0),
    "drop_dequeue": (12, 0),
    "drop_enqueue": (12, 1),
    "l4s_ect": (14, 1),
    "any_ect": (14, 3),
    "split_gso": (15, 1),
    "no_split_gso": (15, 0),
}
"""Words that stand alone: attribute and value of one byte."""

UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1}


def options(words: Sequence[str]) -> Iterator[tuple[int, bytes]]:
    """The attributes of the words after `dualpi2`."""
    left = iter(words)
    for word in left:
        if word in FLAGS:
            kind, value = FLAGS[word]
            yield kind, struct.pack("=B", value)
        elif word in NUMBERS:
            kind, form = NUMBERS[word]
            number = float(next(left))
            yield kind, struct.pack(f"={form}", int(256 * number if kind in (5, 6) else number))
        elif word in TIMES:
            yield TIMES[word], struct.pack("=I", _microseconds(next(left)))
        elif word == "step_thresh":
            value = next(left)
            packets = re.fullmatch(r"(\d+)(p|packets)", value)
            number = int(packets[1]) if packets else _microseconds(value)
            yield 7 if packets else 8, struct.pack("=I", number)
        else:
            raise ValueError(f"dualpi2: {word}")


def _microseconds(text: str) -> int:
    number, unit = re.fullmatch(r"([\d.]+)(s|ms|us)", text).groups()
    return round(float(number) * UNITS[unit])
