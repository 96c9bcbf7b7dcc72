"""A user's own disciplines and congestion controls in an experiment that does not name them
(`--aqm`, `--cc`).

An axis over several disciplines gets each given discipline as one more variant, and an axis over
congestion controls each given control. An experiment without such an axis studies the given
discipline in place of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.errors import SpecError
from aqmlab.simulator.forms import ProgramTable, Queue
from aqmlab.simulator.plugin import source

from .grammar import Axis, Figure, Group, Variant
from .spec import set_path

if TYPE_CHECKING:
    from .experiment import Experiment

KEPT = ("limit", "limit_bytes", "ecn")
"""Fields that a discipline takes over from the one that it replaces, if it has them."""


def with_own(experiment: Experiment, given: Sequence[object]) -> Experiment:
    """The experiment with these disciplines and controls added, each given by a file name
    (`my_aqm.py:MyAqm`) or as a class."""
    tables = [_table(each) for each in given]
    axes: set[str] = set()
    groups = tuple(_group(group, tables, axes) for group in experiment.group)
    if not axes:
        return _in_place(experiment, tables)
    names = [table["name"] for table in tables]
    figures = tuple(_figure(figure, names, axes) for figure in experiment.figure)
    return replace(experiment, group=groups, figure=figures)


def _table(given: object) -> ProgramTable:
    if isinstance(given, type):
        return source.of_class(given)
    if not isinstance(given, str) or not source.names_file(given):
        raise SpecError(
            f'--aqm "{given}" names no file: give FILE.py, FILE.py:CLASS or a shared library'
        )
    return source.table(given, Path())


def _group(group: Group, tables: Sequence[ProgramTable], axes: set[str]) -> Group:
    return replace(group, axes=tuple(_axis(axis, tables, axes) for axis in group.axes))


def _axis(axis: Axis, tables: Sequence[ProgramTable], axes: set[str]) -> Axis:
    """The axis with one more variant for each given discipline or control of the kind that it
    varies."""
    own = [
        _variant(model, table)
        for table in tables
        for model in _models(axis, "congestion" if _is_control(table) else "aqm")
    ]
    if not own:
        return axis
    axes.add(axis.name)
    quick = (*axis.quick, *(v.name for v in own)) if axis.quick is not None else None
    return replace(axis, variants=(*axis.variants, *own), quick=quick)


def _models(axis: Axis, kind: str) -> list[Variant]:
    """The first variant that names a discipline (or control), if the axis has several of them; it
    is the model for new variants."""
    several = {
        str(place[kind]) for variant in axis.variants for place in _places(variant, kind).values()
    }
    if len(several) < 2:
        return []
    return [next(variant for variant in axis.variants if _places(variant, kind))]


def _is_control(table: ProgramTable) -> bool:
    return source.described(table).get("kind") == "congestion"


def _places(variant: Variant, kind: str) -> dict[str, Queue]:
    """The queues (aqm) or end systems (congestion) that a variant sets, by path."""
    return {p: v for p, v in variant.set.items() if isinstance(v, Mapping) and kind in v}


def _variant(model: Variant, table: ProgramTable) -> Variant:
    if _is_control(table):
        ends = _places(model, "congestion").items()
        own = {path: {**end, "congestion": {"name": dict(table)}} for path, end in ends}
    else:
        own = {path: _queue(table, queue) for path, queue in _places(model, "aqm").items()}
    return replace(model, name=table["name"], label=None, published={}, set={**model.set, **own})


def _queue(table: ProgramTable, instead: object) -> Queue:
    """A queue of this discipline that replaces another queue."""
    fields = {field["name"] for field in source.described(table).get("fields", [])}
    had = instead if isinstance(instead, Mapping) else {}
    return {"aqm": dict(table), **{k: had[k] for k in KEPT if k in had and k in fields}}


def _figure(figure: Figure, names: Sequence[str], axes: Collection[str]) -> Figure:
    """The figure with the new variants added to those that it draws in colour."""
    marked = figure.of.get("mark")
    if not isinstance(marked, list) or figure.of.get("curve") not in axes:
        return figure
    return replace(figure, of={**figure.of, "mark": [*marked, *names]})


def _in_place(experiment: Experiment, tables: Sequence[ProgramTable]) -> Experiment:
    """The experiment with the given discipline in its studied queue, `link.0.forward`."""
    if len(tables) != 1:
        raise SpecError(
            f"{experiment.name} goes through no disciplines: give one --aqm, or a sweep of "
            '"link.0.forward.aqm"'
        )
    if _is_control(tables[0]):
        raise SpecError(
            f"{experiment.name} goes through no congestion controls: set one, --set "
            "traffic.0.tcp.congestion=FILE"
        )
    links = experiment.scenario.get("link") or [{}]
    queue = _queue(tables[0], links[0].get("forward"))
    return replace(experiment, scenario=set_path(experiment.scenario, "link.0.forward", queue))
