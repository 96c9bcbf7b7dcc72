"""What a run, or a set of runs, gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import measure
from aqmlab.errors import AqmlabError, nearest

if TYPE_CHECKING:
    import polars as pl

    from aqmlab.calibrate import Calibration
    from aqmlab.engine import Outcome
    from aqmlab.store import StoredRun


@dataclass(frozen=True)
class Finished:
    """One finished run: its place in the sweep, its numbers, its tables (on disk or in memory)."""

    variant: int
    label: str
    values: Mapping[str, str]
    seed: int
    scenario: Mapping[str, Any]
    """The complete scenario: users instead of a load, every default filled in."""
    summary: Mapping[str, Any]
    cached: bool = False
    """Whether an earlier command had computed it."""
    stored: StoredRun | None = None
    outcome: Outcome | None = field(default=None, repr=False)

    @property
    def folder(self) -> Path | None:
        """Where it is kept, if it is."""
        return self.stored.folder if self.stored else None

    def tables(self) -> list[str]:
        """The names of its tables."""
        if self.stored is not None:
            return self.stored.tables()
        return sorted(self.outcome.tables) if self.outcome is not None else []

    def table(self, name: str) -> pl.DataFrame:
        """One table as a Polars data frame."""
        known = self.tables()
        if name not in known:
            hint = nearest(name, known)
            raise AqmlabError(f'no table "{name}"{hint} (known: {", ".join(known)})')
        if self.stored is not None:
            return self.stored.table(name)
        import polars as pl

        assert self.outcome is not None
        frame = pl.from_arrow(self.outcome.tables[name])
        assert isinstance(frame, pl.DataFrame)
        return frame


@dataclass(frozen=True)
class Result:
    """All runs of an experiment, variant by variant, seed by seed."""

    name: str
    runs: Sequence[Finished]
    calibrations: Sequence[Calibration] = ()
    folder: Path | None = None

    @cached_property
    def labels(self) -> list[str]:
        """What distinguishes the variants, in order; one empty label without a sweep."""
        return list({run.variant: run.label for run in self.runs}.values())

    def variant(self, which: int | str) -> list[Finished]:
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
    def summary(self) -> dict[str, Any]:
        """The only run's summary; with replications, the means of the first variant.

        The names are the same. A number undefined in any seed, and a text that differs between
        the seeds (the fingerprint), is None.
        """
        first = self.variant(0)
        if len(first) == 1:
            return dict(first[0].summary)
        return measure.merged([run.summary for run in first])

    def table(self, name: str) -> pl.DataFrame:
        """That table of all runs; with several runs it begins with columns `variant` and `seed`."""
        if len(self.runs) == 1:
            return self.runs[0].table(name)
        import polars as pl

        frames = [
            run.table(name).select(
                pl.lit(run.variant, pl.Int64).alias("variant"),
                pl.lit(run.seed, pl.Int64).alias("seed"),
                pl.all(),
            )
            for run in self.runs
        ]
        # Relaxed: queue samples have two bytes in one run and four in another.
        return pl.concat(frames, how="vertical_relaxed")

    def statistics(self) -> pl.DataFrame:
        """Mean and 95 % interval of every summary number of every variant."""
        return measure.statistics(self.runs)

    def paired(self, a: int | str, b: int | str) -> pl.DataFrame:
        """The difference `b - a` of every summary number, seed by seed, with its 95 % interval."""
        return measure.paired(self.variant(a), self.variant(b))
