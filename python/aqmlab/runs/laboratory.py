"""Carries out planned runs; a run that a results folder already holds is not repeated."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.errors import AqmlabError, Interrupted, SpecError, nearest
from aqmlab.experiment.plan import Run
from aqmlab.experiment.spec import length_s
from aqmlab.simulator import engine
from aqmlab.simulator.forms import Draft, Scenario
from aqmlab.simulator.renamed import Numbers

from . import calibrate, pool
from .calibration_cache import KnownCalibrations
from .store import content_key

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from aqmlab.simulator.capture import Capture
    from aqmlab.simulator.engine import Outcome, Simulate

    from .calibrate import Calibration
    from .cluster import Cluster
    from .progress import Progress
    from .run_files import StoredRun
    from .store import Store


@dataclass(frozen=True)
class FinishedRun:
    """One finished run: its cell in the plan, its numbers, its tables (on disk or in memory)."""

    variant: int
    label: str
    values: Mapping[str, str]
    seed: int
    scenario: Scenario
    """The complete scenario: users instead of a load, every default filled in."""
    cached: bool = False
    """Whether an earlier command had simulated the run."""
    stored: StoredRun | None = None
    outcome: Outcome | None = field(default=None, repr=False)

    @property
    def summary(self) -> Numbers:
        """The numbers of the run's summary."""
        if self.stored is not None:
            return self.stored.summary
        return self.outcome.summary if self.outcome is not None else {}

    @property
    def folder(self) -> Path | None:
        """The folder of the run, if it is kept."""
        return self.stored.folder if self.stored else None

    def tables(self) -> list[str]:
        """The names of the run's tables."""
        if self.stored is not None:
            return self.stored.tables()
        return sorted(self.outcome.tables) if self.outcome is not None else []

    def has(self, name: str) -> bool:
        """Whether the run recorded this table."""
        return name in self.tables()

    def _check_has(self, name: str) -> None:
        known = self.tables()
        if name not in known:
            hint = nearest(name, known)
            raise AqmlabError(f'no table "{name}"{hint} (known: {", ".join(known)})')

    def scan(self, name: str) -> pl.LazyFrame:
        """One table, read lazily: only the columns and rows that are used."""
        self._check_has(name)
        return self.stored.scan(name) if self.stored is not None else self.table(name).lazy()

    def table(self, name: str) -> pl.DataFrame:
        """One table as a Polars data frame."""
        self._check_has(name)
        if self.stored is not None:
            return self.stored.table(name)
        import polars as pl

        assert self.outcome is not None
        frame = pl.from_arrow(self.outcome.tables[name])
        assert isinstance(frame, pl.DataFrame)
        return frame

    def columns(self, name: str) -> dict[str, np.ndarray]:
        """The columns of one table by name."""
        return _kept(self.stored, name) if self.stored else _arrays(self.table(name))


@lru_cache(maxsize=512)
def _kept(run: StoredRun, name: str) -> dict[str, np.ndarray]:
    """The columns of a small table, cached because several claims and figures read it."""
    return _arrays(run.table(name))


def _arrays(frame: pl.DataFrame) -> dict[str, np.ndarray]:
    return {column: frame[column].to_numpy() for column in frame.columns}


