"""Carries out an experiment: calibrates, runs, and on request evaluates claims, draws and reports.

    out/runs/…                finished simulations, which are not repeated
    out/tables/*.csv|parquet  every table, tidy
    out/figures/*.svg|png     every figure
    out/result.json           the document from which the report is made
    out/report.html           the report, one file
    out/reference/*.csv       published tables that users put there: read, never written

Modules for drawing and most statistics are loaded only if a report is made.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.errors import StoreError
from aqmlab.experiment import plan
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.grammar import Figure, Group, Settings
from aqmlab.experiment.plan import Plan
from aqmlab.io import files
from aqmlab.io.documents import Document
from aqmlab.io.terminal import say
from aqmlab.runs.contents import MANIFEST
from aqmlab.runs.laboratory import Laboratory, checked
from aqmlab.runs.progress import Progress
from aqmlab.runs.store import Store
from aqmlab.simulator.engine import Simulate
from aqmlab.tables.dataset import Dataset
from aqmlab.tables.document import StudyDocument

from . import calibrating
from .result import Result

if TYPE_CHECKING:
    from aqmlab.experiment.rules import Claim
    from aqmlab.runs.cluster import Cluster
    from aqmlab.simulator.capture import Capture

RESULT = "result.json"


@dataclass(frozen=True)
class Study:
    """An experiment, with methods that carry it out."""

    experiment: Experiment

    def run(self, *, quick: bool, out: Path, **how: Any) -> Document:
        """Carries the experiment out (see `carry_out`); returns the content of `result.json`."""
        return dict(self.carry_out(quick=quick, out=out, reported=True, **how).report or {})

    def carry_out(
        self,
        *,
        quick: bool = False,
        out: str | os.PathLike[str] | None = None,
        reported: bool = False,
        parts: Sequence[str] | None = None,
        settings: dict | None = None,
        fresh: bool = False,
        progress: Progress | None = None,
        jobs: int | None = None,
        capture: Capture | None = None,
        simulate: Simulate | None = None,
        on: Cluster | None = None,
    ) -> Result:
        """Runs these parts (default: all); errors in the file are found before the first run.

        With `out` all results are kept in that folder, which `fresh` empties first; runs in it are
        not repeated, except for a `capture`. Without `out` the runs stay in memory. `reported` also
        writes tables, figures, verdicts and a report into the folder, whose report keeps parts that
        were run before. `settings` replaces some of the quick or full settings. `simulate` replaces
        the simulator's function (for example by `aqmlab.live.run.How`); loads are still calibrated
        in the simulator. Runs use this machine, or `on` a cluster.
        """
        experiment = self.experiment
        if reported or experiment.is_shown:
            self._check()
        chosen = replace(experiment.setting(quick), **settings or {})
        wanted = experiment.check_parts(parts)
        if out is not None and not fresh:
            _check_owner(Path(out), experiment)
            wanted = _with_earlier(wanted, Path(out), experiment, chosen)
        groups = experiment.groups(wanted)
        self._check_scenarios(chosen, groups)
        store = Store.open(out, fresh=fresh) if out is not None else None
        laboratory = Laboratory(
            store, progress=progress, jobs=jobs, capture=capture, simulate=simulate, on=on
        )
        with laboratory.resumable():
            dataset = self._measured(laboratory, chosen, groups)
            remarks = calibrating.remarks(dataset)
            report = None
            if reported and store is not None:
                report = self.report(dataset, wanted, quick, remarks, laboratory, store)
        if store is not None:
            if experiment.swept:
                store.write_manifest(self._manifest(dataset) | {"remarks": remarks})
            store.check_kept(run.stored for run in dataset.results.values())
        if remarks and report is not None and not experiment.swept:
            many = "one scenario" if len(remarks) == 1 else f"{len(remarks)} scenarios"
            where = f"(all in {Path(out or '') / MANIFEST})"
            say(f"{many} had another load than was set: {remarks[0]} {where}")
        folder = store.folder if store else None
        axes = groups[0].axes if len(groups) == 1 else ()
        runs = dataset.all_runs()
        return Result(experiment.name, runs, dataset.lines, folder, remarks, axes, report)

    def _check(self) -> None:
        from . import checks

        checks.check(self.experiment)

    def _check_scenarios(self, settings: Settings, groups: Sequence[Group]) -> None:
        """Refuses mistakes in scenarios whose users are known before the loads are calibrated."""
        known = [group for group in groups if not group.uses_load]
        made = plan.make(
            self.experiment, settings, calibrating.placeholders(self.experiment), known
        )
        seen = set()
        for run in made.runs():
            if run.key not in seen:
                seen.add(run.key)
                checked(run, self.experiment.where)

    def report(
        self,
        dataset: Dataset,
        parts: list[str],
        quick: bool,
        remarks: list[str],
        laboratory: Laboratory,
        store: Store,
    ) -> StudyDocument:
        """Evaluates claims and writes tables, figures, `result.json` and the report. Returns the
        content of `result.json`."""
        from aqmlab import report as page
        from aqmlab.claims import evaluate
        from aqmlab.report import headlines
        from aqmlab.tables.writing import write_frame

        from . import default_report, outcome

        experiment = self.experiment
        bare = experiment.swept and not (experiment.table or experiment.figure)
        if bare:
            dataset = replace(dataset, metrics=default_report.metrics() | dict(dataset.metrics))
        claims = evaluate.judge(
            experiment,
            experiment.of("claim", parts),
            dataset,
            laboratory,
            dataset.settings.looks,
        )
        with files.reported(store.folder):
            outcome.tabulate(experiment, dataset, parts, store.folder)
            result = outcome.of(experiment, dataset, parts, quick)
            result["claims"] = claims
            result["remarks"] = remarks
            result["tables"] = outcome.write_tables(experiment, dataset, parts, store)
            figures = experiment.of("figure", parts)
            if bare:
                listed, metrics = default_report.tables_of(experiment, dataset)
                for table in listed:
                    write_frame(store, table["id"], table["rows"])
                result["tables"] += listed
                own = {metric["name"] for metric in result["metrics"]}
                result["metrics"] += [m for m in metrics if m["name"] not in own]
                figures = default_report.figures_of(experiment, dataset)
            result["figures"] = outcome.write_figures(figures, experiment, dataset, store)
            result["headlines"] = headlines.of(result)
            store.write_json(RESULT, result)
            if not experiment.swept:
                store.write_manifest(outcome.manifest(result))
            page.write(store.folder)
        return result

    def _manifest(self, dataset: Dataset) -> Document:
        """The content of the folder's manifest for a scenario or a sweep."""
        experiment = self.experiment
        (group,) = experiment.group
        return {
            "name": experiment.name,
            "scenario": experiment.scenario,
            "sweep": {
                axis.name: [next(iter(variant.set.values())) for variant in axis.variants]
                for axis in group.axes
            },
            "seeds": list(dataset.plan.replications[group.name]),
            "calibrations": [asdict(line) for line in dataset.lines],
            "runs": [
                {
                    "folder": f"runs/{run.folder.name}" if run.folder else None,
                    "variant": run.variant,
                    "label": run.label,
                    "values": run.values,
                    "seed": run.seed,
                    "fingerprint": run.summary.get("fingerprint"),
                }
                for run in dataset.all_runs()
            ],
        }

    def dataset(
        self, *, quick: bool, out: Path, parts: Sequence[str], jobs: int | None = None
    ) -> Dataset:
        """The runs of these parts, simulated now or found in `out`, for figures of the caller's
        own."""
        experiment = self.experiment
        groups = experiment.groups(experiment.check_parts(list(parts)))
        return self._measured(
            Laboratory(Store.open(out), jobs=jobs), experiment.setting(quick), groups
        )

    def draw(
        self,
        figure: str,
        *,
        quick: bool,
        out: Path,
        fresh: bool = False,
        progress: Progress | None = None,
        jobs: int | None = None,
        on: Cluster | None = None,
    ) -> Path | None:
        """Runs what one figure needs and writes that figure only; writes nothing if there is
        nothing to draw."""
        from . import outcome

        experiment = self.experiment
        self._check()
        spec = experiment.picture(figure)
        if not fresh:
            _check_owner(out, experiment)
        store = Store.open(out, fresh=fresh)
        laboratory = Laboratory(store, progress=progress, jobs=jobs, on=on)
        with laboratory.resumable():
            groups = experiment.groups_of([spec])
            dataset = self._measured(laboratory, experiment.setting(quick), groups, [spec])
            only = spec.of.get("table", "")
            outcome.tabulate(experiment, dataset, [spec.part], out, only=only)
            with files.reported(out):
                written = outcome.write_figures(
                    [spec], experiment, dataset, store, table=f"figure-{figure}"
                )
        return out / written[0]["file"] if written else None

    def _measured(
        self,
        laboratory: Laboratory,
        settings: Settings,
        groups: list[Group],
        figures: list[Figure] | None = None,
    ) -> Dataset:
        experiment = self.experiment
        shown = experiment.of("figure") if figures is None else figures
        mine = {entry.part for entry in (*groups, *(figures or []))}
        bases = {group.base for group in groups if group.uses_load} | {
            figure.of.get("base")
            for figure in shown
            if figure.of.get("source") == "calibration" and figure.part in mine
        }
        # Further interim analyses, for claims, are needed only if the whole study is run, not one
        # figure.
        looks = settings.looks if figures is None else (1,)
        claims = experiment.of("claim", sorted(mine))
        loads = calibrating.placeholders(experiment)
        laboratory.expect(*_expected(plan.make(experiment, settings, loads, groups), claims, looks))
        calibrations = {
            base: calibrating.measure(
                experiment, base, settings, laboratory, calibrating.loads_of(groups, base)
            )
            for base in sorted(bases, key=str)
        }
        loads = calibrating.lookup(experiment, calibrations)
        made = plan.make(experiment, settings, loads, groups)
        made, requested, lines = calibrating.without_loads(experiment, made, laboratory)
        targets = [
            calibrating.targets(experiment, cell, calibrations) + requested[cell.key]
            for cell in made.cells
        ]
        laboratory.expect(*_expected(made, claims, looks, first=False))
        title = "runs" if experiment.swept else experiment.name
        results = laboratory.by_scenario(title, made.runs(), experiment.where)
        metrics = experiment.metrics
        return Dataset(made, settings, results, calibrations, {}, metrics, lines, targets)


