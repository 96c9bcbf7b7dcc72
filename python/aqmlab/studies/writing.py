"""Tables as CSV and Parquet, figures as SVG and PNG; each file appears whole or not at all."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from aqmlab import figures
from aqmlab.store import whole


def write_frame(stem: Path, rows: list[dict]) -> None:
    """`stem.csv` and `stem.parquet`; nothing for a table without rows."""
    if not rows:
        return
    frame = pl.DataFrame(rows, infer_schema_length=None)
    _write(stem.with_name(f"{stem.name}.csv"), frame.write_csv().encode())
    with whole(stem.with_name(f"{stem.name}.parquet")) as draft:
        frame.write_parquet(draft)


def write_figures(folder: Path, identity: str, figure: Figure) -> str:
    """`figure-9a.svg` and `.png`, or `table-1.svg`; gives the name without ending."""
    stem = identity if identity.startswith("table") else f"figure-{identity}"
    _write(folder / f"{stem}.svg", figures.to_svg(figure).encode())
    _write(folder / f"{stem}.png", figures.to_png(figure))
    return stem


def _write(path: Path, content: bytes) -> None:
    with whole(path) as draft:
        draft.write_bytes(content)
