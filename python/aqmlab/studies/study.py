"""A study from its experiment file to its report: calibrate, run, measure, draw, write.

out/runs/…                finished simulations, never run twice
out/tables/*.csv|parquet  every table, tidy
out/figures/*.svg|png     every figure
out/result.json           all that the report is made of
out/report.html           the report, one file
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aqmlab import engine, figures, measure, report, store, units
from aqmlab.errors import StoreError
from aqmlab.progress import Progress

from . import drawing, findings, headlines, plan, tables
from .drawing import Material
from .experiment import Experiment
from .laboratory import Laboratory, Measured
from .plan import Cell, Plan
from .writing import write_figures, write_frame

RESULT = "result.json"


@dataclass(frozen=True)
class Study:
    """One study under its name."""

    experiment: Experiment

    def run(
        self,
        *,
        quick: bool,
        out: Path,
        progress: Progress | None = None,
        jobs: int | None = None,
        parts: Sequence[str] | None = None,
        settings: dict | None = None,
    ) -> dict:
        """Runs these parts (default: all) and writes everything into `out`.

        Parts that the folder already has stay in the report. `settings` replaces some of the
        quick or full settings. Gives what `result.json` holds.
        """
        experiment = self.experiment
        chosen = experiment.settings(quick) | (settings or {})
        wanted = _with_earlier(experiment.check_parts(list(parts or [])), out, experiment, chosen)
        laboratory = Laboratory(out, progress=progress, jobs=jobs)
        calibration = self._calibration(laboratory, chosen, wanted)
        runs = plan.make(experiment, chosen, _users_for(experiment, calibration), wanted)
        results = laboratory.run(experiment.name, runs.runs)
        material = self._material(runs, chosen, results, calibration, wanted)
        result = self._result(material, wanted, quick)
        result["tables"] = self._tables(material, wanted, out)
        result["figures"] = self._figures(material, wanted, out)
        result["headlines"] = headlines.of(result)
        store.write_json(out / RESULT, result)
        laboratory.store.write_manifest(_manifest(result))
        report.write(out)
        return result

    def _calibration(self, laboratory: Laboratory, settings: dict, parts: list[str]) -> dict | None:
        needed = plan.uses_load(self.experiment, parts) or any(
            f.get("source") == "calibration" for f in self.experiment.of("figure", parts)
        )
        if not needed:
            return None
        times = {k: settings[k] for k in ("duration", "warmup")}
        line = laboratory.calibrate(self.experiment.data["scenario"] | times, settings)
        how = self.experiment.data["calibration"]
        rate = units.bits_per_s(how["rate"])
        users = {
            load: line.users_for(units.share(load), rate, how["multiple_of"])
            for load in _loads(self.experiment, parts)
        }
        return {
            "rate": how["rate"],
            "full_bytes_per_s": rate / 8,
            "bytes_per_user_s": line.bytes_per_user_s,
            "r_squared": line.r_squared,
            "low": line.ci[0],
            "high": line.ci[1],
            "points": [list(point) for point in line.points],
            "users": users,
        }

    def _material(
        self,
        runs: Plan,
        settings: dict,
        results: dict[tuple[str, int], Measured],
        calibration: dict | None,
        parts: list[str],
    ) -> Material:
        experiment = self.experiment
        metrics = {m["name"]: m for m in experiment.of("metric")}
        material = Material(runs, settings, results, calibration, {}, metrics)
        values = _values(material)
        for spec in experiment.of("table", parts):
            reference = tables.read_reference(experiment.folder, spec)
            material.tables[spec["id"]] = tables.table(
                spec, list(metrics.values()), runs.of(spec["group"]), values, reference
            )
        for spec in experiment.of("difference", parts):
            pairs = [
                (cell, other)
                for cell in runs.of(spec["group"])
                for other in runs.of(spec["minus"], {a: cell.axes[a] for a in spec["on"]})
            ]
            material.tables[spec["id"]] = tables.differences(
                spec, list(metrics.values()), pairs, values
            )
        return material

    def _result(self, material: Material, parts: list[str], quick: bool) -> dict:
        experiment = self.experiment
        about = {k: experiment.data[k] for k in ("name", "title", "subtitle", "question", "source")}
        version = engine.version()
        evidence = findings.Evidence(
            material.plan,
            material.metrics,
            {d["id"]: d for d in experiment.of("difference")},
            _values(material),
            material.calibration,
        )
        return about | {
            "quick": quick,
            "settings": material.settings,
            "parts": parts,
            "all_parts": experiment.parts,
            "seeds": material.plan.seeds,
            "versions": {
                "aqmlab": version.version,
                "build": version.build,
                "commit": version.commit,
                "profile": version.profile,
                "python": platform.python_version(),
            },
            "calibration": material.calibration,
            "metrics": list(material.metrics.values()),
            "findings": [findings.decide(s, evidence) for s in experiment.of("finding", parts)],
            "deviations": experiment.of("deviation"),
            "scenario": experiment.data["scenario"],
            "experiment_toml": (experiment.folder / "experiment.toml").read_text("utf-8"),
            "runs": _run_rows(material),
        }

    def _tables(self, material: Material, parts: list[str], out: Path) -> list[dict]:
        listed = []
        specs = self.experiment.of("table", parts) + self.experiment.of("difference", parts)
        for spec in specs:
            rows = material.tables[spec["id"]]
            write_frame(out / "tables" / spec["id"], rows)
            keys = list(spec["keys"].values()) if "keys" in spec else list(spec["on"])
            listed.append(
                {
                    "id": spec["id"],
                    "part": spec["part"],
                    "title": spec["title"],
                    "paper": spec.get("paper"),
                    "keys": keys,
                    "rows": rows,
                    "paired": "minus" in spec,
                    "reference": spec.get("reference"),
                    "note": spec.get("note", ""),
                    "has_reference": any(row.get("paper") is not None for row in rows),
                }
            )
        write_frame(
            out / "tables" / "runs",
            [
                row | measure.numbers(material.results[row["key"], row["seed"]].summary)
                for row in _run_rows(material)
            ],
        )
        return listed

    def _figures(self, material: Material, parts: list[str], out: Path) -> list[dict]:
        listed, curves = [], []
        keys = {t["id"]: t["keys"] for t in self.experiment.of("table")}
        for spec in self.experiment.of("figure", parts):
            full = spec | {"keys": keys.get(spec.get("table"), {})}
            drawn = drawing.KINDS[spec["kind"]](full, material)
            if drawn is None:
                continue
            figure = figures.draw(spec["kind"], drawn.data, title=spec["title"], **drawn.options)
            stem = write_figures(out / "figures", spec["id"], figure)
            listed.append(
                {
                    "id": spec["id"],
                    "part": spec["part"],
                    "title": spec["title"],
                    "name": spec.get("paper", f"Figure {spec['id']}"),
                    "kind": spec["kind"],
                    "caption": spec["caption"],
                    "note": drawn.note,
                    "file": f"figures/{stem}.svg",
                }
            )
            if spec["kind"] == "cdf":
                curves += _curve_rows(spec["id"], drawn.data["curves"])
        write_frame(out / "tables" / "distributions", curves)
        return listed


def _values(material: Material):
    def values(cell: Cell, field: str) -> list[float]:
        found = (run.summary.get(field) for run in material.runs(cell))
        return [float("nan") if value is None else float(value) for value in found]

    return values


def _users_for(experiment: Experiment, calibration: dict | None):
    def users_for(load: str) -> int:
        assert calibration is not None, f"{experiment.name}: a load without a calibration"
        return calibration["users"][load]

    return users_for


def _loads(experiment: Experiment, parts: list[str]) -> list[str]:
    """The loads of these parts and 100 %, smallest first."""
    loads = {"100%"} | {
        value
        for group in plan.needed_groups(experiment, parts)
        for axis in group.get("axis", [])
        if axis["name"] == "load"
        for value in axis["values"]
    }
    return sorted(loads, key=units.share)


def _with_earlier(
    wanted: list[str], out: Path, experiment: Experiment, settings: dict
) -> list[str]:
    """Parts that were run into this folder with the same settings stay in its report."""
    if not (out / store.MANIFEST).is_file():
        return wanted
    try:
        before = store.read_json(out / RESULT)
    except StoreError:
        return wanted
    same = before.get("name") == experiment.name and before.get("settings") == settings
    earlier = before.get("parts", []) if same else []
    return [part for part in experiment.parts if part in wanted or part in earlier]


def _run_rows(material: Material) -> list[dict]:
    """One row per simulation: what it was, and how to recognise it."""
    names: dict[str, list[str]] = {}
    for cell in material.plan.cells:
        place = ", ".join(cell.labels.values())
        names.setdefault(cell.key, []).append(f"{cell.group} {place}".strip())
    rows = []
    for key, scenario in material.plan.scenarios.items():
        for seed in material.plan.seeds:
            run = material.results[key, seed]
            rows.append(
                {
                    "run": "; ".join(names[key]),
                    "key": key,
                    "seed": seed,
                    "users": scenario["traffic"][0]["users"],
                    "fingerprint": str(run.summary.get("fingerprint", "")),
                    "folder": f"runs/{run.stored.folder.name}",
                }
            )
    return rows


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


def _manifest(result: dict) -> dict:
    kept = ("name", "quick", "settings", "parts", "seeds", "calibration", "scenario", "runs")
    return {"study": result["name"]} | {k: result[k] for k in kept}
