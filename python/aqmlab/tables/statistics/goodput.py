"""Statistics of goodput and queueing delay, second by second (`record.goodput`)."""

from __future__ import annotations

import numpy as np

from aqmlab.runs.laboratory import FinishedRun

from .seconds import measured

_COLUMN = ".goodput_bytes"


def goodput_bits_per_s(run: FinishedRun, *, groups: list[str] | None = None) -> float:
    """Goodput in bit/s of these traffic groups, or of all."""
    if groups is None:
        groups = [c.removesuffix(_COLUMN) for c in run.columns("seconds") if c.endswith(_COLUMN)]
    return float(sum(measured(run, group + _COLUMN).mean() for group in groups) * 8)


def goodput_share(run: FinishedRun, *, groups: list[str]) -> float:
    """Share of all goodput that these traffic groups got; NaN if nothing arrived."""
    whole = goodput_bits_per_s(run)
    return goodput_bits_per_s(run, groups=groups) / whole if whole else float("nan")


def goodput_ratio(run: FinishedRun, *, of: str, to: str, members: float = 1.0) -> float:
    """Goodput of one traffic group over that of another; NaN if the other got nothing.

    `members` is the ratio of their numbers of members.
    """
    other = goodput_bits_per_s(run, groups=[to])
    return goodput_bits_per_s(run, groups=[of]) / members / other if other else float("nan")


def queue_delay_quantile_s(run: FinishedRun, *, quantile: float, port: str | None = None) -> float:
    """A quantile over the measured seconds of each second's mean queueing delay at a port, s.

    The default is the studied port.
    """
    waits = measured(run, f"{port or run.summary['studied_port']}.queue_delay_mean_s")
    return float(np.quantile(waits, quantile))
