"""Distances of simulated from published numbers, in standard deviations of all known uncertainties.

`infer.toml` states, before anything is compared, how well a published number is known and how well
a model can know it. Seeds add the variance of one run of the published length, and that of the
simulated mean.
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
"""Number of standard deviations within which about 95 % of the numbers lie if they differ by chance
only."""


def noise(known: Noise, metric: Metric, number: float, *, model: bool = True) -> float:
    """The standard deviation of a published number, without that of seeds: its noise, its rounding
    and, with `model`, the model's discrepancy."""
    rounding = 10.0**-metric.digits / math.sqrt(12)
    own = math.hypot(known.sd, known.share * number, rounding)
    if not model:
        return own
    return math.hypot(own, known.discrepancy, known.discrepancy_share * number)


def deviation(
    ours: float, published: float, known: Noise, metric: Metric, seeds: float = 0.0
) -> float:
    """The simulated minus the published number, in standard deviations. `seeds` is the variance
    that seeds add."""
    own = math.sqrt(noise(known, metric, published) ** 2 + seeds)
    if known.log and ours > 0 and published > 0:
        return (math.log(ours) - math.log(published)) * max(published, own) / own
    return (ours - published) / own


def spread(row: Row, longer: float) -> float:
    """The variance that seeds add to the difference between the simulated mean and one published
    run; the simulated measured time is `longer` times the published one."""
    count, low, high = row["n"], row["low"], row["high"]
    if count < 2 or low is None or high is None:
        return 0.0
    half = (high - low) / 2
    of_one = half * math.sqrt(count) / student((1 + CONFIDENCE) / 2, count - 1)
    return of_one**2 * (1 / count + longer)


def longer(inference: Inference, settings: Settings) -> float:
    """The simulated measured time divided by the published one."""
    ours = units.seconds(settings.duration) - units.seconds(settings.warmup or "0 s")
    return ours / inference.published_s


def cells(experiment: Experiment, spec: Table, settings: Settings) -> list[Cell]:
    """The cells that are the rows of a table, in its order."""
    groups = [replace(g, seeds={}) for g in experiment.group if g.name == spec.group]
    loads = calibrating.placeholders(experiment)
    made = plan.make(experiment, replace(settings, seeds=1), loads, groups)
    return made.of(spec.group, spec.where)


def rows(
    experiment: Experiment, inference: Inference, table: TableShown, settings: Settings
) -> Iterator[tuple[Row, Cell, Metric, Noise | None]]:
    """The rows of a table of `result.json` with their cells, metrics and the noise of each
    published number."""
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
    """How many of the deviations are at most `NEAR`, and the root mean square of all."""
    known = [z for z in found if math.isfinite(z)]
    square = sum(z * z for z in known) / len(known) if known else math.nan
    return {
        "numbers": len(known),
        "near": sum(abs(z) <= NEAR for z in known),
        "rms": math.sqrt(square) if known else None,
    }
