"""All steps of `aqmlab infer`: reads the files, infers, and writes the results."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.errors import AqmlabError
from aqmlab.experiment import experiment as experiments
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.spec import parse_override, set_path
from aqmlab.io.files import reported
from aqmlab.io.terminal import say
from aqmlab.pipeline import registry
from aqmlab.runs.laboratory import Laboratory
from aqmlab.runs.progress import Progress
from aqmlab.runs.store import Store

from . import files, page, spec, verdicts
from .implausibility import CUT
from .inference import InferenceResult, infer
from .verdicts import InferenceDocument
from .waves import Wave

if TYPE_CHECKING:
    from aqmlab.runs.cluster import Cluster

DOCUMENT = "inference.json"
PAGE = "inference.html"


def carry_out(
    name: str,
    *,
    quick: bool,
    out: Path | None = None,
    waves: int | None = None,
    overrides: Sequence[str] = (),
    progress: Progress | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    keep: bool = False,
    on: Cluster | None = None,
) -> InferenceDocument:
    """Infers the unknowns of an experiment and returns the document of `inference.json`.

    `overrides` set fields of its scenario. `keep`: the inferred set and the predictions also go
    into the experiment's own folder, where predictions that were written stay as they are.
    """
    check_installed()
    experiment = _changed(experiments.load(name), overrides)
    inference = spec.load(experiment)
    if keep:
        files.place(experiment.folder)
    folder = out if out is not None else registry.default_folder(f"{experiment.name}-infer", quick)
    store = Store.open(folder, fresh=fresh)
    laboratory = Laboratory(store, progress=progress, jobs=jobs, on=on)
    with laboratory.resumable():
        found = infer(
            experiment, inference, laboratory, quick=quick, most_waves=waves, notify=_notify
        )
    return _written(found, folder, store, _command(name, quick, waves, overrides), keep)


def check_installed() -> None:
    """Refuses to go on without the optional packages for emulators and Sobol' indices."""
    for module, package in (("sklearn", "scikit-learn"), ("SALib", "SALib"), ("scipy", "scipy")):
        if importlib.util.find_spec(module) is None:
            raise AqmlabError(
                f"aqmlab infer needs the package {package}: pip install 'aqmlab[infer]'"
            )


def _changed(experiment: Experiment, overrides: Sequence[str]) -> Experiment:
    scenario = experiment.scenario
    for path, value in map(parse_override, overrides):
        scenario = set_path(scenario, path, value)
    return replace(experiment, scenario=scenario)


def _notify(wave: Wave, number: int) -> None:
    say(
        f"wave {number}: {wave.points} points leave {wave.share:.2g} of what was possible "
        f"(implausibility up to {CUT:g})"
    )


def _written(
    found: InferenceResult, folder: Path, store: Store, command: str, keep: bool
) -> InferenceDocument:
    described: InferenceDocument = {**verdicts.document(found), "command": command}
    documents = files.documents(found.predictions, found.values, command)
    with reported(folder):
        store.write_json(DOCUMENT, described)
        store.write(PAGE, page.text(found, described).encode())
        for name, content in documents.items():
            store.write(name, content)
        store.write_manifest({"study": f"{described['study']}, inferred"})
    if keep:
        home = found.bench.experiment.folder
        with reported(home):
            files.keep(home, documents)
    return {**described, "folder": str(folder), "report": str(folder / PAGE)}


def _command(name: str, quick: bool, waves: int | None, overrides: Sequence[str]) -> str:
    words = ["aqmlab", "infer", name, "--quick" if quick else "--full"]
    words += ["--waves", str(waves)] if waves is not None else []
    return " ".join(words + [f"--set {one}" for one in overrides])
