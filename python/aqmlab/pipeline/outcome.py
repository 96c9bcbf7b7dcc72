"""Writes a study's tables and figures into its folder, and makes the content of `result.json`."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from matplotlib.figure import Figure as Picture

from aqmlab import figures
from aqmlab.experiment import plan
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.grammar import Difference, Figure, Settings, Setup, Table
from aqmlab.experiment.plan import Cell, Plan
from aqmlab.experiment.shapes import written
from aqmlab.runs.store import Store
from aqmlab.simulator import engine
from aqmlab.tables import measure, published, tables
from aqmlab.tables.dataset import Dataset
from aqmlab.tables.document import FigureShown, Row, StudyDocument, TableShown
from aqmlab.tables.writing import write_frame

from . import calibrating


def of(experiment: Experiment, dataset: Dataset, parts: list[str], quick: bool) -> StudyDocument:
    """All of `result.json` that is known before tables and figures are written."""
    usual = ("name", "title", "subtitle", "question", "source")
    about = {name: getattr(experiment, name) for name in usual}
    version = engine.version()
    rows = run_rows(dataset)
    found = about | {
        "swept": experiment.swept,
        "set": experiment.set,
        "changes": list(experiment.changes),
        "own": _own(experiment),
        "lead": experiment.lead,
        "answer": list(experiment.answer),
        "advice": written(experiment.advice) if experiment.advice is not None else None,
        "quick": quick,
        "settings": settings_of(dataset.settings),
        "parts": parts,
        "all_parts": [{"text": ""} | written(part) for part in experiment.part],
        "seeds": max(map(len, dataset.plan.replications.values()), default=0),
        "versions": {
            "aqmlab": version.version,
            "build": version.build,
            "commit": version.commit,
            "profile": version.profile,
            "python": platform.python_version(),
        },
        "calibrations": [{"base": base} | line for base, line in dataset.calibrations.items()],
        "metrics": written(list(dataset.metrics.values())),
        "deviations": written(experiment.deviation),
        "scenario": experiment.scenario,
        "bases": experiment.bases,
        "setups": _setups(experiment, dataset),
        "files": {
            name: (experiment.folder / name).read_text("utf-8")
            for name in [experiment.filename, *experiment.include]
            if name
        },
        "runs": _scenarios(rows),
        "fingerprint": _combined([row["fingerprint"] for row in rows]),
    }
    return cast(StudyDocument, found)


def settings_of(settings: Settings) -> dict:
    """The settings of a study's run (durations, seeds, interim analyses, quick or full), as they
    are stored in `result.json`."""
    return written(settings) | {"looks": list(settings.looks), "mode": settings.mode}


def _setups(experiment: Experiment, dataset: Dataset) -> list[dict]:
    """The set-ups to draw; for a sweep its first scenario, complete with all defaults."""
    if not experiment.swept:
        return [_setup(experiment, setup) for setup in experiment.setup]
    first = {"scenario": dataset.scenario(dataset.plan.cells[0])}
    return [_setup(experiment, setup) | first for setup in experiment.setup or (Setup(caption=""),)]


def _setup(experiment: Experiment, setup: Setup) -> dict:
    """A set-up to draw: its base scenario, and the fields that differ from run to run."""
    base = experiment.base(setup.base)
    groups = [group for group in experiment.group if group.base == setup.base]
    loads = any(group.uses_load for group in groups)
    loaded = calibrating.fields(experiment, setup.base) if loads else []
    return {
        "caption": setup.caption,
        "scenario": experiment.change(base, ()) if experiment.change else base,
        "varied": plan.varied(groups, loaded),
    }


def tabulate(
    experiment: Experiment,
    dataset: Dataset,
    parts: list[str],
    out: Path,
    *,
    only: str | None = None,
) -> None:
    """Makes the tables of these parts, or with `only` a single one, and adds them to the
    dataset."""
    runs = dataset.plan
    for spec in experiment.of("table", parts):
        if only in (None, spec.id):
            reference = published.read((out, experiment.folder), spec)
            cells = runs.of(spec.group, spec.where)
            dataset.tables[spec.id] = tables.table(
                spec, dataset.columns(spec), cells, dataset.values, reference
            )
    for spec in experiment.of("difference", parts):
        if only in (None, spec.id):
            dataset.tables[spec.id] = tables.differences(
                spec, dataset.columns(spec), pairs(runs, spec), dataset.values
            )


def pairs(runs: Plan, spec: Difference) -> list[tuple[Cell, Cell]]:
    """The cells of two groups that agree on the axes that a difference names."""
    return [
        (cell, other)
        for cell in runs.of(spec.group, spec.where)
        for other in runs.of(spec.minus, {**spec.minus_where, **{a: cell.axes[a] for a in spec.on}})
    ]


def write_tables(
    experiment: Experiment, dataset: Dataset, parts: list[str], store: Store
) -> list[TableShown]:
    """Writes every table as CSV and Parquet; returns the tables for the report."""
    listed = []
    for spec in (*experiment.of("table", parts), *experiment.of("difference", parts)):
        rows = dataset.tables[spec.id]
        write_frame(store, spec.id, rows)
        if rows:
            listed.append(_shown(spec, experiment, dataset, rows, store.folder))
    write_frame(
        store,
        "runs",
        (
            row | measure.numbers(dataset.results[row["key"], row["seed"]].summary)
            for row in run_rows(dataset)
        ),
    )
    return listed


def _shown(
    spec: Table | Difference, experiment: Experiment, dataset: Dataset, rows: list[Row], out: Path
) -> TableShown:
    """A table in the form for the report."""
    reference = spec.reference if isinstance(spec, Table) else None
    return {
        "id": spec.id,
        "part": spec.part,
        "title": spec.title,
        "paper": spec.paper,
        "keys": spec.columns,
        "metrics": [metric.name for metric in dataset.columns(spec)],
        "rows": rows,
        "paired": isinstance(spec, Difference),
        "reference": reference,
        "headline": list(spec.headline),
        "note": spec.note,
        "remarks": _remarks(spec, experiment, dataset, out) if isinstance(spec, Table) else [],
        "has_reference": any(row.get("paper") is not None for row in rows),
    }


def _remarks(spec: Table, experiment: Experiment, dataset: Dataset, out: Path) -> list[str]:
    """Remarks on entries of a published table that match no simulated number."""
    if spec.reference is None:
        return []
    places = tables.places(spec, dataset.plan.of(spec.group, spec.where))
    rows = published.read((out, experiment.folder), spec)
    return published.remarks(spec, dataset.columns(spec), places, rows)


def write_figures(
    specs: Sequence[Figure],
    experiment: Experiment,
    dataset: Dataset,
    store: Store,
    *,
    table: str = "distributions",
) -> list[FigureShown]:
    """Writes every figure as SVG and PNG, and the curves of distributions as one table; returns the
    figures for the report.
    """
    listed: list[FigureShown] = []
    curves = []
    keys: dict[object, Mapping[str, str]] = {table.id: table.keys for table in experiment.table}
    for spec in specs:
        kind = figures.kind(spec.kind)
        drawn = kind.drawing(spec.entry, dataset, keys=keys.get(spec.of.get("table"), {}))
        if drawn is None:
            continue
        stem = _write(store, spec.id, kind.picture(spec.entry, drawn.data))
        listed.append(
            {
                "id": spec.id,
                "part": spec.part,
                "title": spec.title,
                "name": spec.paper or f"Figure {spec.id}",
                "kind": spec.kind,
                "wide": kind.wide if spec.wide is None else spec.wide,
                "caption": spec.caption,
                "note": drawn.note,
                "file": f"figures/{stem}.svg",
            }
        )
        if spec.kind == "cdf":
            curves += _curve_rows(spec.id, drawn.data["curves"])
    write_frame(store, table, curves)
    return listed


def _write(store: Store, identity: str, figure: Picture) -> str:
    """Writes a figure, such as `figure-9a.svg` and `.png`, or `table-1.svg`; returns the name
    without suffix."""
    stem = identity if identity.startswith("table") else f"figure-{identity}"
    svg, png = figures.to_both(figure)
    store.write(f"figures/{stem}.svg", svg.encode())
    store.write(f"figures/{stem}.png", png)
    return stem


def _own(experiment: Experiment) -> list[str]:
    """The names of variants with a user's own discipline."""
    return list(
        dict.fromkeys(
            str(variant.name)
            for group in experiment.group
            for axis in group.axes
            for variant in axis.variants
            for value in variant.set.values()
            if isinstance(value, Mapping) and isinstance(value.get("aqm"), Mapping)
        )
    )


