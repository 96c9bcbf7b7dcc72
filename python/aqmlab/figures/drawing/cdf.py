"""Cumulative distributions of response times, from a run's histogram."""

from __future__ import annotations

import numpy as np

from aqmlab.tables.statistics.responses import share_below

from .material import Drawing, Material, Sample, mean_band, of_traffic, samples, seeds_told

UPTO_MS = 2000.0
GRID_MS = np.arange(0.0, 2001.0, 5.0)
HISTOGRAM = "response_histogram"


def cdf(spec: dict, material: Material) -> Drawing | None:
    """A curve per cell: the mean of the seeds' distributions with its 95 % interval.

    `upto_ms` (2000) is the right end of the axis, `table` (response_histogram) a table with
    `upper_ms` and `count`, `traffic` the numbers of the traffic groups whose responses count where
    the table tells them apart (all), `axis` the words under the axis.
    """
    upto = float(spec.get("upto_ms", UPTO_MS))
    grid = GRID_MS if upto == UPTO_MS else np.linspace(0.0, upto, len(GRID_MS))
    drawn, curves = [], []
    for sample in samples(spec, material):
        histograms = histograms_of(sample, spec)
        if histograms:
            shares = [share_below(histogram, grid) for histogram in histograms]
            curves.append({"label": sample.label} | band(np.array(shares), grid))
            drawn.append(sample)
    if not curves:
        return None
    options = {"legend": spec.get("legend", ""), "upto_ms": upto}
    return Drawing({"curves": curves}, options | asked(spec, "axis"), seeds_told(drawn))


def histograms_of(sample: Sample, spec: dict) -> list[dict[str, np.ndarray]]:
    """The histograms of a cell's runs; none if one of them is empty, because a mean over the other
    runs would be that of the lucky ones.
    """
    found = [of_traffic(h, spec) for h in sample.tables(spec.get("table", HISTOGRAM))]
    return found if all(histogram["count"].any() for histogram in found) else []


def asked(spec: dict, *names: str) -> dict:
    """The options of a figure that its specification names."""
    return {name: spec[name] for name in names if name in spec}


def band(shares: np.ndarray, grid_ms: np.ndarray = GRID_MS) -> dict[str, np.ndarray | None]:
    """Mean over the seeds (rows) and its 95 % interval, at every time of the grid."""
    mean, low, high = mean_band(list(shares))
    return {"x_ms": grid_ms, "percent": mean, "low": low, "high": high}
