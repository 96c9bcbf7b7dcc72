"""Writes tables as CSV and Parquet, each file atomically."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import polars as pl

from aqmlab.runs.store import Store

_AT_A_TIME = 1000
"""Number of rows that are held as mappings at a time; these take ten times the memory of a
frame."""


def write_frame(store: Store, name: str, rows: Iterable[dict]) -> None:
    """Writes `tables/<name>.csv` and `.parquet`; no file for a table without rows."""
    left = iter(rows)
    parts = []
    while some := list(itertools.islice(left, _AT_A_TIME)):
        parts.append(pl.DataFrame(some, infer_schema_length=None))
    if not parts:
        return
    frame = pl.concat(parts, how="diagonal_relaxed") if len(parts) > 1 else parts[0]
    with store.writing(f"tables/{name}.csv") as draft, draft.open("wb") as file:
        frame.write_csv(file)
    with store.writing(f"tables/{name}.parquet") as draft, draft.open("wb") as file:
        frame.write_parquet(file)
