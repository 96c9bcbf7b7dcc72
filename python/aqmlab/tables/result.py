"""The result that a call of `aqmlab.run` returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from aqmlab.errors import AqmlabError, nearest
from aqmlab.experiment import axes
from aqmlab.simulator.renamed import Summary

from . import measure

if TYPE_CHECKING:
    import polars as pl

    from aqmlab.experiment.grammar import Axis
    from aqmlab.runs.calibrate import Calibration
    from aqmlab.runs.laboratory import FinishedRun

    from .document import StudyDocument

Frame = TypeVar("Frame", "pl.DataFrame", "pl.LazyFrame")


@dataclass(frozen=True, repr=False)
class Result:
    """All runs of an experiment, variant by variant, seed by seed."""

    name: str
    runs: Sequence[FinishedRun]
    calibrations: Sequence[Calibration] = ()
    folder: Path | None = None
    remarks: Sequence[str] = ()
    """Remarks, one sentence each, such as on a load that differs from the intended one."""
    axes: Sequence[Axis] = ()
    """The axes of the result's only group."""
    report: StudyDocument | None = None
    """The document of `result.json`, if tables, figures and report were made."""

    def __repr__(self) -> str:
        """A line with the name, the numbers of variants and seeds, and the folder."""
        seeds = len({run.seed for run in self.runs})
        several = len(self.labels)
        described = [
            f"{several} variants" if several > 1 else "",
            f"{seeds} seed{'s' * (seeds != 1)}",
        ]
        described += [f"in {self.folder}"] if self.folder else []
        return f"<Result {self.name}: {', '.join(filter(None, described))}>"

    def _repr_html_(self) -> str:
        """HTML for a notebook: the line of `repr`, and a table of the variants."""
        from html import escape

        table = self.variants._repr_html_() if len(self.labels) > 1 else ""
        return f"<p>{escape(repr(self))}</p>{table}"

    def frame(self) -> pl.DataFrame:
        """A row for every run: variant, label, the value on every axis as a number in base units
        (see `variants`), seed, and every number of the summary; null where it is undefined.
        """
        import polars as pl

        rows = [
            {
                "variant": run.variant,
                "label": run.label,
                **self.values(run),
                "seed": run.seed,
                **measure.numbers(run.summary),
            }
            for run in self.runs
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    @cached_property
    def columns(self) -> list[axes.Column]:
        """The axes of the sweep as columns of tables."""
        return axes.columns(self.axes)

    @cached_property
    def variants(self) -> pl.DataFrame:
        """One row per variant: variant (its index), label, the value on every axis, number of
        seeds.

        Values are numbers in base units if possible: a load of "98%" is 0.98 in the column `load`,
        a round-trip time of "100 ms" 0.1 in `rtt_s`, a rate in `rate_bits_per_s`.
        """
        import polars as pl

        counts = {run.variant: 0 for run in self.runs}
        for run in self.runs:
            counts[run.variant] += 1
        firsts = {run.variant: run for run in reversed(self.runs)}
        rows = [
            {
                "variant": number,
                "label": firsts[number].label,
                **self.values(firsts[number]),
                "seeds": seeds,
            }
            for number, seeds in counts.items()
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def values(self, run: FinishedRun) -> dict[str, float | str]:
        """A run's value on every axis of the sweep, by the axis's column."""
        return {column.name: column.value(run.values) for column in self.columns}

    def select(self, **values: object) -> Result:
        """The runs of the variants with these values: `result.select(load=0.9)`.

        An axis is named by its column (see `variants`) or the last part of its path, a value given
        as a number in base units, as it is written in the file, or by its label.
        """
        chosen = list(self.runs)
        for name, wanted in values.items():
            column = axes.find(self.columns, name)
            there = dict.fromkeys(run.values[column.path] for run in chosen)
            labels = [label for label in there if column.matches(label, wanted)]
            if not labels:
                known = ", ".join(repr(column.values[label]) for label in there)
                raise AqmlabError(
                    f"no variant has {wanted!r} on the axis {column.name}: choose one of {known}"
                )
            chosen = [run for run in chosen if run.values[column.path] in labels]
        return replace(self, runs=chosen)

    def only(self) -> list[FinishedRun]:
        """The runs of the only variant; an error if there are several."""
        if len(self.labels) != 1:
            raise AqmlabError(
                f"{self.name} has {len(self.labels)} variants where one is wanted: choose it, for "
                f"example by result.select({self._example()})"
            )
        return list(self.runs)

    def _example(self) -> str:
        varied = (c for c in self.columns if len({r.values[c.path] for r in self.runs}) > 1)
        chosen = [(column.name, column.value(self.runs[0].values)) for column in varied]
        if all(name.isidentifier() for name, _ in chosen):
            return ", ".join(f"{name}={value!r}" for name, value in chosen)
        return f"**{dict(chosen)!r}"

    @cached_property
    def labels(self) -> list[str]:
        """The labels of the variants, in order; one empty label without a sweep."""
        return list({run.variant: run.label for run in self.runs}.values())

    def variant(self, which: int | str) -> list[FinishedRun]:
        """The runs of one variant, by number or label."""
        if isinstance(which, str):
            if which not in self.labels:
                hint = nearest(which, self.labels)
                raise AqmlabError(f'no variant "{which}"{hint} (known: {"; ".join(self.labels)})')
            which = self.labels.index(which)
        if not -len(self.labels) <= which < len(self.labels):
            there = "is 1" if len(self.labels) == 1 else f"are {len(self.labels)}"
            raise AqmlabError(f"no variant {which}: there {there}, counted from 0")
        number = list(dict.fromkeys(run.variant for run in self.runs))[which]
        return [run for run in self.runs if run.variant == number]

    @property
    def summary(self) -> Summary:
        """The only run's summary; with replications, the means over the seeds.

        A sweep has a summary for each variant: `result.select(load=0.9).summary`. All have equal
        names. A number undefined in any seed, and a text that differs between the seeds (the
        fingerprint), is None.
        """
        return merged(self.only())

    def table(self, name: str) -> pl.DataFrame:
        """The recorded table `name` of all runs; with several runs it begins with the columns
        `variant`, those of a sweep's axes (see `variants`) and `seed`."""
        return self._joined([run.table(name) for run in self.runs])

    def scan(self, name: str) -> pl.LazyFrame:
        """The table as a lazy frame: only the parts that are used (`filter`, `group_by`, `collect`)
        are read from the files, so that a table of all runs may be larger than memory.
        """
        return self._joined([run.scan(name) for run in self.runs])

    def _joined(self, frames: Sequence[Frame]) -> Frame:
        """The tables of all runs concatenated, with columns for variant, axes and seed if there are
        several."""
        if len(frames) == 1:
            return frames[0]
        import polars as pl

        labelled = [
            frame.select(
                pl.lit(run.variant, pl.Int64).alias("variant"),
                *self._literals(run, frame.collect_schema().names()),
                pl.lit(run.seed, pl.Int64).alias("seed"),
                pl.all(),
            )
            for run, frame in zip(self.runs, frames, strict=True)
        ]
        # Types are relaxed, since queue samples may have two bytes in one run and four in another.
        return pl.concat(labelled, how="vertical_relaxed")

    def statistics(self) -> pl.DataFrame:
        """Mean and 95 % interval of every summary number of every variant.

        Columns: variant, label, those of the sweep's axes (see `variants`), field, n, mean, low,
        high.
        """
        found = measure.statistics(self.runs)
        if not self.axes:
            return found
        known = self.variants.drop("label", "seeds")
        joined = found.join(known, on="variant", how="left", maintain_order="left")
        head = ["variant", "label", *(column.name for column in self.columns)]
        return joined.select(*head, *(name for name in found.columns if name not in head))

    def _literals(self, run: FinishedRun, taken: Iterable[str]) -> list[pl.Expr]:
        """The axis values of a run as constant columns for a table."""
        import polars as pl

        return [
            pl.lit(column.value(run.values)).alias(
                column.path if column.name in taken else column.name
            )
            for column in self.columns
        ]

    def paired(self, a: int | str, b: int | str) -> pl.DataFrame:
        """The difference `b - a` of every summary number, seed by seed, with its 95 % interval."""
        return measure.paired(self.variant(a), self.variant(b))


def merged(runs: Sequence[FinishedRun]) -> Summary:
    """One summary for a variant's runs: unchanged for a single run, else with the means."""
    if len(runs) == 1:
        return Summary(runs[0].summary)
    return measure.merged([run.summary for run in runs])