def _expected(
    made: Plan, claims: Sequence[Claim], looks: Sequence[int], *, first: bool = True
) -> tuple[dict[Hashable, float], str]:
    """The expected work of a plan, with or without its first interim analysis, and a note on what
    is uncertain.

    The work is in simulated seconds, and so does not depend on the calibrated numbers of users.
    """
    work: dict[Hashable, float] = {**made.work()} if first else {}
    if not claims:
        return work, ""
    from aqmlab.claims import evaluate

    for key, seconds in evaluate.more_seeds(claims, made, looks).items():
        work[key] = work.get(key, 0.0) + seconds
    return work, evaluate.MORE


def _check_owner(out: Path, experiment: Experiment) -> None:
    """Refuses a folder of another study, since its tables and figures would remain next to the new
    ones."""
    try:
        owner = files.read_sealed(out / MANIFEST).get("study", experiment.name)
    except StoreError:
        return
    if owner != experiment.name:
        raise StoreError(
            f"{out} holds the study {owner}: choose another folder with --out or give --fresh to "
            "replace it"
        )


def _with_earlier(
    wanted: list[str], out: Path, experiment: Experiment, settings: Settings
) -> list[str]:
    """The wanted parts and those that were run into this folder earlier with equal settings, which
    stay in its report."""
    if experiment.swept or not (out / MANIFEST).is_file() or not (out / RESULT).is_file():
        return wanted
    from . import outcome

    try:
        before = Store.existing(out).read_json(RESULT)
    except StoreError:
        say(f"{out / RESULT} is damaged: parts that were run before are not in the report")
        return wanted
    same = before.get("name") == experiment.name and before.get("settings") == outcome.settings_of(
        settings
    )
    earlier = before.get("parts", []) if same else []
    return [part for part in experiment.parts if part in wanted or part in earlier]
