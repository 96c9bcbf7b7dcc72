"""Times, rates and shares as people write them: `"20 ms"`, `"10 Mbit/s"`, `"98 %"`.

The simulator knows the grammar and the bounds of every quantity (`crates/packet/src/units.rs`);
Python queries it for the few numbers it computes with (run lengths for the progress display, link
rates for calibration) and for the values of a sweep's axes.
"""

from __future__ import annotations

from aqmlab.errors import SpecError

_ENDINGS = {"": "", "packets": "", "time": "s", "rate": "bits_per_s", "bytes": "bytes"}
"""Kinds of quantities, and the suffix of column names for each one's base unit."""


def _parse(text: object, unit: str, noun: str, example: str) -> float:
    from aqmlab.simulator import engine

    if not isinstance(text, str):
        raise SpecError(f'{text!r} is not a {noun}: write for example "{example}"')
    return engine.quantity(text, unit)


def seconds(text: object) -> float:
    """A time such as `"20 ms"`, in seconds."""
    return _parse(text, "time", "time", "90 min")


def bits_per_s(text: object) -> float:
    """A rate such as `"10 Mbit/s"`, in bit/s; a line has at least 1 bit/s."""
    rate = _parse(text, "rate", "rate", "10 Mbit/s")
    if rate < 1:
        raise SpecError(f'"{text}" is below 1 bit/s: write for example "10 Mbit/s"')
    return rate


def share(value: object) -> float:
    """A load such as `"98 %"` or `0.98`, as a fraction above 0 and at most 5."""
    if isinstance(value, bool):
        raise SpecError(f'{value} is not a load: write for example "98 %"')
    if isinstance(value, int | float):
        fraction = float(value)
    else:
        try:
            fraction = _parse(value, "", "load", "98 %")
        except SpecError as error:
            raise SpecError(f'{value!r} is not a load: write for example "98 %"') from error
    if not 0 < fraction <= 5:
        raise SpecError(
            f"a load of {value} is out of range, it must be above 0 % and at most 500 %: "
            'write for example "98 %"'
        )
    return fraction


def quantity(value: object) -> tuple[str, float] | None:
    """Any quantity as its base unit (`s`, `bits_per_s`, `bytes`, else empty) and its value in that
    unit; None if the value is no quantity."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "", float(value)
    for kind, ending in _ENDINGS.items():
        try:
            # The value is rounded, so that 7 % is 0.07, not 0.07000000000000001.
            return ending, float(f"{_parse(value, kind, 'quantity', ''):.12g}")
        except SpecError:
            continue
    return None
