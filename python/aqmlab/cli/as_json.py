"""Results for programs: the JSON document of `aqmlab run --json`, and how JSON is written."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from aqmlab.io import terminal
from aqmlab.simulator import renamed
from aqmlab.simulator.forms import Scenario
from aqmlab.simulator.renamed import Numbers
from aqmlab.tables import measure
from aqmlab.tables.result import merged

if TYPE_CHECKING:
    from aqmlab.runs.calibrate import Calibration
    from aqmlab.runs.laboratory import FinishedRun
    from aqmlab.tables.result import Result


class Interval(TypedDict):
    """A mean over seeds with its 95 % interval; a bound is null where it is not defined."""

    mean: float | None
    low: float | None
    high: float | None
    n: int


class OfVariant(TypedDict):
    """A variant: its scenario, and the numbers of its runs taken together."""

    label: str
    values: dict[str, str]
    axes: Mapping[str, object]
    scenario: Scenario
    summary: Numbers
    statistics: Mapping[str, Interval]


class OfRun(TypedDict):
    """One run of a variant."""

    variant: int
    label: str
    values: dict[str, str]
    seed: int
    cached: bool
    folder: str | None
    summary: Numbers


class OfCalibration(TypedDict):
    """The line through measured loads by which users are counted."""

    bytes_per_user_s: float
    r_squared: float
    low: float
    high: float
    points: list[list[float]]


class Document(TypedDict):
    """All of a result."""

    name: str
    scenario: Scenario | None
    summary: Numbers | None
    runs: list[OfRun]
    statistics: Mapping[str, Interval] | None
    variants: list[OfVariant]
    paired: list[measure.Row]
    calibrations: list[OfCalibration]
    folder: str | None


def document(result: Result) -> Document:
    """The JSON document of `aqmlab run --json`.

    Every variant's scenario, summary and statistics are under `variants`; at the top they stand
    only where there is one variant, else they are null.
    """
    rows = measure.by_variant(result.runs)
    statistics = {
        number: {
            name: Interval(mean=row["mean"], low=row["low"], high=row["high"], n=row["n"])
            for name, row in own.items()
        }
        for number, own in rows.items()
    }
    members = map(result.variant, range(len(result.labels)))
    variants = [_variant(result, runs, statistics[runs[0].variant]) for runs in members]
    only = variants[0] if len(variants) == 1 else None
    return {
        "name": result.name,
        "scenario": only["scenario"] if only else None,
        "summary": only["summary"] if only else None,
        "runs": [_run(run) for run in result.runs],
        "statistics": only["statistics"] if only else None,
        "variants": variants,
        "paired": [
            {"a": result.labels[0], "b": result.labels[k], **row}
            for k, own in enumerate(measure.differences(rows).values(), 1)
            for row in own.values()
        ],
        "calibrations": [_calibration(line) for line in result.calibrations],
        "folder": str(result.folder) if result.folder else None,
    }


def _variant(
    result: Result, runs: Sequence[FinishedRun], statistics: Mapping[str, Interval]
) -> OfVariant:
    return {
        "label": runs[0].label,
        "values": dict(runs[0].values),
        "axes": result.values(runs[0]),
        "scenario": runs[0].scenario,
        "summary": renamed.with_former(merged(runs)),
        "statistics": renamed.with_former(statistics),
    }


def _run(run: FinishedRun) -> OfRun:
    return {
        "variant": run.variant,
        "label": run.label,
        "values": dict(run.values),
        "seed": run.seed,
        "cached": run.cached,
        "folder": str(run.folder) if run.folder else None,
        "summary": renamed.with_former(run.summary),
    }


def _calibration(line: Calibration) -> OfCalibration:
    return {
        "bytes_per_user_s": line.bytes_per_user_s,
        "r_squared": line.r_squared,
        "low": line.ci[0],
        "high": line.ci[1],
        "points": [list(point) for point in line.points],
    }


def to_json(content: object) -> str:
    """Standard JSON: what is not a finite number is null, what has no picture is a number."""
    ascii_only = not terminal.is_unicode()
    text = json.dumps(
        _finite(content), indent=1, ensure_ascii=ascii_only, allow_nan=False, default=str
    )
    return terminal.printable(text, keep="\n", write=lambda character: json.dumps(character)[1:-1])


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
