"""Responses by size, and the bytes that they carry, from the table `response_sizes`."""

from __future__ import annotations

import numpy as np

from .material import Drawing, Material, joined, mean_band, samples, seeds_told, told


def sizes(spec: dict, material: Material) -> Drawing | None:
    """A curve per cell: the share of the answered responses (`weight = "responses"`) or of their
    payload bytes (`"bytes"`) that is in responses of up to a size.
    """
    weight = spec.get("weight", "responses")
    if weight not in ("responses", "bytes"):
        raise ValueError(
            f'figure {spec.get("id")}: weight is "responses" or "bytes", not "{weight}"'
        )
    drawn, curves, half = [], [], {}
    for sample in samples(spec, material):
        found = sample.tables("response_sizes")
        if not found or not all(t[weight].any() for t in found):  # no mean of the lucky ones
            continue
        edges = np.unique(np.concatenate([t["upto_bytes"].astype(float) for t in found]))
        mean, low, high = mean_band([_share(t, weight, edges) for t in found])
        curves.append(
            {"label": sample.label, "x_bytes": edges, "percent": mean, "low": low, "high": high}
        )
        half[sample.label] = float(edges[np.searchsorted(mean, 50.0)])
        drawn.append(sample)
    if not curves:
        return None
    what = "responses" if weight == "responses" else "bytes"
    note = joined(
        told(f"Half of the {what} are in responses of up to", half, "{:,.0f} bytes"),
        seeds_told(drawn),
    )
    return Drawing({"curves": curves}, {"legend": spec.get("legend", ""), "weight": weight}, note)


def _share(table: dict[str, np.ndarray], weight: str, edges: np.ndarray) -> np.ndarray:
    """Percent at or below each of these edges."""
    below = np.concatenate([[0.0], np.cumsum(table[weight].astype(float))])
    place = np.searchsorted(table["upto_bytes"].astype(float), edges, side="right")
    return 100 * below[place] / below[-1]
