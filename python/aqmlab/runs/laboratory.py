"""Where a study's runs happen: stored when finished, never done twice."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab import units
from aqmlab.errors import Interrupted
from aqmlab.experiment.plan import Run
from aqmlab.simulator import engine
from aqmlab.simulator.engine import Outcome

from . import calibrate, pool
from .calibrate import Calibration
from .progress import Progress
from .store import Store, content_key
from .stored import StoredRun


@dataclass(frozen=True)
class Measured:
    """One finished run of a plan."""

    stored: StoredRun
    seed: int
    summary: Mapping[str, Any]

    def has(self, name: str) -> bool:
        """Whether it recorded this table."""
        return name in self.stored.tables()

    def table(self, name: str) -> dict[str, np.ndarray]:
        """One of its tables, by column."""
        return _columns(self.stored, name)


@lru_cache(maxsize=512)
def _columns(run: StoredRun, name: str) -> dict[str, np.ndarray]:
    """Several claims and figures look at the same small tables."""
    frame = run.table(name)
    return {column: frame[column].to_numpy() for column in frame.columns}


class Laboratory:
    """Runs scenarios into one results folder."""

    def __init__(
        self, folder: Path, *, progress: Progress | None = None, jobs: int | None = None
    ) -> None:
        self.store = Store.open(folder)
        self.progress = progress
        self.jobs = jobs

    def calibrate(
        self,
        scenario: Mapping[str, object],
        how: Mapping[str, Any],
        seeds: int,
        also: Sequence[int] = (),
    ) -> Calibration:
        """The line from users to offered load, measured under so many seeds.

        `how` has the `duration` and `warmup` of its runs and perhaps `least_r_squared`. Of the
        traffic groups in `also` as many users run at the same time.
        """
        with resumable(self.store.folder):
            return calibrate.calibrate(
                scenario,
                seeds=tuple(range(1, seeds + 1)),
                duration=how["duration"],
                warmup=how["warmup"],
                also=also,
                least_r_squared=how.get("least_r_squared", calibrate.MIN_R_SQUARED),
                cache=self.store.cache,
                progress=self.progress,
                jobs=self.jobs,
            )

    def expect(self, later: Mapping[Hashable, float], including: str = "") -> None:
        """What will be run after the next batch (see `Progress.expect`)."""
        if self.progress is not None:
            self.progress.expect(later, including)

    def run(self, title: str, runs: list[Run]) -> dict[tuple[str, int], Measured]:
        """Every run's result by (scenario key, seed); those in the folder are not run again."""
        version = engine.version()
        canonical = [engine.check(run.scenario) for run in runs]
        keys = [content_key(scenario, version) for scenario in canonical]
        stored = [self.store.find(key) for key in keys]
        missing = [i for i, found in enumerate(stored) if found is None]
        # seed by seed, so that an interrupted study has something of everything; within a seed
        # the longest first, so that no core waits for a late long run
        missing.sort(key=lambda i: (runs[i].seed, -_weight(runs[i].scenario)))

        def finish(place: int, outcome: Outcome) -> None:
            i = missing[place]
            stored[i] = self.store.save(keys[i], canonical[i], runs[i].seed, outcome)

        if missing:
            with resumable(self.store.folder):
                pool.simulate_all(
                    [runs[i].scenario for i in missing],
                    finish,
                    title=title,
                    jobs=self.jobs,
                    progress=self.progress,
                    already=len(runs) - len(missing),
                    kinds=[runs[i].key for i in missing],
                )
        return {
            (run.key, run.seed): Measured(found, run.seed, found.summary)
            for run, found in zip(runs, stored, strict=True)
            if found is not None
        }


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Ctrl-C as a sentence: what is finished is kept."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise Interrupted(
            f"stopped: finished runs are kept in {folder}, give the same command again to resume"
        ) from stop


def _weight(scenario: Mapping) -> float:
    """A rough measure of the work in a run."""
    users = sum(group.get("users", 0) for group in scenario.get("traffic", []))
    return users * units.seconds(scenario["duration"])
