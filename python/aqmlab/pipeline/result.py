"""The result that users get, with methods that draw it, from a run or from a results folder."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import aqmlab
from aqmlab.errors import SpecError, StoreError, nearest
from aqmlab.experiment import experiment
from aqmlab.io.documents import Document
from aqmlab.runs.contents import MANIFEST
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.runs.run_files import key_of
from aqmlab.runs.store import Store
from aqmlab.tables import result as tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from aqmlab.figures.plots import Plots


class ListedRun(TypedDict):
    """A run in the list of a folder's manifest: its folder, variant, label, axis values and
    seed."""

    folder: str | None
    variant: int
    label: str
    values: dict[str, str]
    seed: int


class Result(tables.Result):
    """The result of a study, from which figures can be drawn."""

    @property
    def plot(self) -> Plots:
        """The figures of the result: `result.plot()` for an overview, and `result.plot.trace()`,
        `.cdf()`, `.tail()`, `.lines()`, `.heatmap()`."""
        from aqmlab.figures.plots import Plots

        return Plots(self)


def load(folder: Path) -> Result:
    """The result in a results folder; nothing is run, except for runs that are found damaged when
    they are used."""
    store = Store.existing(folder)
    manifest = store.manifest
    with believed(folder):
        rows = _rows(store, manifest)
        _check(rows, manifest.get("sweep") or {})
    if not rows:
        raise StoreError(f"{folder} holds no finished runs: give a folder of `aqmlab run` or study")
    found = [run for row in rows if (run := _finished(store, row)) is not None]
    if len(found) < len(rows):
        raise StoreError(
            f"{folder} lacks {len(rows) - len(found)} of its {len(rows)} runs: give the command "
            "that wrote it again"
        )
    axes = ()
    if sweep := manifest.get("sweep"):
        sweep = {path: _labelled(path, values, rows) for path, values in sweep.items()}
        document = {**manifest["scenario"], "sweep": {**sweep, "seeds": 1}}
        axes = experiment.load(_nested(document), kept=True).group[0].axes
    result = Result(manifest.get("name") or folder.name, found, folder=folder, axes=axes)
    with believed(folder):
        for run in found:
            result.values(run)
            _check_scenario(run.scenario)
    return result


def plotted(shown: Sequence[object], kind: str | None, how: Mapping[str, Any]) -> Axes:
    """The picture of one or several results; see `aqmlab.plot`."""
    from aqmlab.figures.plots import KINDS, Plots

    if not shown:
        raise SpecError("nothing to plot: give a result, a folder of results or a scenario")
    if kind not in (None, *KINDS):
        raise SpecError(
            f'no figure "{kind}"{nearest(kind, list(KINDS))} (known: {", ".join(KINDS)})'
        )
    for_runs = {name: how[name] for name in inspect.signature(aqmlab.run).parameters if name in how}
    for_picture = {name: value for name, value in how.items() if name not in for_runs}
    draw = Plots.__call__ if kind is None else getattr(Plots, kind)
    known = [name for name in inspect.signature(draw).parameters if name != "self"]
    for name in for_picture:
        if name not in known:
            hint = nearest(name, known)
            raise SpecError(f'no argument "{name}"{hint} (known: {", ".join(known)})')
    found = [_result_of(one, for_runs) for one in shown]
    one = found[0] if len(found) == 1 else together(found)
    return draw(one.plot, **for_picture)


def _result_of(one: Any, how: Mapping[str, Any]) -> Result:
    """The result for an argument: a result itself, one from a folder, or that of running a
    scenario."""
    if isinstance(one, Result):
        return one
    if isinstance(one, str | os.PathLike) and Path(one).is_dir():
        return load(Path(one))
    return aqmlab.run(one, **how)


def together(results: Sequence[Result]) -> Result:
    """Several results combined as variants of one, each under its name, numbered if names
    repeat."""
    names = [result.name for result in results]
    if len(set(names)) < len(names):
        names = [f"{name} ({place})" for place, name in enumerate(names, 1)]
    runs, before = [], 0
    for name, result in zip(names, results, strict=True):
        several = len(result.labels) > 1
        runs += [
            replace(
                run,
                variant=before + run.variant,
                label=f"{name}: {run.label}" if several else name,
            )
            for run in result.runs
        ]
        before = 1 + max(run.variant for run in runs)
    return Result(" and ".join(names), runs)


def _check_scenario(scenario: Mapping[str, Any]) -> None:
    """Raises an error if a run's complete scenario does not have the form that figures need."""
    for name in ("link", "traffic"):
        if not isinstance(scenario[name], list):
            raise TypeError
        if not all(
            isinstance(one, dict) and isinstance(one["name"], str) for one in scenario[name]
        ):
            raise TypeError
    queues = [link[side] for link in scenario["link"] for side in ("forward", "reverse")]
    if not all(isinstance(queue["aqm"], str | dict) for queue in queues):
        raise TypeError


@contextlib.contextmanager
def believed(folder: Path) -> Iterator[None]:
    """Turns errors of reading a manifest, which may be a stranger's, into a StoreError of one
    sentence."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise StoreError(
            f"{folder}: its {MANIFEST} is none that aqmlab wrote: give the command again that "
            "wrote the folder"
        ) from error


def _check(rows: Sequence[ListedRun], sweep: Mapping[str, object]) -> None:
    """Raises an error if the runs of a manifest, which may be a stranger's, do not have the right
    form."""
    wanted = {"variant": int, "label": str, "values": dict, "seed": int}
    for row in rows:
        if not all(isinstance(row[name], kind) for name, kind in wanted.items()):
            raise TypeError
        if not isinstance(row["folder"], str | None) or not set(sweep) <= set(row["values"]):
            raise TypeError
    if not all(isinstance(values, list) for values in sweep.values()):
        raise TypeError


def _labelled(path: str, values: object, rows: Sequence[ListedRun]) -> object:
    """The values of a sweep's axis, where each value that is a table gets its label. Labels come
    from the list of runs, since these tables have none in a manifest."""
    labels = list(dict.fromkeys(row["values"].get(path) for row in rows))
    if not isinstance(values, list) or len(labels) != len(values):
        return values
    named = zip(values, labels, strict=True)
    return [{**v, "label": label} if isinstance(v, dict) else v for v, label in named]


def _nested(document: Document) -> Document:
    scenario = {key: value for key, value in document.items() if key != "sweep"}
    return {"scenario": scenario, "sweep": document["sweep"]}


def _rows(store: Store, manifest: Document) -> list[ListedRun]:
    """Every run that the folder lists: a sweep's in its manifest, a study's in its table."""
    if "study" not in manifest:
        return list(manifest.get("runs", []))
    import polars as pl

    frame = pl.read_parquet(store.folder / "tables" / "runs.parquet")
    numbers: dict[str, int] = {}
    return [
        {
            "folder": row["folder"],
            "variant": numbers.setdefault(row["key"], len(numbers)),
            "label": row["run"],
            "values": {},
            "seed": row["seed"],
        }
        for row in frame.select("folder", "key", "run", "seed").iter_rows(named=True)
    ]


def _finished(store: Store, row: ListedRun) -> FinishedRun | None:
    stored = store.find(key_of(Path(row["folder"] or "-")))
    if stored is None:
        return None
    place = (row["variant"], row["label"], row["values"], row["seed"])
    scenario = stored.manifest["scenario"]
    return FinishedRun(*place, scenario, cached=True, stored=stored)
