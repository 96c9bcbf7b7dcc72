"""What a study leaves in its folder: tables, figures and the content of `result.json`."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path

from matplotlib.figure import Figure

from aqmlab import figures
from aqmlab.experiment import plan
from aqmlab.experiment.experiment import Experiment
from aqmlab.runs.store import Store
from aqmlab.simulator import engine
from aqmlab.tables import measure, published, tables
from aqmlab.tables.material import Material
from aqmlab.tables.writing import write_frame

from . import calibrating


def of(experiment: Experiment, material: Material, parts: list[str], quick: bool) -> dict:
    """All of `result.json` that is known before tables and figures are written."""
    about = {k: experiment.data[k] for k in ("name", "title", "subtitle", "question", "source")}
    version = engine.version()
    rows = run_rows(material)
    return about | {
        "lead": experiment.data.get("lead"),
        "quick": quick,
        "settings": material.settings,
        "parts": parts,
        "all_parts": [{"title": p["name"], "text": ""} | p for p in experiment.data["part"]],
        "seeds": max(material.plan.replications.values(), default=0),
        "versions": {
            "aqmlab": version.version,
            "build": version.build,
            "commit": version.commit,
            "profile": version.profile,
            "python": platform.python_version(),
        },
        "calibrations": [{"base": base} | line for base, line in material.calibrations.items()],
        "metrics": list(material.metrics.values()),
        "deviations": experiment.of("deviation"),
        "scenario": experiment.data["scenario"],
        "bases": experiment.data.get("base", {}),
        "setups": [_setup(experiment, setup) for setup in experiment.of("setup")],
        "files": {
            name: (experiment.folder / name).read_text("utf-8")
            for name in ["experiment.toml", *experiment.data.get("include", [])]
        },
        "runs": _scenarios(rows),
        "fingerprint": _combined([row["fingerprint"] for row in rows]),
    }


def _setup(experiment: Experiment, setup: dict) -> dict:
    """What is drawn of a set-up: its base, and which of its fields differ from run to run."""
    base = setup.get("base")
    groups = [group for group in experiment.of("group") if group.get("base") == base]
    loaded = calibrating.fields(experiment, base) if plan.uses_load(groups) else []
    return {
        "caption": setup["caption"],
        "scenario": experiment.base(base),
        "varied": plan.varied(groups, loaded),
    }


def write_tables(
    experiment: Experiment, material: Material, parts: list[str], store: Store
) -> list[dict]:
    """Every table as CSV and Parquet; gives what the report shows of them."""
    listed = []
    for spec in experiment.of("table", parts) + experiment.of("difference", parts):
        rows = material.tables[spec["id"]]
        write_frame(store, spec["id"], rows)
        if not rows:
            continue
        listed.append(
            {
                "id": spec["id"],
                "part": spec["part"],
                "title": spec["title"],
                "paper": spec.get("paper"),
                "keys": list(spec["keys"].values())
                if "keys" in spec
                else tables.difference_keys(spec),
                "metrics": [metric["name"] for metric in material.columns(spec)],
                "rows": rows,
                "paired": "minus" in spec,
                "reference": spec.get("reference"),
                "headline": spec.get("headline", []),
                "note": spec.get("note", ""),
                "remarks": _remarks(spec, experiment, material, store.folder),
                "has_reference": any(row.get("paper") is not None for row in rows),
            }
        )
    write_frame(
        store,
        "runs",
        [
            row | measure.numbers(material.results[row["key"], row["seed"]].summary)
            for row in run_rows(material)
        ],
    )
    return listed


def _remarks(spec: dict, experiment: Experiment, material: Material, out: Path) -> list[str]:
    """What of a published table has no place beside ours."""
    if "reference" not in spec:
        return []
    places = tables.places(spec, material.plan.of(spec["group"], spec.get("where")))
    rows = published.read((out, experiment.folder), spec)
    return published.remarks(spec, material.columns(spec), places, rows)


def write_figures(
    specs: list[dict],
    experiment: Experiment,
    material: Material,
    store: Store,
    *,
    table: str = "distributions",
) -> list[dict]:
    """Every figure as SVG and PNG, the curves of distributions as one table; gives what the report
    shows of them.
    """
    listed, curves = [], []
    keys = {t["id"]: t["keys"] for t in experiment.of("table")}
    for spec in specs:
        kind = figures.kind(spec["kind"])
        drawn = kind.drawing(spec, material, keys=keys.get(spec.get("table"), {}))
        if drawn is None:
            continue
        stem = _write(store, spec["id"], kind.picture(spec, drawn.data))
        listed.append(
            {
                "id": spec["id"],
                "part": spec["part"],
                "title": spec["title"],
                "name": spec.get("paper", f"Figure {spec['id']}"),
                "kind": spec["kind"],
                "wide": spec.get("wide", kind.wide),
                "caption": spec["caption"],
                "note": drawn.note,
                "file": f"figures/{stem}.svg",
            }
        )
        if spec["kind"] == "cdf":
            curves += _curve_rows(spec["id"], drawn.data["curves"])
    write_frame(store, table, curves)
    return listed


def _write(store: Store, identity: str, figure: Figure) -> str:
    """`figure-9a.svg` and `.png`, or `table-1.svg`; gives the name without ending."""
    stem = identity if identity.startswith("table") else f"figure-{identity}"
    store.write(f"figures/{stem}.svg", figures.to_svg(figure).encode())
    store.write(f"figures/{stem}.png", figures.to_png(figure))
    return stem


def run_rows(material: Material) -> list[dict]:
    """One row per simulation: what it was, and how to recognise it."""
    names: dict[str, list[str]] = {}
    for cell in material.plan.cells:
        place = ", ".join(cell.labels.values())
        names.setdefault(cell.key, []).append(f"{cell.group} {place}".strip())
    rows = []
    for planned in material.plan.runs():
        run = material.results[planned.key, planned.seed]
        rows.append(
            {
                "run": "; ".join(names[planned.key]),
                "key": planned.key,
                "seed": planned.seed,
                "users": run.summary.get("users", 0),
                "fingerprint": str(run.summary.get("fingerprint", "")),
                "folder": f"runs/{run.stored.folder.name}",
            }
        )
    return rows


def _scenarios(rows: list[dict]) -> list[dict]:
    """One row per scenario; its fingerprint is that of all its seeds together."""
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


def manifest(result: dict) -> dict:
    """What the folder's manifest says of a study."""
    usual = ("name", "quick", "settings", "parts", "calibrations", "scenario", "bases", "runs")
    kept = (*usual, "remarks")
    return {"study": result["name"]} | {k: result[k] for k in kept}
