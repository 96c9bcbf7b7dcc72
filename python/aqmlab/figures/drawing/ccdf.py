"""The tail of the response times: the share above a time, from a run's histogram."""

from __future__ import annotations

import numpy as np

from aqmlab.tables.statistics.responses import share_below

from .cdf import asked, histograms_of
from .material import Drawing, Material, joined, mean_band, samples, seeds_told, told

POINTS = 300
TOLD_MS = 10_000.0
"""The time of which the note says how many responses took longer."""


def ccdf(spec: dict, material: Material) -> Drawing | None:
    """A curve per cell as in `cdf`, the shares above; `from_ms` (10) and `upto_ms` (the last edge
    of the histogram) are the ends of the axis. Failed responses are above every time.
    """
    wanted = [
        (sample, histograms)
        for sample in samples(spec, material)
        if (histograms := histograms_of(sample, spec))
    ]
    if not wanted:
        return None
    first = float(spec.get("from_ms", 10.0))
    last = float(spec.get("upto_ms", 0.0)) or max(
        _longest(one) for _, found in wanted for one in found
    )
    grid = np.geomspace(first, max(last, 2 * first), POINTS)
    curves, above = [], {}
    for sample, histograms in wanted:
        mean, low, high = mean_band([1 - share_below(h, grid) / 100 for h in histograms])
        curves.append(
            {"label": sample.label, "x_ms": grid, "share": mean, "low": low, "high": high}
        )
        late = [100 - share_below(h, np.array([TOLD_MS]))[0] for h in histograms]
        above[sample.label] = float(np.mean(late))
    note = joined(
        told("Share above 10 s", above, "{:.3g} %"), seeds_told([sample for sample, _ in wanted])
    )
    return Drawing(
        {"curves": curves}, {"legend": spec.get("legend", "")} | asked(spec, "axis"), note
    )


def _longest(histogram: dict[str, np.ndarray]) -> float:
    """Upper edge of the last finite bin that holds a response."""
    upper = histogram["upper_ms"].astype(float)
    held = upper[(histogram["count"] > 0) & np.isfinite(upper)]
    return float(held.max()) if len(held) else 0.0
