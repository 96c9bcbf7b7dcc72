"""Tables as CSV and Parquet, figures as SVG and PNG; each file appears whole or not at all."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from aqmlab import figures


def write_frame(stem: Path, rows: list[dict]) -> None:
    """`stem.csv` and `stem.parquet`; nothing for a table without rows."""
    if not rows:
        return
    frame = pl.DataFrame(rows, infer_schema_length=None)
    _whole(stem.with_name(f"{stem.name}.csv"), frame.write_csv().encode())
    draft = stem.with_name(f".{stem.name}.parquet")
    frame.write_parquet(draft)
    draft.replace(stem.with_name(f"{stem.name}.parquet"))


def write_figures(folder: Path, identity: str, figure: Figure) -> str:
    """`figure-9a.svg` and `.png`, or `table-1.svg`; gives the name without ending."""
    stem = identity if identity.startswith("table") else f"figure-{identity}"
    _whole(folder / f"{stem}.svg", figures.to_svg(figure).encode())
    _whole(folder / f"{stem}.png", figures.to_png(figure))
    return stem


def _whole(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}")
    draft.write_bytes(content)
    draft.replace(path)
