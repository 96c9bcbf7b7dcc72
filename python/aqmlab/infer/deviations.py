"""How far our numbers lie from published ones, in deviations of all that stands between them.

`infer.toml` states, before anything is compared, how well a published number is known and how well
a model can know it. Seeds add what they do to one run as long as the published one; ours is a mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from aqmlab import units
from aqmlab.experiment import plan
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.grammar import Metric, Settings, Table
from aqmlab.experiment.plan import Cell
from aqmlab.intervals import CONFIDENCE, student
from aqmlab.pipeline import calibrating
from aqmlab.tables.document import Counted, Row, TableShown

from .spec import Inference, Noise

NEAR = 2.0
"""Deviations within which about 95 % of the numbers lie if nothing but chance is between them."""


def noise(known: Noise, metric: Metric, number: float, *, model: bool = True) -> float:
    """The standard deviation of a published number beside what seeds do, its rounding included, and
    with the `model`'s discrepancy."""
    rounding = 10.0**-metric.digits / math.sqrt(12)
    own = math.hypot(known.sd, known.share * number, rounding)
    if not model:
        return own
    return math.hypot(own, known.discrepancy, known.discrepancy_share * number)


def deviation(
    ours: float, published: float, known: Noise, metric: Metric, seeds: float = 0.0
) -> float:
    """Ours minus the published number in its deviations. `seeds` is the variance that they add."""
    own = math.sqrt(noise(known, metric, published) ** 2 + seeds)
    if known.log and ours > 0 and published > 0:
        return (math.log(ours) - math.log(published)) * max(published, own) / own
    return (ours - published) / own


def spread(row: Row, longer: float) -> float:
    """The variance that seeds give the difference of our mean from one published run, of which the
    measured time is 1/`longer` of ours times as long."""
    count, low, high = row["n"], row["low"], row["high"]
    if count < 2 or low is None or high is None:
        return 0.0
    half = (high - low) / 2
    of_one = half * math.sqrt(count) / student((1 + CONFIDENCE) / 2, count - 1)
    return of_one**2 * (1 / count + longer)


def longer(inference: Inference, settings: Settings) -> float:
    """Our measured time over the published one."""
    ours = units.seconds(settings.duration) - units.seconds(settings.warmup or "0 s")
    return ours / inference.published_s


def cells(experiment: Experiment, spec: Table, settings: Settings) -> list[Cell]:
    """The rows of a table, in its order."""
    groups = [replace(g, seeds={}) for g in experiment.group if g.name == spec.group]
    loads = calibrating.placeholders(experiment)
    made = plan.make(experiment, replace(settings, seeds=1), loads, groups)
    return made.of(spec.group, spec.where)


def rows(
    experiment: Experiment, inference: Inference, table: TableShown, settings: Settings
) -> Iterator[tuple[Row, Cell, Metric, Noise | None]]:
    """The rows of a table of `result.json` with their cells, metrics and how well each is known."""
    spec = next((t for t in experiment.table if t.id == table["id"]), None)
    if spec is None:
        return
    places = cells(experiment, spec, settings)
    metrics = [experiment.metrics[name] for name in table["metrics"]]
    if len(places) * len(metrics) != len(table["rows"]):
        return
    each = iter(table["rows"])
    for cell in places:
        for metric in metrics:
            yield next(each), cell, metric, inference.maybe_known(metric.name, cell.axes)


def summary(found: Sequence[float]) -> Counted:
    """How many of these deviations are near, and their root mean square."""
    known = [z for z in found if math.isfinite(z)]
    square = sum(z * z for z in known) / len(known) if known else math.nan
    return {
        "numbers": len(known),
        "near": sum(abs(z) <= NEAR for z in known),
        "rms": math.sqrt(square) if known else None,
    }