def run_rows(dataset: Dataset) -> list[dict]:
    """One row for each simulation of the first interim analysis: its cells, key, seed, fingerprint
    and folder."""
    names: dict[str, list[str]] = {}
    for cell in dataset.plan.cells:
        names.setdefault(cell.key, []).append(
            f"{cell.group} {', '.join(cell.labels.values())}".strip()
        )
    rows = []
    for key, seed in dataset.plan.places():
        run = dataset.results[key, seed]
        rows.append(
            {
                "run": "; ".join(names[key]),
                "key": key,
                "seed": seed,
                "users": run.summary.get("users", 0),
                "fingerprint": str(run.summary.get("fingerprint", "")),
                "folder": f"runs/{run.folder.name}" if run.folder else None,
            }
        )
    return rows


def _scenarios(rows: list[dict]) -> list[dict]:
    """One row per scenario, with a fingerprint combined from those of its seeds."""
    found: dict[str, list[dict]] = {}
    for row in rows:
        found.setdefault(row["key"], []).append(row)
    return [
        {k: several[0][k] for k in ("run", "key", "users", "folder")}
        | {
            "seeds": len(several),
            "fingerprint": _combined([row["fingerprint"] for row in several]),
        }
        for several in found.values()
    ]


def _combined(fingerprints: list[str]) -> str:
    return hashlib.sha256("\n".join(fingerprints).encode()).hexdigest()[:16]


def _curve_rows(figure: str, curves: list[dict]) -> list[dict]:
    return [
        {
            "figure": figure,
            "curve": curve["label"],
            "response_ms": float(curve["x_ms"][i]),
            "percent": float(curve["percent"][i]),
            "low": None if curve["low"] is None else float(curve["low"][i]),
            "high": None if curve["high"] is None else float(curve["high"][i]),
        }
        for curve in curves
        for i in range(len(curve["x_ms"]))
    ]


def manifest(result: StudyDocument) -> dict[str, object]:
    """The content of the folder's manifest for a study."""
    usual = ("name", "quick", "settings", "parts", "calibrations", "scenario", "bases", "runs")
    kept = (*usual, "remarks")
    described: dict[str, object] = {k: result[k] for k in kept}
    return {"study": result["name"]} | described
