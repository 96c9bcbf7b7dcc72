"""Figures of any result, one call each: the same kinds as in studies, returned as matplotlib
axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aqmlab.errors import AqmlabError, SpecError
from aqmlab.experiment import axes as columns
from aqmlab.experiment.grammar import Metric, Settings
from aqmlab.experiment.plan import Cell, Plan
from aqmlab.simulator import measures, renamed
from aqmlab.tables.dataset import Dataset

from . import kind
from .style import SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from aqmlab.runs.laboratory import FinishedRun
    from aqmlab.tables.result import Result

GROUP = "runs"
VARIANT = "variant"
"""The axis of a result whose curves are its variants."""
KINDS = ("trace", "cdf", "tail", "lines", "heatmap")


@dataclass(frozen=True)
class Plots:
    """The figures of a result: `result.plot.cdf()`. Each gives its axes; `axes.figure.savefig(…)`
    writes the picture, and more can be drawn on the axes."""

    result: Result

    def __call__(self, by: str | None = None, *, port: str | None = None) -> Axes:
        """What each queue costs: how long packets wait over time, and their mean wait against the
        used share of the line, with 95 % intervals; a curve for each variant, or value of `by`."""
        entry = {"port": port, "curve": self._axis(by)}
        return self._drawn("overview", entry, "no run recorded seconds (record.seconds)")

    def trace(
        self, port: str | None = None, *, from_s: float = 0.0, upto_s: float | None = None
    ) -> Axes:
        """The queue over time (packets against s) of the first run, with RED's average and drops
        where they were recorded; `port` such as `line.forward` (the first recorded)."""
        entry = {"port": port, "from_s": from_s, "upto_s": upto_s}
        first = self.result.runs[0]
        if len({run.label for run in self.result.runs}) > 1:
            entry["title"] = f"{self.result.name}: {first.label}"
        return self._drawn("trace", entry, "no run recorded a queue over time (record.samples)")

    def cdf(self, by: str | None = None, *, upto_ms: float = 2000.0) -> Axes:
        """The cumulative share of responses (%) against their time (ms), a curve for each value of
        the axis `by` or each variant, with 95 % bands over the seeds."""
        entry = {"upto_ms": upto_ms, "curve": self._axis(by)}
        return self._drawn("cdf", entry, "no run has responses; trace draws its queue")

    def tail(self, by: str | None = None, *, from_ms: float = 10.0) -> Axes:
        """The share of responses above a time (ms), both axes logarithmic."""
        entry = {"from_ms": from_ms, "curve": self._axis(by)}
        return self._drawn("ccdf", entry, "no run has responses; trace draws its queue")

    def lines(
        self,
        measure: str,
        *,
        x: str | None = None,
        by: str | None = None,
        band: bool = True,
        log: bool = False,
    ) -> Axes:
        """A measure in its unit along the axis `x` (the only one, if there is one), a line for
        each value of the axis `by`; 95 % intervals as bands, or as bars. A measure is any number
        of a summary (`aqmlab list measures`)."""
        along = self._one(x, but=by)
        entry = {"x": along.name, "metric": measure, "curve": self._axis(by, none="")}
        entry |= {"axis": _words(along), "legend": by or "", "band": band, "log": log}
        return self._drawn("lines", entry, f"{measure} is undefined everywhere", measure)

    def heatmap(self, measure: str, *, x: str | None = None, y: str | None = None) -> Axes:
        """The mean of a measure over two axes of a sweep."""
        across, up = self._one(x, but=y), self._one(y, but=x, last=True)
        if across.path == up.path:
            raise SpecError("a heatmap wants two axes: the sweep has one, use lines")
        entry = {"x": across.name, "y": up.name, "metric": measure}
        entry |= {"axis": _words(across), "axis_y": _words(up)}
        return self._drawn("heatmap", entry, f"{measure} is undefined everywhere", measure)

    def _drawn(self, name: str, entry: Mapping[str, object], empty: str, measure: str = "") -> Axes:
        given = {key: value for key, value in entry.items() if value is not None}
        given = {"title": self.result.name, "group": GROUP} | given
        # Labels at a named axis do not repeat the axis's name.
        drawn = kind(name).drawing(given, self._dataset(measure, bare=bool(measure)))
        if drawn is None:
            raise AqmlabError(f"{self.result.name}: there is nothing to draw: {empty}")
        figure = kind(name).picture(given, drawn.data)
        if drawn.note:
            note = drawn.note.replace("bars:", "bands:") if given.get("band") else drawn.note
            figure.supxlabel(note, x=0.01, ha="left", **SMALL)
        return figure.axes[0]

    def _dataset(self, measure: str, bare: bool) -> Dataset:
        """The result as a dataset for the kinds of figures: one group with a cell for each
        variant."""
        runs = self.result.runs
        firsts = {run.variant: run for run in runs}
        seeds = tuple(dict.fromkeys(run.seed for run in runs))
        cells = [
            Cell(GROUP, {**self._values(run)}, self._labels(run, bare), str(number))
            for number, run in firsts.items()
        ]
        found = {(str(run.variant), run.seed): run for run in runs}
        metrics = {measure: _metric(measure)} if measure else {}
        plan = Plan(cells, {}, {GROUP: seeds})
        return _OwnSeeds(plan, Settings(seeds=len(seeds)), found, {}, {}, metrics)

    def _values(self, run: FinishedRun) -> dict[str, float | str]:
        return self.result.values(run) | {VARIANT: run.label}

    def _labels(self, run: FinishedRun, bare: bool) -> dict[str, str]:
        named = {column.name: run.values[column.path] for column in self.result.columns}
        if bare:
            named = {name: label.rpartition("=")[2] for name, label in named.items()}
        return named | {VARIANT: run.label}

    def _axis(self, by: str | None, none: str = VARIANT) -> str:
        if by is None or by == VARIANT:
            return none if by is None else VARIANT
        return columns.find(self.result.columns, by).name

    def _one(self, name: str | None, *, but: str | None, last: bool = False) -> columns.Column:
        """The axis of this name; without a name the first (or `last`) axis other than `but`."""
        known = self.result.columns
        if name is not None:
            return columns.find(known, name)
        other = columns.find(known, but).path if but is not None else None
        left = [column for column in known if column.path != other]
        if not left:
            raise SpecError("this result has no sweep to draw along: use trace, cdf or tail")
        return left[-1] if last else left[0]


class _OwnSeeds(Dataset):
    """A dataset in which the variants may have different seeds, as in results that were
    combined."""

    def runs(self, cell: Cell) -> list[FinishedRun]:
        """A cell's runs, under the seeds that it has."""
        return [
            self.results[cell.key, seed]
            for seed in self.plan.seeds(cell)
            if (cell.key, seed) in self.results
        ]


def _metric(measure: str) -> Metric:
    if mistake := measures.unknown(measure):
        raise SpecError(mistake)
    measure = renamed.current(measure)
    about = {"title": measure, "unit": "", "digits": 3, **measures.defaults(measure)}
    return Metric(name=measure, summary=measure, **about)


def _words(column: columns.Column) -> str:
    """The label of an axis with its unit: `rtt (s)` for `rtt_s`."""
    for ending, unit in (("_bits_per_s", "bit/s"), ("_bytes", "bytes"), ("_s", "s")):
        if column.name.endswith(ending):
            return f"{column.name.removesuffix(ending)} ({unit})"
    return column.name
