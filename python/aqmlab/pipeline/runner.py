"""Runs to results: calibrate loads, skip what is finished, simulate the rest on all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from aqmlab import units
from aqmlab.errors import AqmlabError
from aqmlab.experiment import spec, sweep
from aqmlab.experiment.plan import Run
from aqmlab.experiment.spec import Experiment
from aqmlab.io import files
from aqmlab.runs import calibrate
from aqmlab.runs.calibrate import Calibration
from aqmlab.runs.laboratory import FinishedRun, Laboratory, checked
from aqmlab.runs.progress import Progress
from aqmlab.runs.store import Store
from aqmlab.simulator import engine
from aqmlab.simulator.capture import Capture
from aqmlab.simulator.engine import Outcome
from aqmlab.tables import loads
from aqmlab.tables.loads import Target
from aqmlab.tables.result import Result


def run_experiment(
    experiment: Experiment,
    *,
    out: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
    capture: Capture | None = None,
    simulate: Callable[..., Outcome] = engine.simulate,
) -> Result:
    """Runs every variant under every seed.

    With `out` the results are kept in that folder, and what is already there is not run again,
    except for a `capture`; without it they stay in memory. Mistakes in any scenario are found
    before the first run and before the folder is made. `simulate` may run scenarios otherwise
    (`aqmlab.live.run.How`); loads are calibrated in the simulator all the same.
    """
    runs, name = sweep.expand(experiment), experiment.name
    for run in runs:
        if run.seed == experiment.seeds[0]:
            checked(run, experiment.source)
    store = Store.open(out, fresh=fresh) if out is not None else None
    laboratory = Laboratory(
        store, jobs=jobs, progress=progress, capture=capture, simulate=simulate
    )
    with laboratory.resumable():
        laboratory.expect({"": sum(spec.length_s(run.scenario) for run in runs)})
        runs, targets, calibrations = _calibrated(runs, experiment, laboratory)
        laboratory.expect({})
        finished = laboratory.run("runs", runs, experiment.source)
    remarks = loads.remarks(runs, targets, finished)
    if store is not None:
        manifest = _manifest(experiment, finished, calibrations)
        store.write_manifest({**manifest, "remarks": remarks})
        store.check_kept(run.stored for run in finished)
    folder = store.folder if store else None
    return Result(name, finished, calibrations, folder, remarks, experiment.axes)


def _calibrated(
    runs: Sequence[Run], experiment: Experiment, laboratory: Laboratory
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
            lines[kind] = laboratory.calibrate(scenario, **settings)
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


def _manifest(
    experiment: Experiment, finished: Sequence[FinishedRun], calibrations: Sequence[Calibration]
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
