"""Runs some cells of a study on real TCP stacks, and adds them to the report next to the paper's
and the simulated numbers.

`experiments/live.toml` lists the cells and the durations. These cells are also simulated with equal
durations and seeds, so that the two columns differ by the end systems only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Required, TypedDict

from aqmlab.errors import SpecError
from aqmlab.experiment.experiment import Experiment, load
from aqmlab.experiment.folders import SHIPPED
from aqmlab.experiment.grammar import Axis, Group
from aqmlab.io.documents import read_toml
from aqmlab.live.ownership import given_to_caller
from aqmlab.live.run import How
from aqmlab.runs.progress import Progress, for_stream
from aqmlab.runs.store import Store
from aqmlab.simulator.engine import Simulate
from aqmlab.tables.document import Row, StudyDocument
from aqmlab.tables.equivalence import Estimate, judge_means
from aqmlab.tables.result import Result

from . import registry
from .parity import described, margin_of
from .study import RESULT, Study

FILE = "live.toml"
FOLDER = "live"
"""Subfolder of a study's results, with the `simulated` and the `live` runs."""


class Requested(TypedDict, total=False):
    """The entry of a study in `live.toml`: duration, warm-up, number of seeds, and the axis values
    of each table; `without` lists metrics that are left out."""

    duration: Required[str]
    warmup: Required[str]
    seeds: Required[int]
    table: Required[dict[str, dict[str, list[object]]]]
    without: list[str]


class LiveRow(TypedDict):
    """A number of a cell: the paper's, the simulator's and the kernel's, with a verdict."""

    table: str
    place: str
    metric: str
    title: str
    unit: str
    digits: int
    paper: float | None
    simulated: float
    live: float
    half: float
    verdict: str


def add_to(name: str, quick: bool, out: Path | None) -> None:
    """Runs a study's cells and adds them to its report, with a progress display."""
    experiment = load(name)
    folder = out or registry.default_folder(experiment.name, quick)
    with given_to_caller(folder):
        add(experiment, folder, for_stream)


def add(
    experiment: Experiment,
    out: Path,
    progress: Callable[[], Progress | None] = lambda: None,
    how: Simulate | None = None,
) -> dict[str, Any]:
    """Runs the study's cells live and simulated, adds them to the report in `out`, and returns
    them.

    `progress` makes a display for each kind, since the speed of simulated runs does not predict
    that of live ones.
    """
    requested = _requested(experiment.name)
    study = Study(shortened(experiment, requested["table"]))
    settings = {name: requested[name] for name in ("duration", "warmup", "seeds")}
    lines = {"calibration": _calibration(experiment)}
    both = {"reported": True, "quick": True, "settings": {**settings, **lines, "looks": (1,)}}
    below = out / FOLDER
    simulated = study.carry_out(out=below / "simulated", progress=progress(), **both)
    live = study.carry_out(
        out=below / "live", progress=progress(), jobs=1, simulate=how or How(), **both
    )
    notes = list(dict.fromkeys(note for run in live.runs for note in described(run.summary)))
    rows = [
        row
        for row in _rows(experiment, _report(simulated), _report(live))
        if row["metric"] not in requested.get("without", ())
    ]
    found = {"rows": rows, "notes": notes, **settings}
    from aqmlab import report

    store = Store.existing(out)
    store.write_json(RESULT, store.read_json(RESULT) | {"live": found})
    report.write(out)
    return found


def _report(done: Result) -> StudyDocument:
    assert done.report is not None  # these runs were made with a report
    return done.report


def _calibration(experiment: Experiment) -> dict[str, object]:
    """The settings of calibrations, which are always simulated, with the quick study's
    durations."""
    usual = experiment.setting(quick=True)
    times = {"duration": usual.duration, "warmup": usual.warmup}
    return {**{name: time for name, time in times.items() if time}, **usual.calibration}


def _requested(name: str) -> Requested:
    every = read_toml(SHIPPED / FILE)
    if name not in every:
        known = ", ".join(every)
        raise SpecError(f"study {name} has no live cells: those that have are {known}")
    return every[name]


def shortened(
    experiment: Experiment, tables: Mapping[str, Mapping[str, list[object]]]
) -> Experiment:
    """The study with only these tables, and only the named cells of their groups."""
    chosen = tuple(table for table in experiment.table if table.id in tables)
    groups = {group.name: group for group in experiment.group}
    kept = {table.group: _kept(groups[table.group], tables[table.id]) for table in chosen}
    nothing: Any = {"difference": (), "figure": (), "claim": (), "setup": (), "lead": None}
    return replace(experiment, group=tuple(kept.values()), table=chosen, **nothing)


def _kept(group: Group, wanted: Mapping[str, list[object]]) -> Group:
    axes = tuple(
        _of(axis, wanted[axis.name]) if axis.name in wanted else axis for axis in group.axes
    )
    return replace(group, axes=axes, times={}, seeds={}, only=None)


def _of(axis: Axis, names: list[object]) -> Axis:
    """An axis with only these values or variants."""
    variants = tuple(variant for variant in axis.variants if variant.name in names)
    values = tuple(value for value in axis.values if value in names)
    return replace(axis, values=values, variants=variants, constructed=(), quick=None)


def _rows(experiment: Experiment, simulated: StudyDocument, live: StudyDocument) -> list[LiveRow]:
    """A row for every number of every cell: the paper's, the simulator's and the kernel's, and a
    verdict."""
    rows: list[LiveRow] = []
    for table, other in zip(simulated["tables"], live["tables"], strict=True):
        for ours, theirs in zip(other["rows"], table["rows"], strict=True):
            metric = experiment.metrics[ours["metric"]]
            if ours["ours"] is None or theirs["ours"] is None or ours["low"] is None:
                continue
            margin = margin_of(metric.summary or metric.name).times(metric.scale)
            found = judge_means(_estimate(ours), _estimate(theirs), margin)
            place = {name: ours[name] for name in table["keys"]}
            rows.append(
                {
                    "table": table["paper"] or table["title"],
                    "place": " · ".join(str(value) for value in place.values()),
                    "metric": ours["metric"],
                    "title": metric.title,
                    "unit": metric.unit,
                    "digits": metric.digits,
                    "paper": theirs["paper"],
                    "simulated": found.theirs,
                    "live": found.ours,
                    "half": found.half,
                    "verdict": found.verdict,
                }
            )
    return rows


def _estimate(row: Row) -> Estimate:
    return row["ours"], row["low"], row["high"]
