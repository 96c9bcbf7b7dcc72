"""Statistics of columns of the table `seconds`, over the measured interval."""

from __future__ import annotations

import numpy as np

from aqmlab import units
from aqmlab.runs.laboratory import FinishedRun


def measured(run: FinishedRun, column: str) -> np.ndarray:
    """A column of the measured seconds, without undefined values."""
    seconds = run.columns("seconds")
    after = seconds["time_s"] >= units.seconds(run.scenario.get("warmup"))
    values = seconds[column][after].astype(float)
    return values[np.isfinite(values)]


def peak_to_mean(run: FinishedRun, *, column: str) -> float:
    """The largest value of a second divided by the mean of all."""
    values = measured(run, column)
    return float(values.max() / values.mean())


def dispersion(run: FinishedRun, *, column: str) -> float:
    """Variance over mean of the values per second: 1 for Poisson arrivals of unit size."""
    values = measured(run, column)
    return float(values.var(ddof=1) / values.mean())


def size_dispersion(run: FinishedRun, *, column: str, count: str) -> float:
    """The dispersion of a column that sums sizes, divided by the mean size; the column `count` has
    the number of summands.

    1 for Poisson arrivals of equal sizes; more for unequal sizes or arrivals in bursts.
    """
    sizes, counts = measured(run, column), measured(run, count)
    return dispersion(run, column=column) * float(counts.sum() / sizes.sum())
