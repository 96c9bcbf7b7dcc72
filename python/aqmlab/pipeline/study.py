"""A study from its experiment file to its report: calibrate, run, judge, draw, write.

out/runs/…                finished simulations, never run twice
out/tables/*.csv|parquet  every table, tidy
out/figures/*.svg|png     every figure
out/result.json           all that the report is made of
out/report.html           the report, one file
out/reference/*.csv       published tables that somebody put there: read, never written
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aqmlab import report
from aqmlab.claims import judging
from aqmlab.errors import StoreError
from aqmlab.experiment import plan
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.grammar import Difference, Figure, Group, Settings
from aqmlab.experiment.plan import Plan
from aqmlab.experiment.rules import Claim
from aqmlab.io import files
from aqmlab.io.terminal import say
from aqmlab.report import headlines
from aqmlab.runs.contents import MANIFEST
from aqmlab.runs.laboratory import Laboratory
from aqmlab.runs.progress import Progress
from aqmlab.runs.store import Store
from aqmlab.tables import published, tables
from aqmlab.tables.material import Material

from . import calibrating, checks, outcome

RESULT = "result.json"


@dataclass(frozen=True)
class Study:
    """One study under its name."""

    experiment: Experiment

    def run(
        self,
        *,
        quick: bool,
        out: Path,
        progress: Progress | None = None,
        jobs: int | None = None,
        parts: Sequence[str] | None = None,
        settings: dict | None = None,
    ) -> dict:
        """Runs these parts (default: all) and writes everything into `out`.

        Parts that the folder already has stay in the report. `settings` replaces some of the
        quick or full settings. Gives what `result.json` holds.
        """
        experiment = self.experiment
        checks.check(experiment)
        chosen = replace(experiment.setting(quick), **settings or {})
        _check_owner(out, experiment)
        wanted = _with_earlier(experiment.check_parts(list(parts or [])), out, experiment, chosen)
        store = Store.open(out)
        laboratory = Laboratory(store, progress=progress, jobs=jobs)
        with laboratory.resumable():
            material = self._measured(laboratory, chosen, experiment.groups(wanted))
            claims = judging.judge(
                experiment, experiment.of("claim", wanted), material, laboratory, chosen.looks
            )
            with files.reported(out):
                result = self._written(material, claims, wanted, quick, store)
                store.write_manifest(outcome.manifest(result))
                report.write(out)
        store.check_kept(run.stored for run in material.results.values())
        if off := result["remarks"]:
            cells = "one scenario" if len(off) == 1 else f"{len(off)} scenarios"
            say(f"{cells} had another load than was asked for: {off[0]} (all in {out / MANIFEST})")
        return result

    def _written(
        self, material: Material, claims: list[dict], parts: list[str], quick: bool, store: Store
    ) -> dict:
        """Tables, figures and `result.json`, whose content it gives."""
        experiment = self.experiment
        self._tabulate(material, parts, store.folder)
        result = outcome.of(experiment, material, parts, quick) | {"claims": claims}
        result["remarks"] = calibrating.remarks(experiment, material)
        result["tables"] = outcome.write_tables(experiment, material, parts, store)
        result["figures"] = outcome.write_figures(
            experiment.of("figure", parts), experiment, material, store
        )
        result["headlines"] = headlines.of(result)
        store.write_json(RESULT, result)
        return result

    def material(
        self, *, quick: bool, out: Path, parts: Sequence[str], jobs: int | None = None
    ) -> Material:
        """The runs of these parts, made or found in `out`, for figures of one's own."""
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
        progress: Progress | None = None,
        jobs: int | None = None,
    ) -> Path | None:
        """Runs what one figure needs and writes it alone; nothing if there is nothing to draw."""
        experiment = self.experiment
        checks.check(experiment)
        spec = experiment.picture(figure)
        chosen = experiment.setting(quick)
        _check_owner(out, experiment)
        store = Store.open(out)
        laboratory = Laboratory(store, progress=progress, jobs=jobs)
        with laboratory.resumable():
            material = self._measured(laboratory, chosen, experiment.groups_of([spec]), [spec])
            self._tabulate(material, [spec.part], out, only=spec.of.get("table", ""))
            with files.reported(out):
                written = outcome.write_figures(
                    [spec], experiment, material, store, table=f"figure-{figure}"
                )
        return out / written[0]["file"] if written else None

    def _measured(
        self,
        laboratory: Laboratory,
        settings: Settings,
        groups: list[Group],
        figures: list[Figure] | None = None,
    ) -> Material:
        experiment = self.experiment
        shown = experiment.of("figure") if figures is None else figures
        mine = {entry.part for entry in (*groups, *(figures or []))}
        bases = {group.base for group in groups if group.uses_load} | {
            figure.of.get("base")
            for figure in shown
            if figure.of.get("source") == "calibration" and figure.part in mine
        }
        # Only a study as a whole judges, and so looks again.
        looks = settings.looks if figures is None else (1,)
        claims = experiment.of("claim", sorted(mine))
        if laboratory.progress is not None:
            work = self._work(settings, groups, claims, looks)
            laboratory.progress.expect(work, judging.MORE)
        calibrations = {
            base: calibrating.measure(
                experiment, base, settings, laboratory, calibrating.loads_of(groups, base)
            )
            for base in sorted(bases, key=str)
        }
        made = plan.make(experiment, settings, calibrating.lookup(experiment, calibrations), groups)
        laboratory.expect(judging.more_seeds(claims, made, looks), judging.MORE)
        results = laboratory.by_scenario(experiment.name, made.runs(), str(experiment.file))
        return Material(made, settings, results, calibrations, {}, experiment.metrics)

    def _work(
        self, settings: Settings, groups: list[Group], claims: list[Claim], looks: Sequence[int]
    ) -> dict[Hashable, float]:
        """What will be run when the loads are calibrated: as much with any numbers of users."""
        numbers: dict[tuple[str | None, str], int] = {}

        def loads(base: str | None, load: str) -> dict[str, object]:
            number = numbers.setdefault((base, load), 1 + len(numbers))
            return dict.fromkeys(calibrating.fields(self.experiment, base), number)

        made = plan.make(self.experiment, settings, loads, groups)
        first, later = made.work(), judging.more_seeds(claims, made, looks)
        return {key: seconds + later.get(key, 0.0) for key, seconds in first.items()}

    def _tabulate(
        self, material: Material, parts: list[str], out: Path, only: str | None = None
    ) -> None:
        experiment, runs = self.experiment, material.plan
        for spec in experiment.of("table", parts):
            if only is None or spec.id == only:
                reference = published.read((out, experiment.folder), spec)
                material.tables[spec.id] = tables.table(
                    spec,
                    material.columns(spec),
                    runs.of(spec.group, spec.where),
                    material.values,
                    reference,
                )
        for spec in experiment.of("difference", parts):
            if only is None or spec.id == only:
                material.tables[spec.id] = tables.differences(
                    spec, material.columns(spec), _pairs(runs, spec), material.values
                )


def _pairs(runs: Plan, spec: Difference) -> list[tuple[plan.Cell, plan.Cell]]:
    """The cells of two groups that agree on the axes that a difference names."""
    return [
        (cell, other)
        for cell in runs.of(spec.group, spec.where)
        for other in runs.of(spec.minus, {**spec.minus_where, **{a: cell.axes[a] for a in spec.on}})
    ]


def _check_owner(out: Path, experiment: Experiment) -> None:
    """A folder holds one study: another's tables and figures would stay among its own."""
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
    """Parts that were run into this folder with the same settings stay in its report."""
    if not (out / MANIFEST).is_file() or not (out / RESULT).is_file():
        return wanted
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
