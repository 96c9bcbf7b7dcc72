"""Tables as CSV and Parquet; each file appears whole or not at all."""

from __future__ import annotations

import polars as pl

from aqmlab.runs.store import Store


def write_frame(store: Store, name: str, rows: list[dict]) -> None:
    """`tables/<name>.csv` and `.parquet`; nothing for a table without rows."""
    if not rows:
        return
    frame = pl.DataFrame(rows, infer_schema_length=None)
    store.write(f"tables/{name}.csv", frame.write_csv().encode())
    with store.writing(f"tables/{name}.parquet") as draft, draft.open("wb") as file:
        frame.write_parquet(file)