class Laboratory:
    """Carries out runs. Results go into a results folder if there is one, else they stay in
    memory."""

    def __init__(
        self,
        store: Store | None = None,
        *,
        progress: Progress | None = None,
        jobs: int | None = None,
        capture: Capture | None = None,
        simulate: Simulate | None = None,
        on: Cluster | None = None,
    ) -> None:
        self.store = store
        self.on = on
        self.simulate = simulate
        self.progress = progress
        self.jobs = jobs
        self.capture = capture

    def calibrate(self, scenario: Scenario, **how: Any) -> Calibration:
        """The fitted line from numbers of users to offered load (`calibrate.calibrate`), measured
        unless it is known."""
        cache = KnownCalibrations(self.store.cache if self.store else None)
        return calibrate.calibrate(
            scenario, cache=cache, progress=self.progress, jobs=self.jobs, on=self.on, **how
        )

    def expect(self, later: Mapping[Hashable, float], including: str = "") -> None:
        """Announces the work after the next batch (see `Progress.expect`)."""
        if self.progress is not None:
            self.progress.expect(later, including)

    def run(self, title: str, runs: Sequence[Run], source: str = "scenario") -> list[FinishedRun]:
        """Carries out runs whose loads have been converted into users, and returns them in the
        given order. Runs that the folder has are not repeated, unless a capture is to be written.

        An error in a scenario names the file `source`. Ctrl-C arrives as
        KeyboardInterrupt after the running ones have been stopped (see `resumable`).
        """
        version = engine.version()
        canonical = complete(runs, source)
        keys = [content_key({**scenario, **self._how()}, version) for scenario in canonical]
        results = self._known(runs, canonical, keys)
        missing = _in_order(runs, canonical, results)
        captures = _captures(self.capture, runs)
        # Live runs, and runs without a folder, keep all tables, since these cannot be made again.
        again = self.store is not None and self.simulate is None
        keep = [runs[i].keep if again else None for i in missing]

        def finish(place: int, outcome: Outcome) -> None:
            i = missing[place]
            done = _finished(runs[i], canonical[i])
            if self.store is None:
                results[i] = replace(done, outcome=outcome)
            else:
                stored = self.store.save(keys[i], canonical[i], runs[i].seed, outcome, keep[place])
                results[i] = replace(done, stored=stored)

        if missing:
            pool.simulate_all(
                [runs[i].scenario for i in missing],
                finish,
                title=title,
                jobs=self.jobs,
                progress=self.progress,
                already=len(results),
                captures=[captures[i] for i in missing],
                kinds=[runs[i].key for i in missing],
                simulate=self.simulate,
                on=self.on,
                keep=keep,
            )
        return [results[i] for i in range(len(runs))]

    def _how(self) -> dict[str, str]:
        """A part of the run's key that is empty for simulated runs and names the method otherwise
        (live runs), so that no result is taken for one of the other kind."""
        return {} if self.simulate is None else {"run by": repr(self.simulate)}

    def by_scenario(
        self, title: str, runs: Sequence[Run], source: str = "scenario"
    ) -> dict[tuple[str, int], FinishedRun]:
        """The finished runs, by the key of each run's scenario and its seed."""
        places = ((run.key, run.seed) for run in runs)
        return dict(zip(places, self.run(title, runs, source), strict=True))

    def _known(
        self, runs: Sequence[Run], canonical: Sequence[Scenario], keys: Sequence[str]
    ) -> dict[int, FinishedRun]:
        """Runs that an earlier command has finished, by their indices."""
        if self.store is None or self.capture is not None:
            return {}
        found = ((i, self.store.find(key)) for i, key in enumerate(keys))
        return {
            i: replace(_finished(runs[i], canonical[i]), cached=True, stored=s)
            for i, s in found
            if s is not None
        }

    @contextmanager
    def resumable(self) -> Iterator[None]:
        """Turns Ctrl-C into a sentence; finished runs are kept."""
        try:
            yield
        except KeyboardInterrupt:
            raise Interrupted(self._stopped()) from None

    def _stopped(self) -> str:
        if self.store is None:
            return "stopped before the end: give a results folder to be able to resume"
        kept = len(self.store.finished())
        described = "1 finished run is" if kept == 1 else f"{kept} finished runs are"
        return (
            f"stopped: {described} kept in {self.store.folder}, "
            "give the same command again to resume"
        )


def checked(run: Run, source: str) -> Scenario:
    """The complete scenario of a run; an error names the file, and the variant if there is one."""
    try:
        return engine.check(run.scenario)
    except SpecError as error:
        where = f"{source} ({run.label})" if run.label else source
        raise SpecError(f"{where}: {error}") from error


def complete(runs: Sequence[Run], source: str) -> list[Scenario]:
    """The complete scenarios of runs. Scenarios that differ only in their seed share all other
    data, since tens of thousands are held at once."""
    known: dict[str, tuple[Draft, Scenario]] = {}
    found: list[Scenario] = []
    for run in runs:
        bare = {name: value for name, value in run.scenario.items() if name != "seed"}
        before = known.get(run.key)
        if before is None or before[0] != bare:
            before = known[run.key] = (bare, checked(run, source))
        found.append(
            {**before[1], "seed": run.scenario["seed"]} if "seed" in run.scenario else before[1]
        )
    return found


def _finished(run: Run, scenario: Scenario) -> FinishedRun:
    return FinishedRun(run.variant, run.label, run.values, run.seed, scenario)


def _in_order(
    runs: Sequence[Run], canonical: Sequence[Scenario], done: Mapping[int, object]
) -> list[int]:
    """The order of the missing runs: seed by seed, so that an interrupted study has some runs of
    each scenario; within a seed the longest first, so that the last cores do not wait for one long
    run."""
    earlier: dict[str, int] = {}
    order = []
    for i, run in enumerate(runs):
        rank = earlier[run.key] = earlier.get(run.key, -1) + 1
        if i not in done:
            users = sum(group.get("users") or 0 for group in canonical[i].get("traffic", []))
            order.append((rank, -users * length_s(canonical[i]), i))
    return [i for _, _, i in sorted(order)]


def _captures(capture: Capture | None, runs: Sequence[Run]) -> list[Capture | None]:
    """The capture of each run: with several runs a file each, `<name>.v<variant>.s<seed>.pcap`."""
    if capture is None or len(runs) == 1:
        return [capture] * len(runs)
    several = any(run.variant for run in runs)
    path = capture.path

    def name(run: Run) -> Path:
        variant = f".v{run.variant}" if several else ""
        return path.with_name(f"{path.stem}{variant}.s{run.seed}{path.suffix}")

    return [replace(capture, path=name(run)) for run in runs]
