"""Reads a folder of `aqmlab run` back as a dataset for tables, figures and reports."""

from __future__ import annotations

import math
from pathlib import Path

from aqmlab.errors import StoreError
from aqmlab.experiment import plan
from aqmlab.experiment.experiment import Experiment, load
from aqmlab.io.documents import Document
from aqmlab.runs.laboratory import FinishedRun, Laboratory
from aqmlab.runs.run_files import key_of
from aqmlab.runs.store import Store
from aqmlab.tables.dataset import Dataset

from .result import ListedRun, believed
from .study import Study


def report(folder: Path) -> Path:
    """Writes the report of the runs in a folder; nothing is run again."""
    store = Store.existing(folder)
    experiment, dataset = read(store)
    remarks = store.manifest.get("remarks", [])
    study = Study(experiment)
    study.report(dataset, experiment.parts, True, remarks, Laboratory(store), store)
    return folder / "report.html"


def read(store: Store) -> tuple[Experiment, Dataset]:
    """The experiment that a folder's manifest describes, and its runs."""
    manifest = store.manifest
    if "sweep" not in manifest:
        raise StoreError(
            f"{store.folder} holds no finished `aqmlab run`: give the same command again"
        )
    with believed(store.folder):
        experiment = load(_document(manifest), kept=True)
        settings = experiment.setting(quick=False)
        made = plan.make(experiment, settings, lambda *_: {}, experiment.group)
        results = {
            (made.cells[entry["variant"]].key, entry["seed"]): _run(store, entry)
            for entry in manifest["runs"]
        }
    return experiment, Dataset(made, settings, results, {}, {}, experiment.metrics)


def _document(manifest: Document) -> Document:
    """The sweep of a manifest in the form of a file, with labels of the values."""
    sizes = {path: len(values) for path, values in manifest["sweep"].items()}
    labels: dict[str, dict[int, str]] = {path: {} for path in sizes}
    for entry in manifest["runs"]:
        rest = math.prod(sizes.values())
        for path, size in sizes.items():
            rest //= size  # the first axis varies slowest
            labels[path][entry["variant"] // rest % size] = entry["values"][path]
    swept: Document = {
        path: [
            {"label": labels[path][place], **value} if isinstance(value, dict) else value
            for place, value in enumerate(values)
        ]
        for path, values in manifest["sweep"].items()
    }
    swept["seeds"] = manifest["seeds"]
    return {"name": manifest["name"], "scenario": manifest["scenario"], "sweep": swept}


def _run(store: Store, entry: ListedRun) -> FinishedRun:
    stored = store.find(key_of(Path(entry["folder"] or "-")))
    if stored is None:
        raise StoreError(
            f"{store.folder / str(entry['folder'])} is missing or damaged: give the same "
            "`aqmlab run` again"
        )
    place = (entry["variant"], entry["label"], entry["values"], entry["seed"])
    scenario = stored.manifest["scenario"]
    return FinishedRun(*place, scenario, cached=True, stored=stored)
