"""Tables as CSV and Parquet, figures as SVG and PNG; each file appears whole or not at all."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

from aqmlab import figures
from aqmlab.store import Store


def write_frame(store: Store, name: str, rows: list[dict]) -> None:
    """`tables/<name>.csv` and `.parquet`; nothing for a table without rows."""
    if not rows:
        return
    frame = pl.DataFrame(rows, infer_schema_length=None)
    _write(store, f"tables/{name}.csv", frame.write_csv().encode())
    with store.writing(f"tables/{name}.parquet") as draft, draft.open("wb") as file:
        frame.write_parquet(file)


def write_figures(store: Store, identity: str, figure: Figure) -> str:
    """`figure-9a.svg` and `.png`, or `table-1.svg`; gives the name without ending."""
    stem = identity if identity.startswith("table") else f"figure-{identity}"
    _write(store, f"figures/{stem}.svg", figures.to_svg(figure).encode())
    _write(store, f"figures/{stem}.png", figures.to_png(figure))
    return stem


def _write(store: Store, name: str, content: bytes) -> None:
    with store.writing(name) as draft:
        draft.write_bytes(content)
