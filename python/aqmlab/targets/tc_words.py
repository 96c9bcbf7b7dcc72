"""The forms in which `tc` takes and prints numbers (iproute2 6.1, read and run)."""

from __future__ import annotations

import math
import re
from typing import Any

from aqmlab.errors import SpecError

from . import red_average
from .words import LINE, Given, Kind, number

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
TIMES = {
    "": 1e-6,
    **_SECONDS,
    **{unit[:-1] + long: n for unit, n in _SECONDS.items() for long in ("sec", "secs")},
}
"""Units of time, in seconds; a number without a unit is in microseconds (lib/utils.c get_time,
get_time64)."""
RATES = {
    "": 1.0,
    **{f"{prefix}bit": 1e3**n for n, prefix in enumerate(("", "k", "m", "g", "t"))},
    **{f"{prefix}ibit": 2.0 ** (10 * n) for n, prefix in enumerate("kmgt", 1)},
    **{f"{prefix}bps": 8 * 1e3**n for n, prefix in enumerate(("", "k", "m", "g", "t"))},
    **{f"{prefix}ibps": 8 * 2.0 ** (10 * n) for n, prefix in enumerate("kmgt", 1)},
}
"""Units of rates, in bit/s; a number without a unit is bit/s (lib/utils_math.c)."""
SIZES = {
    "": 1,
    "b": 1,
    **{unit: 2 ** (10 * n) for n, k in enumerate("kmg", 1) for unit in (k, f"{k}b")},
    **{f"{k}bit": 2 ** (10 * n) / 8 for n, k in enumerate("kmg", 1)},
}
"""Units of sizes, in bytes (get_size64)."""
AVPKT = 1000
"""Mean packet size (avpkt) in bytes if tc's output does not give it: the value in the manual
(tc-red(8))."""


def _split(text: str, units: dict[str, float] | dict[str, int], what: str) -> float:
    found = re.fullmatch(r"(\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?)([A-Za-z%]*)", text)
    factor = units.get(found[2].lower()) if found else None
    value = math.inf if found is None or factor is None else float(found[1]) * factor
    if not math.isfinite(value):
        raise SpecError(f'"{text}" is no {what} that tc prints: give its output unchanged')
    return value


def _time(value: Any, _: Given) -> str:
    if value >= 1:
        return f"{number(value)}s"
    return f"{number(value * 1e3)}ms" if value >= 1e-3 else f"{number(value * 1e6)}us"


def _rate(value: float, _: Given) -> str:
    for unit in ("gbit", "mbit", "kbit"):
        scaled = value / RATES[unit]
        if scaled >= 1 and math.isclose(scaled, round(scaled), rel_tol=1e-12):
            return f"{round(scaled)}{unit}"
    return f"{round(value)}bit"


def read_rate(text: str, _: Given) -> float:
    """A rate in bit/s; `unlimited` is refused, since a link has a rate."""
    return _split(text, RATES, "rate")


COUNT = Kind(
    lambda value, _: str(round(value)),
    lambda text, _: int(_split(text, {"": 1, "p": 1, "pps": 1, "%": 1}, "number")),
)
BYTES = Kind(lambda value, _: str(round(value)), lambda text, _: round(_split(text, SIZES, "size")))
TIME = Kind(_time, lambda text, _: _split(text, TIMES, "time"))
MILLISECONDS = Kind(
    # Such times are written without a unit, and printed with one.
    lambda value, _: str(round(value * 1e3)),
    lambda text, _: _split(text, {**TIMES, "": 1e-3}, "time"),
)
RATE = Kind(_rate, read_rate)
REAL = Kind(lambda value, _: f"{value:.9g}", lambda text, _: float(text))
PERCENT = Kind(
    lambda value, _: str(round(value * 100)), lambda text, _: float(text.rstrip("%")) / 100
)
WHOLE_PERCENT = Kind(
    lambda value, _: f"{round(value)}%", lambda text, _: round(float(text.rstrip("%")))
)


def in_units(largest: int, of: int) -> Kind:
    """A probability that tc converts to a whole number up to `largest`, while the kernel divides it
    by `of`."""
    return Kind(
        lambda value, _: f"{value * of / largest:.9g}",
        lambda text, _: round(float(text) * largest) / of,
    )


def _packet(given: Given) -> float:
    return given.get("mean_packet_bytes") or given.get("red_mean_packet_bytes") or AVPKT


PACKETS_AS_BYTES = Kind(
    lambda value, given: str(round(value * _packet(given))),
    lambda text, given: _split(text, SIZES, "size") / _packet(given),
)
FOUR_TIMES = Kind(
    # tc's own default of the threshold is a quarter of this value.
    lambda value, given: str(round(4 * value * _packet(given))),
    lambda text, given: _split(text, SIZES, "size") / 4 / _packet(given),
)
WHOLE_SECONDS = Kind(
    lambda value, _: str(max(1, round(value))),
    lambda text, _: _split(text, {"": 1.0, "sec": 1.0}, "time") or None,
)
EWMA = Kind(lambda value, _: str(round(-math.log2(value))), lambda text, _: 2.0 ** -int(text))


def _least(given: Given) -> float:
    return given.get("min_th") or given.get("red_min_th") or 0


def _burst_read(text: str, given: Given) -> float:
    n = red_average.exponent(int(text), _least(given))
    if n is None:
        raise SpecError(f"burst {text} is too small for these thresholds: tc refuses it as well")
    return 2.0**-n


BURST = Kind(lambda value, given: str(red_average.burst(value, _least(given))), _burst_read)
IDLE_RATE = Kind(
    # The rate at which RED's average ages while idle, given by the time of a mean packet.
    lambda value, given: _rate(8 * _packet(given) / value, given),
    lambda text, given: 8 * _packet(given) / read_rate(text, given),
)


def _selector(text: str) -> list[int]:
    """A selector such as `0x1/0x3`: the required value of the masked traffic class, and the
    mask."""
    selector, _, mask = text.partition("/")
    return [int(selector, 0), int(mask or "0", 0)]


SELECTOR = Kind(
    lambda value, given: (
        f"{value:#x}/{mask:#x}" if (mask := given.get("ce_threshold_mask", 0)) else ""
    ),
    lambda text, _: _selector(text)[0],
)
MASK = Kind(lambda _, __: "", lambda text, _: _selector(text)[1])


def rate_words(given: Given) -> str:
    """The line's rate in tc's form."""
    return _rate(given[LINE], given)
