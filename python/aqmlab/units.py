"""Times, rates and shares as people write them: `"20 ms"`, `"10 Mbit/s"`, `"98 %"`.

The simulator checks every quantity itself with the same grammar; Python needs only the few
numbers it computes with (run lengths for the progress display, link rates for calibration).
"""

from __future__ import annotations

import re

from aqmlab.errors import SpecError, nearest

_TIME = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1.0),
    **dict.fromkeys(("min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
}
_RATE = {
    **dict.fromkeys(("bit/s", "b/s", "bps"), 1.0),
    **dict.fromkeys(("kbit/s", "kb/s", "kbps"), 1e3),
    **dict.fromkeys(("Mbit/s", "Mb/s", "Mbps"), 1e6),
    **dict.fromkeys(("Gbit/s", "Gb/s", "Gbps"), 1e9),
}
_SHARE = {"%": 0.01, "": 1.0}

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})(?:/({_NUMBER}))?\s*(\S*)\s*")


def _parse(text: object, units: dict[str, float], noun: str, example: str) -> float:
    remedy = f'write for example "{example}"'
    if not isinstance(text, str):
        raise SpecError(f"{text!r} is not a {noun}: {remedy}")
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise SpecError(f'"{text}" is not a {noun}: {remedy}')
    above, below, unit = match.groups()
    if unit not in units:
        hint = nearest(unit, list(units)) if unit else ""
        raise SpecError(f'"{text}" is not a {noun}, "{unit}" is no unit of it{hint}; {remedy}')
    if below is not None and float(below) == 0:
        raise SpecError(f'"{text}" divides by zero: {remedy}')
    return float(above) / float(below or 1) * units[unit]


def seconds(text: object) -> float:
    """A time such as `"20 ms"`, in seconds."""
    return _parse(text, _TIME, "time", "90 min")


def bits_per_s(text: object) -> float:
    """A rate such as `"10 Mbit/s"`, in bit/s; it must be positive."""
    rate = _parse(text, _RATE, "rate", "10 Mbit/s")
    if rate <= 0:
        raise SpecError(f'"{text}" is not positive: write for example "10 Mbit/s"')
    return rate


def share(value: object) -> float:
    """A load such as `"98 %"` or `0.98`, as a fraction above 0 and at most 5."""
    if isinstance(value, bool):
        raise SpecError(f'{value} is not a load: write for example "98 %"')
    if isinstance(value, int | float):
        fraction = float(value)
    else:
        fraction = _parse(value, _SHARE, "load", "98 %")
    if not 0 < fraction <= 5:
        raise SpecError(
            f"a load of {value} is out of range, it must be above 0 % and at most 500 %: "
            'write for example "98 %"'
        )
    return fraction
