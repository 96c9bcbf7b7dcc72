"""What was found, in plain data: the content of `inference.json`, of the report and of `--json`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aqmlab.experiment.shapes import written
from aqmlab.intervals import CONFIDENCE
from aqmlab.simulator import engine

from .conflicts import ERROR, Conflict, Impossible
from .implausibility import CUT
from .inference import InferenceResult
from .targets import Targets
from .unknowns import Unknown

HARDLY = 0.01
"""A choice that the posterior gives no more than this is ruled out, unless runs say otherwise: the
inferred set was chosen by them, the posterior by the emulator."""


def document(found: InferenceResult) -> dict[str, Any]:
    """All of an inference that a reader or a later command wants."""
    bench, history = found.bench, found.history
    version = engine.version()
    rows = compared(found)
    return {
        "study": bench.experiment.name,
        "title": bench.experiment.title,
        "quick": bench.quick,
        "versions": {
            "aqmlab": version.version,
            "build": version.build,
            "commit": version.commit,
        },
        "amount": written(bench.amount),
        "waves": [vars(wave) for wave in history.waves],
        "fits": history.fits,
        "least_implausibility": float(history.region.scores.min()),
        "targets": len(history.targets),
        "unknowns": [_unknown(found, i, u) for i, u in enumerate(found.inference.unknown)],
        "set": found.values,
        "absent": dict(found.inference.absent),
        "impossible": _impossible(found.impossible),
        "rows": rows,
        "met": _met(rows, found.impossible.cut),
        "simulated": len(history.points),
        "sensitivity": _by_metric(found),
        "noise": [written(noise) for noise in found.inference.noise],
        "predictions": [
            {"id": p.id, "paper": p.paper, "rows": len(p.rows)} for p in found.predictions
        ],
    }


def _impossible(found: Impossible) -> dict[str, Any]:
    """What cannot be met within the published noise, with the cut and what stayed undecided."""
    described: dict[str, Any] = {**vars(found), "error": ERROR}
    for kind in ("numbers", "rows", "left", "unseen"):
        described[kind] = [_conflict(c) for c in described[kind]]
    for kind in ("others", "together"):
        described[kind] = _conflict(described[kind]) if described[kind] else None
    return described


def _conflict(one: Conflict) -> dict[str, Any]:
    return {
        "names": list(one.names),
        "least": _finite(one.least),
        "nearest": _finite(one.nearest),
    }


def _unknown(found: InferenceResult, place: int, unknown: Unknown) -> dict[str, Any]:
    """What the runs say of one unknown."""
    sample = found.posterior.points[:, place]
    left = found.history.region.points[:, place]
    described = {name: getattr(unknown, name) for name in ("name", "title", "reason", "source")}
    described |= {"best": found.values[unknown.name]}
    matters = float(found.sensitivity[place].mean())
    if unknown.choices:
        count = len(unknown.choices)
        share = [
            np.mean(
                np.minimum((s * count).astype(int), count - 1)[:, None] == np.arange(count), axis=0
            )
            for s in (sample, left)
        ]
        choices = [
            {
                "value": value,
                "probability": float(p),
                "ruled_out": bool(p <= HARDLY and value != found.values[unknown.name]),
                "left": float(q),
            }
            for value, p, q in zip(unknown.choices, *share, strict=True)
        ]
        return described | {"choices": choices, "matters": matters}
    # Intervals that hold for all unknowns together with 95 % probability (Bonferroni).
    tail = (1 - CONFIDENCE) / 2 / len(found.inference.unknown)
    low, middle, high = (unknown.at(float(q)) for q in np.quantile(sample, [tail, 0.5, 1 - tail]))
    return described | {
        "range": list(unknown.range),
        "low": low,
        "median": middle,
        "high": high,
        "matters": matters,
    }


def compared(found: InferenceResult) -> list[dict[str, Any]]:
    """Every row to be met as simulated, with the plain set and with the inferred one."""
    targets = found.whole.all()
    used = {target.name for target in found.training.targets}
    rows = []
    for j, target in enumerate(targets.each):
        row = {"row": target.row, "metric": target.metric, "low": target.low, "high": target.high}
        row |= {"trained": target.name in used}
        for name, runs in (("plain", found.plain), ("inferred", found.inferred)):
            mean, noise, all_of_it = _distance(
                runs[:, j], targets, j, found.history.knowledge.published
            )
            row |= {name: mean, f"{name}_in_noise": noise, f"{name}_implausibility": all_of_it}
        rows.append({k: _finite(v) for k, v in row.items()})
    return rows


def _distance(
    runs: np.ndarray, targets: Targets, j: int, published: float
) -> tuple[float, float, float]:
    """Mean of some runs; its distance from the target in deviations of the published run's noise
    alone, and of that and the model's discrepancy."""
    column = np.full((len(runs), len(targets)), np.nan)
    column[:, j] = runs
    scaled = targets.scaled(column)[:, j]
    mean = float(np.mean(scaled))
    missed = float(targets.missed(np.full(len(targets), mean))[j])
    spread = float(np.var(scaled, ddof=1)) * (1 / len(runs) + published) if len(runs) > 1 else 0.0
    noise = math.sqrt(spread + targets.noise[j] ** 2 + 1e-18)
    return float(np.mean(runs)), missed / noise, missed / math.hypot(noise, targets.discrepancy[j])


