"""A table of the study, drawn."""

from __future__ import annotations

import numpy as np

from .material import Drawing, Material


def panels(spec: dict, material: Material) -> Drawing | None:
    """A table drawn: one panel per measure and value of the column axis."""
    rows = material.tables.get(spec["table"])
    if not rows:
        return None
    keys = spec["keys"]
    x_key, column_key = keys[spec["x"]], keys[spec["columns"]]
    columns = list(dict.fromkeys(row[column_key] for row in rows))
    drawn = []
    for name in spec["rows"]:
        metric = material.metrics[name]
        cells = [
            _panel([r for r in rows if r["metric"] == name and r[column_key] == column], x_key)
            for column in columns
        ]
        drawn.append({"title": metric["title"], "unit": metric["unit"], "cells": cells})
    names = [f"{c} % load" if spec["columns"] == "load" else str(c) for c in columns]
    return Drawing({"columns": names, "rows": drawn}, {"axis": spec["axis"]})


def _panel(rows: list[dict], x_key: str) -> dict:
    cell: dict[str, list | None] = {"x": [row[x_key] for row in rows]}
    for name in ("ours", "low", "high"):
        cell[name] = [np.nan if row[name] is None else row[name] for row in rows]
    paper = [np.nan if row["paper"] is None else row["paper"] for row in rows]
    cell["paper"] = None if np.isnan(paper).all() else paper
    return cell
