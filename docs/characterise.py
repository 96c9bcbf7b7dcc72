"""Writes docs/characterisation.csv.gz and every discipline's ellipses from the study `rfc7928`.

Part of `make docs`. The study's runs are kept in results/, so that only what changed runs again.
`docs/generate.py` puts the rows on the disciplines' pages.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
from pathlib import Path

from aqmlab import figures
from aqmlab.experiment import experiment
from aqmlab.pipeline import registry
from aqmlab.pipeline.study import Study
from aqmlab.runs.store import Store

sys.path.insert(0, str(Path(__file__).parent))
import archive

DOCS = Path(__file__).parent
STUDY = "rfc7928"
#: Tables of the study, what distinguishes their rows, and the metrics that pages show.
SHOWN = {
    "congestion": ("level", ["goodput", "queue_delay_ms", "queue_delay_p95_ms", "drop_pct"]),
    "changing-load": (None, ["goodput", "queue_delay_ms", "queue_delay_p95_ms", "drop_pct"]),
    "capacity": ("changes", ["goodput", "queue_delay_ms", "queue_delay_p95_ms", "drop_pct"]),
    "rtt": ("rtt", ["rtt_ratio"]),
    "transports": ("other", ["other_share_pct"]),
    "bursts": (None, ["page_p95_ms", "frames_lost_pct"]),
    "mix": (None, ["call_r", "page_load_s", "video_Mbit_per_s"]),
}


def rows(tables: dict[str, list[dict]]) -> list[list[object]]:
    """Table, situation, discipline, metric, mean and 95 % interval of everything that is shown."""
    found: list[list[object]] = []
    for table, (key, metrics) in SHOWN.items():
        for row in tables[table]:
            if row["metric"] in metrics:
                numbers = [row["ours"], row["low"], row["high"]]
                shown = ["" if n is None else f"{n:.4g}" for n in numbers]
                situation = row[key] if key else ""
                found.append([table, situation, row["discipline"], row["metric"], *shown])
    return found


def main() -> None:
    """Runs the study, writes the numbers and the pictures."""
    folder = registry.default_folder(STUDY, True)
    if Store.is_stale(folder):
        Store.open(folder, fresh=True)
    study = Study(experiment.load(STUDY))
    result = study.run(quick=True, out=folder)
    tables = {table["id"]: table["rows"] for table in result["tables"]}
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["table", "situation", "discipline", "metric", "mean", "low", "high"])
    writer.writerows(rows(tables))
    (DOCS / "characterisation.csv.gz").write_bytes(gzip.compress(file.getvalue().encode(), mtime=0))
    dataset = study.dataset(quick=True, out=folder, parts=["congestion"])
    pictures: dict[str, bytes] = {}
    spec = next(f for f in study.experiment.of("figure") if f.id == "heavy").entry
    kind = figures.kind("ellipses")
    names = dict.fromkeys(row["discipline"] for row in tables["bursts"])
    for name in names:
        entry = spec | {"mark": [name], "title": "Heavy congestion"}
        drawn = kind.drawing(entry, dataset)
        assert drawn is not None, "the study has just been run"
        figure = kind.picture(entry, drawn.data)
        pictures[f"{name}.svg"] = figures.to_svg(figure).encode()
    archive.write(archive.PICTURES, pictures)


if __name__ == "__main__":
    main()