def _met(rows: list[dict[str, Any]], cut: float) -> dict[str, int]:
    """How many rows each set meets; of those that were to be met, how many within the published
    noise alone by the bar under which one of them is beyond it by chance once in a hundred."""
    trained = [row for row in rows if row["trained"]]
    described = {"rows": len(rows), "trained": len(trained)}
    for name in ("plain", "inferred"):
        for what in ("in_noise", "implausibility"):
            values = [row[f"{name}_{what}"] for row in rows]
            described[f"{name}_{what}"] = sum(v is not None and abs(v) <= CUT for v in values)
        values = [row[f"{name}_in_noise"] for row in trained]
        described[f"{name}_trained"] = sum(v is not None and abs(v) <= cut for v in values)
    return described


def _by_metric(found: InferenceResult) -> dict[str, dict[str, float]]:
    """Sobol' total indices, averaged over the rows of a metric, by unknown."""
    metrics = np.array([target.metric for target in found.training.targets])
    return {
        unknown.name: {
            str(metric): float(found.sensitivity[i, metrics == metric].mean())
            for metric in dict.fromkeys(metrics)
        }
        for i, unknown in enumerate(found.inference.unknown)
    }


def headline(described: dict[str, Any]) -> list[str]:
    """The findings in a few sentences."""
    met, last = described["met"], described["waves"][-1]
    lines = [
        f"{sum(w['points'] for w in described['waves'])} points "
        f"in {len(described['waves'])} waves leave "
        f"{last['share']:.2g} of what was possible."
        if described["fits"]
        else "Nothing fits: no set of values comes nearer than an implausibility of "
        f"{described['least_implausibility']:.1f} (at most {CUT:g} would do)."
    ]
    lines.append(
        f"Of {met['rows']} numbers the inferred set meets {met['inferred_implausibility']} "
        f"({met['inferred_in_noise']} within the published noise alone), "
        f"the plain one {met['plain_implausibility']} ({met['plain_in_noise']})."
    )
    lines.append(
        f"Of the {met['trained']} that were to be met {met['inferred_trained']} (plain: "
        f"{met['plain_trained']}) are within {described['impossible']['cut']:.1f} deviations "
        "of the "
        "published noise alone."
    )
    known = sorted(described["unknowns"], key=lambda u: -u["matters"])[:3]
    lines.append("What matters most: " + ", ".join(u["title"] for u in known) + ".")
    out = [
        f"{u['title']}: {c['value']}"
        for u in described["unknowns"]
        for c in u.get("choices", [])
        if c["ruled_out"]
    ]
    lines.append("Ruled out: " + ("; ".join(out) if out else "no choice") + ".")
    return [*lines, _cannot(described["impossible"]), *_nearest(described)]


def _cannot(impossible: dict[str, Any]) -> str:
    """What cannot be met, in a sentence: how much of each size, and the farthest of each."""
    sizes = {1: "numbers alone", 2: "pairs", 3: "threes"}
    parts = []
    for size, word in sizes.items():
        of_it = [c for c in impossible["numbers"] if len(c["names"]) == size]
        if of_it:
            parts.append(f"{len(of_it)} {word} (" + " with ".join(of_it[0]["names"]) + ")")
    if impossible["together"]:
        parts.append("together " + ", ".join(impossible["together"]["names"]))
    described = "Cannot be met within the published noise, at any point of the unknowns: " + (
        "; ".join(parts) + "." if parts else "nothing that could be shown."
    )
    if open_ := impossible["unseen"]:
        names = " with ".join(open_[0]["names"])
        described += f" {len(open_)} pairs no run shows, though nothing excludes them ({names})."
    return described


def _nearest(described: dict[str, Any]) -> list[str]:
    """How near the runs came to all numbers at once, if none has them."""
    all_of_them, cut = described["impossible"]["others"], described["impossible"]["cut"]
    if not all_of_them or all_of_them["nearest"] is None or all_of_them["nearest"] <= cut:
        return []
    return [
        f"No run has all {len(all_of_them['names'])} numbers at once: the nearest of "
        f"{described['simulated']} points is {all_of_them['nearest']:.1f} deviations "
        "from one of them "
        f"({cut:.1f} would do)."
    ]


def _finite(value: Any) -> Any:
    """What JSON can hold."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
