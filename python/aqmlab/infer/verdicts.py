"""The results of an inference as plain data: the content of `inference.json`, of the report and of
`--json`."""

from __future__ import annotations

import math
from typing import Any, Required, TypedDict, TypeVar

import numpy as np

from aqmlab.experiment.shapes import written
from aqmlab.intervals import CONFIDENCE
from aqmlab.simulator import engine

from .conflicts import ERROR, Conflict, Impossible
from .implausibility import CUT
from .inference import InferenceResult
from .targets import Targets
from .unknowns import Unknown, Value

T = TypeVar("T")
RowShown = dict[str, Any]
"""A target (`row` and `metric` of the table, published range `low` to `high`, and whether it was
used in training: `trained`), with the simulated mean and its distances from the target for the
study's values of the unknowns (`plain`) and for the inferred ones (`inferred`)."""
HARDLY = 0.01
"""A choice with at most this posterior probability is ruled out, unless it is in the inferred set:
that was chosen by runs, the posterior by the emulator."""


class ConflictShown(TypedDict):
    """Targets or table rows that no values of the unknowns meet together. `least` is the smallest
    possible value of their largest distance by emulation, `nearest` that of the simulated
    points."""

    names: list[str]
    least: float | None
    nearest: float | None


class ImpossibleShown(TypedDict):
    """Targets that cannot be met (`conflicts.Impossible`); `error` is the probability of a false
    finding."""

    cut: float
    numbers: list[ConflictShown]
    rows: list[ConflictShown]
    left: list[ConflictShown]
    others: ConflictShown | None
    together: ConflictShown | None
    unsearched: int
    unseen: list[ConflictShown]
    error: float


class InferenceDocument(TypedDict, total=False):
    """The content of `inference.json`. `unknowns` has the posterior of each unknown, `rows` each
    target with the mean and the distance of the plain and of the inferred set."""

    study: Required[str]
    title: Required[str]
    quick: Required[bool]
    versions: Required[dict[str, str]]
    amount: Required[dict[str, Any]]
    waves: Required[list[dict[str, Any]]]
    fits: Required[bool]
    least_implausibility: Required[float]
    targets: Required[int]
    unknowns: Required[list[dict[str, Any]]]
    set: Required[dict[str, Value]]
    absent: Required[dict[str, str]]
    impossible: Required[ImpossibleShown]
    rows: Required[list[RowShown]]
    met: Required[dict[str, int]]
    simulated: Required[int]
    sensitivity: Required[dict[str, dict[str, float]]]
    noise: Required[list[dict[str, Any]]]
    predictions: Required[list[dict[str, Any]]]
    command: str
    folder: str
    report: str


def document(found: InferenceResult) -> InferenceDocument:
    """The document of an inference, for readers and later commands."""
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


def _impossible(found: Impossible) -> ImpossibleShown:
    """The targets that cannot be met within the published noise, for JSON: with the distance `cut`
    beyond which a target is not met, and the sets that were not decided."""
    return {
        "cut": found.cut,
        "numbers": list(map(_conflict, found.numbers)),
        "rows": list(map(_conflict, found.rows)),
        "left": list(map(_conflict, found.left)),
        "others": _conflict(found.others) if found.others else None,
        "together": _conflict(found.together) if found.together else None,
        "unsearched": found.unsearched,
        "unseen": list(map(_conflict, found.unseen)),
        "error": ERROR,
    }


def _conflict(one: Conflict) -> ConflictShown:
    return {
        "names": list(one.names),
        "least": _finite(one.least),
        "nearest": _finite(one.nearest),
    }


def _unknown(found: InferenceResult, place: int, unknown: Unknown) -> dict[str, Any]:
    """The posterior of one unknown: the probability of each choice, or an interval; and how
    strongly the targets depend on the unknown."""
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


def compared(found: InferenceResult) -> list[RowShown]:
    """Compares every target with the runs: a row with the simulated mean and its distances from the
    target, once with the study's values of the unknowns and once with the inferred ones."""
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
    """The mean of some runs, and its distance from the target in standard deviations: once of the
    noise of the seeds and of the published run, once with the model's discrepancy added."""
    column = np.full((len(runs), len(targets)), np.nan)
    column[:, j] = runs
    scaled = targets.scaled(column)[:, j]
    mean = float(np.mean(scaled))
    missed = float(targets.missed(np.full(len(targets), mean))[j])
    spread = float(np.var(scaled, ddof=1)) * (1 / len(runs) + published) if len(runs) > 1 else 0.0
    noise = math.sqrt(spread + targets.noise[j] ** 2 + 1e-18)
    return float(np.mean(runs)), missed / noise, missed / math.hypot(noise, targets.discrepancy[j])


def _met(rows: list[RowShown], cut: float) -> dict[str, int]:
    """Numbers of targets that the study's own values and the inferred ones meet: of all targets
    within `CUT` standard deviations, with the model's discrepancy and without it; of the training
    targets within `cut` without it. Even with the true values, some training target lies beyond
    `cut` by chance in one of a hundred inferences."""
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
    """For each unknown, its Sobol' total index on each metric, averaged over the metric's rows."""
    metrics = np.array([target.metric for target in found.training.targets])
    return {
        unknown.name: {
            str(metric): float(found.sensitivity[i, metrics == metric].mean())
            for metric in dict.fromkeys(metrics)
        }
        for i, unknown in enumerate(found.inference.unknown)
    }


def headline(described: InferenceDocument) -> list[str]:
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


def _cannot(impossible: ImpossibleShown) -> str:
    """A sentence on targets that cannot be met: the number of sets of each size, and the farthest
    one of each."""
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


def _nearest(described: InferenceDocument) -> list[str]:
    """How near the runs came to meeting all targets at once, if none does."""
    all_of_them, cut = described["impossible"]["others"], described["impossible"]["cut"]
    if not all_of_them or all_of_them["nearest"] is None or all_of_them["nearest"] <= cut:
        return []
    return [
        f"No run has all {len(all_of_them['names'])} numbers at once: the nearest of "
        f"{described['simulated']} points is {all_of_them['nearest']:.1f} deviations "
        "from one of them "
        f"({cut:.1f} would do)."
    ]


def _finite(value: T) -> T | None:
    """The value for JSON: None in place of NaN and infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
