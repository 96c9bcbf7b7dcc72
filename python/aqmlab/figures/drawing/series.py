"""A quantity of one run, second by second."""

from __future__ import annotations

import numpy as np

from aqmlab import units

from .material import Drawing, Material, samples, table


def series(spec: dict, material: Material) -> Drawing | None:
    """A column second by second, of the first seed; nothing if no second was measured."""
    found = samples(spec, material)
    seconds = table(found[0].runs[0], "seconds") if found else None
    if seconds is None:
        return None
    warmup = units.seconds(material.settings["warmup"])
    time = seconds["time_s"].astype(float)
    value = seconds[spec["column"]].astype(float) * spec.get("scale", 1.0)
    measured = time >= warmup
    sample = value[measured & np.isfinite(value)]
    keep = np.full(len(time), True) if spec.get("whole_run") else measured
    if not keep.any():
        return None
    note = ""
    if len(sample) and sample.mean() > 0:
        note = (
            f"After the discarded part: mean {sample.mean():,.0f}, "
            f"largest second {sample.max() / sample.mean():.1f} times the mean."
        )
        if spec["column"] == "requests":
            dispersion = sample.var() / sample.mean()
            note += f" Variance over mean: {dispersion:.2f} (1 if requests were independent)."
    return Drawing(
        {"time_s": time[keep], "value": value[keep]},
        {"axis": spec["axis"], "warmup_s": warmup if spec.get("whole_run") else 0.0},
        note,
    )
