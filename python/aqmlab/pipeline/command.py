"""All steps of `aqmlab run` and `aqmlab study`: choice of experiments and folders, runs, and
output."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.errors import AqmlabError, SpecError
from aqmlab.experiment.folders import shipped
from aqmlab.io.terminal import printable

from . import registry

if TYPE_CHECKING:
    from aqmlab.experiment.experiment import Experiment
    from aqmlab.runs.cluster import Cluster
    from aqmlab.runs.progress import Progress
    from aqmlab.simulator.capture import Capture
    from aqmlab.simulator.engine import Simulate
    from aqmlab.tables.result import Result


@dataclass(frozen=True)
class StudyResult:
    """The result of an experiment that was carried out, or one figure of it."""

    experiment: Experiment
    folder: Path
    result: Result | None = None
    figure: Path | None = None

    @property
    def page(self) -> Path | None:
        """The path of the report; None if none was written."""
        return self.folder / "report.html" if self.result and self.result.report else None

    def document(self) -> dict[str, Any]:
        """The document that `--json` prints for an experiment with groups, or for a figure."""
        if self.result is None or self.result.report is None:
            return {"figure": str(self.figure)}
        found = dict(self.result.report)
        paths = {"folder": str(self.folder), "report": str(self.page)}
        return found | paths | {"lines": found["headlines"]}


def chosen(name: str, part: list[str] | None, figure: str | None) -> Sequence[str]:
    """The names of the studies that a name denotes; their parts are checked before any folder is
    changed."""
    every = name == registry.ALL
    if figure is not None and (part or every):
        raise SpecError("--figure draws one figure of one study: leave out --part and `all`")
    from aqmlab.experiment.experiment import load

    names = shipped() if every else [name]
    for each in names:
        load(each).check_parts(None if every else part)
    if every and part:
        raise SpecError("--part names a part of one study: give its name in place of `all`")
    return names


def with_claims(study: list[str] | None, out: Path | None, run: bool) -> list[str]:
    """The studies whose claims are shown: those named, else all; `out` is the folder of a single
    study."""
    named = study or shipped()
    if out is not None and len(named) != 1:
        raise SpecError("--out is the folder of one study: name it with --study")
    if out is not None and not run and not (out / "result.json").is_file():
        raise AqmlabError(
            f"{out} has no result.json: give a folder in which `aqmlab study` has finished, "
            "or --run"
        )
    return named


def carry_out(
    name: str,
    *,
    quick: bool = False,
    report: bool = False,
    part: Sequence[str] | None = None,
    figure: str | None = None,
    out: Path | None = None,
    within: bool = False,
    fresh: bool = False,
    refresh: bool = False,
    given: Mapping[str, Any] | None = None,
    alter: Callable[[Experiment], Experiment] | None = None,
    capture: Capture | None = None,
    progress: Progress | None = None,
    jobs: int | None = None,
    simulate: Simulate | None = None,
    on: Cluster | None = None,
) -> StudyResult:
    """Runs an experiment, or the runs that one of its figures needs.

    An experiment with groups, tables, figures or claims always gets a report. Results go into the
    folder `out`, or with `within` into a subfolder of it. `fresh` discards the folder's contents,
    `refresh` only those of another version. `given` has overrides and seeds of a scenario (see
    `load`); `alter` changes the experiment.
    """
    from aqmlab.experiment.experiment import load
    from aqmlab.runs.store import Store

    from .study import Study

    experiment = load(name, **given or {})
    experiment = alter(experiment) if alter is not None else experiment
    if capture is not None and not experiment.swept:
        raise SpecError(f"{name} has groups, which say what is run: leave out --pcap")
    usual = registry.default_folder(experiment.name, quick and not experiment.swept)
    folder = usual if out is None else out / usual.name if within else out
    fresh = fresh or (refresh and Store.is_stale(folder))
    study = Study(experiment)
    if figure is not None:
        drawn = study.draw(
            figure, quick=quick, out=folder, fresh=fresh, progress=progress, jobs=jobs, on=on
        )
        if drawn is None:
            mode = "quick" if quick else "full"
            raise AqmlabError(f"figure {figure} of {name} has nothing to show in the {mode} study")
        return StudyResult(experiment, folder, figure=drawn)
    result = study.carry_out(
        quick=quick,
        out=folder,
        reported=report or not experiment.swept or experiment.is_shown,
        parts=part,
        fresh=fresh,
        progress=progress,
        jobs=jobs,
        capture=capture,
        simulate=simulate,
        on=on,
    )
    return StudyResult(experiment, folder, result)


def notify(done: StudyResult) -> None:
    """Prints the findings, the path of the report or figure, and a closing sentence."""
    from aqmlab.report import two_sets

    for line in done.document().get("lines", []):
        print(printable(line))
    print(printable(str(done.figure or done.page)))
    report = done.result.report if done.result is not None else None
    if report is not None and (last := two_sets.closing(report)):
        print(printable(last))
