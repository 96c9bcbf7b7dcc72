"""Runs to results: calibrate loads, skip what is finished, simulate the rest on all cores."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from aqmlab import units
from aqmlab.errors import AqmlabError, Interrupted, SpecError
from aqmlab.experiment import spec, sweep
from aqmlab.experiment.spec import Experiment
from aqmlab.experiment.sweep import Run
from aqmlab.io import files
from aqmlab.runs import calibrate, pool
from aqmlab.runs.calibrate import Calibration
from aqmlab.runs.progress import Progress
from aqmlab.runs.store import Store, content_key
from aqmlab.simulator import engine
from aqmlab.simulator.capture import Capture
from aqmlab.simulator.engine import Outcome
from aqmlab.tables import loads
from aqmlab.tables.loads import Target
from aqmlab.tables.result import Finished, Result


def run_experiment(
    experiment: Experiment,
    *,
    out: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
    capture: Capture | None = None,
) -> Result:
    """Runs every variant under every seed.

    With `out` the results are kept in that folder, and what is already there is not run again,
    except for a `capture`; without it they stay in memory. Mistakes in any scenario are found
    before the first run and before the folder is made.
    """
    runs = sweep.expand(experiment)
    targets: list[list[Target]] = []
    for run in runs:
        if run.seed == experiment.seeds[0]:
            _checked(run, experiment.source)
    store = Store.open(out, fresh=fresh) if out is not None else None
    calibrations: list[Calibration] = []
    finished: list[Finished] = []
    try:
        if progress is not None:
            progress.expect({"": sum(spec.length_s(run.scenario) for run in runs)})
        runs, targets, calibrations = _calibrated(runs, experiment, store, jobs, progress)
        if progress is not None:
            progress.expect({})
        finished = run_all(
            runs,
            store=store,
            jobs=jobs,
            progress=progress,
            source=experiment.source,
            capture=capture,
        )
    except KeyboardInterrupt:
        raise Interrupted(_stopped(store)) from None
    remarks = loads.remarks(runs, targets, finished)
    if store is not None:
        manifest = _manifest(experiment, finished, calibrations)
        store.write_manifest({**manifest, "remarks": remarks})
        store.check_kept(run.stored for run in finished)
    folder = store.folder if store else None
    return Result(experiment.name, finished, calibrations, folder, remarks, experiment.axes)


def run_all(
    runs: Sequence[Run],
    *,
    store: Store | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    source: str = "scenario",
    capture: Capture | None = None,
) -> list[Finished]:
    """Runs whose loads are already users, in the given order; finished ones come from `store`,
    unless there is a `capture` to be made.

    Ctrl-C arrives as KeyboardInterrupt after the running ones have been stopped.
    """
    version = engine.version()
    canonical = [_checked(run, source) for run in runs]
    keys = [content_key(scenario, version) for scenario in canonical]
    results: dict[int, Finished] = {}
    if store is not None and capture is None:
        for index, run in enumerate(runs):
            stored = store.find(keys[index])
            if stored is not None:
                known = _finished(run, canonical[index], stored.summary)
                results[index] = replace(known, cached=True, stored=stored)
    # Seed by seed, so that an interrupted sweep has something of every variant.
    missing = [index for index in range(len(runs)) if index not in results]
    order = sorted(missing, key=lambda index: _rank(runs, index))
    captures = _captures(capture, runs)

    def finish(position: int, outcome: Outcome) -> None:
        index = order[position]
        run = runs[index]
        done = _finished(run, canonical[index], outcome.summary)
        if store is None:
            results[index] = replace(done, outcome=outcome)
        else:
            stored = store.save(keys[index], canonical[index], run.seed, outcome)
            results[index] = replace(done, stored=stored)

    pool.simulate_all(
        [runs[index].scenario for index in order],
        finish,
        jobs=jobs,
        progress=progress,
        already=len(results),
        captures=[captures[index] for index in order],
        kinds=[runs[index].variant for index in order],
    )
    return [results[index] for index in range(len(runs))]


def _rank(runs: Sequence[Run], index: int) -> tuple[int, int]:
    variant = runs[index].variant
    earlier = sum(1 for run in runs[:index] if run.variant == variant)
    return earlier, index


def _finished(run: Run, scenario: Mapping[str, Any], summary: Mapping[str, Any]) -> Finished:
    return Finished(run.variant, run.label, run.values, run.seed, scenario, summary)


def _checked(run: Run, source: str) -> dict[str, Any]:
    """The canonical scenario; a mistake in it names the file, and the variant if there is one."""
    try:
        return engine.check(run.scenario)
    except SpecError as error:
        where = f"{source} ({run.label})" if run.label else source
        raise SpecError(f"{where}: {error}") from error


def _calibrated(
    runs: Sequence[Run],
    experiment: Experiment,
    store: Store | None,
    jobs: int | None,
    progress: Progress | None,
) -> tuple[list[Run], list[list[Target]], list[Calibration]]:
    """Replaces loads by users; variants that differ only in load or discipline share one line.

    Also gives what was asked of each run.
    """
    settings = experiment.calibration
    lines: dict[str, Calibration] = {}

    def line_of(scenario: Mapping[str, Any]) -> Calibration:
        times = calibrate.times_of(scenario, settings.get("duration"), settings.get("warmup"))
        kind = repr(calibrate.uncongested(scenario, *times))
        if kind not in lines:
            lines[kind] = calibrate.calibrate(
                scenario,
                seeds=settings.get("seeds", calibrate.SEEDS),
                duration=settings.get("duration"),
                warmup=settings.get("warmup"),
                cache=store.cache if store else None,
                progress=progress,
                jobs=jobs,
            )
        return lines[kind]

    def without_loads(scenario: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Target]]:
        # Each group alone: on an uncongested link none feels the others.
        targets: list[Target] = []
        while (group := spec.loaded_group(scenario)) is not None:
            load = units.share(scenario["traffic"][group]["load"])
            if calibrate.is_open_loop(scenario):
                scenario = calibrate.resolve(scenario)
                targets.append(Target(group, load))
            else:
                line = line_of(scenario)
                scenario = calibrate.apply(scenario, line)
                targets.append(Target(group, load, line.ip_per_asked))
        return scenario, targets

    try:
        resolved = [without_loads(run.scenario) for run in runs]
    except AqmlabError as error:
        raise type(error)(f"{experiment.source}: {error}") from error
    changed = [replace(run, scenario=s) for run, (s, _) in zip(runs, resolved, strict=True)]
    return changed, [targets for _, targets in resolved], list(lines.values())


def _stopped(store: Store | None) -> str:
    if store is None:
        return "stopped before the end: give a results folder to be able to resume"
    kept = sum(1 for _ in (store.folder / "runs").glob("[!.]*/manifest.json"))
    runs = "1 finished run is" if kept == 1 else f"{kept} finished runs are"
    return f"stopped: {runs} kept in {store.folder}, give the same command again to resume"


def _manifest(
    experiment: Experiment, finished: Sequence[Finished], calibrations: Sequence[Calibration]
) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "scenario": experiment.scenario,
        "sweep": {axis.path: list(axis.values) for axis in experiment.axes},
        "seeds": list(experiment.seeds),
        "calibrations": [asdict(calibration) for calibration in calibrations],
        "runs": [
            {
                "folder": f"runs/{run.folder.name}" if run.folder else None,
                "variant": run.variant,
                "label": run.label,
                "values": run.values,
                "seed": run.seed,
                "fingerprint": run.summary.get("fingerprint"),
            }
            for run in finished
        ],
    }


def default_folder(experiment: Experiment) -> Path:
    """`results/<name>`, with nothing in the name that a path could stumble over.

    A name that had to be changed, or is long, ends in a hash of itself: no two names share a
    folder.
    """
    name = experiment.name
    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip(".")
    if safe != name or len(safe.encode()) > LONGEST_NAME:
        mark = files.digest(name.encode("utf-8", "surrogatepass"))[:8]
        short = safe.encode()[: LONGEST_NAME - 10].decode("utf-8", "ignore")
        safe = f"{short or 'scenario'}-{mark}"
    return Path("results") / safe


LONGEST_NAME = 200
"""Bytes; file systems take 255."""


def _captures(capture: Capture | None, runs: Sequence[Run]) -> list[Capture | None]:
    """The capture of each run: with several runs a file each, `<name>.v<variant>.s<seed>.pcap`."""
    if capture is None or len(runs) == 1:
        return [capture] * len(runs)
    return [replace(capture, path=_numbered(capture.path, run, runs)) for run in runs]


def _numbered(path: Path, run: Run, runs: Sequence[Run]) -> Path:
    variant = f".v{run.variant}" if any(other.variant for other in runs) else ""
    return path.with_name(f"{path.stem}{variant}.s{run.seed}{path.suffix}")
