"""The most important numbers of every queue and every traffic group of a run.

The report of any run and the console both use them. A column has the paths of its number in a
summary; title, unit and scale are those of the measure at this path.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from aqmlab.experiment.grammar import Metric
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.simulator import engine, measures

from . import measure

ALL = "all"
"""The row of all groups together."""

Values = dict[str, float]
Places = Mapping[str, Values]
"""Numbers by the name of the row (a queue or a group) and column."""


@dataclass(frozen=True)
class Column:
    """A column: the path of its number for one row (`{}`), and for all rows together (`total`)."""

    name: str
    place: str
    total: str = ""
    of: str = "fetches"
    """The kind of groups that the total covers: if there is only one such group, the total is its
    number."""
    head: str = ""
    """A short title for narrow tables."""

    @cached_property
    def metric(self) -> Metric:
        """The column as a metric with title, unit, digits and scale."""
        known = measures.defaults(self.place.format("x")) or measures.defaults(self.total)
        known = known or {"title": self.name, "unit": "", "digits": 1}
        return Metric(name=self.name, summary=self.total or None, **known)


QUEUE = tuple(
    Column(name, f"ports.{{}}.{name}", head=head)
    for name, head in (
        ("queue_delay_mean_s", "delay"),
        ("queue_delay_p99_s", "delay p99"),
        ("queue_time_mean_packets", "queue"),
        ("queue_max_packets", "largest"),
        ("drop_rate", "loss"),
        ("mark_rate", "marked"),
        ("utilisation", "used"),
        ("throughput_bytes_per_s", "through"),
    )
)
"""The columns with measures of every recorded queue."""


def _column(name: str, family: str, head: str, total: str = "", of: str = "fetches") -> Column:
    return Column(name, f"{family}.{{}}.{name}", total or name, of, head)


REQUESTS = (
    _column("requests", "by_group", "requests"),
    _column("responses", "by_group", "ended"),
    Column("requests_open_at_end", "by_group.{}.open", "requests_open_at_end", head="open"),
    _column("responses_failed", "by_group", "failed"),
    _column("response_p50_s", "by_group", "p50"),
    _column("response_p99_s", "by_group", "p99"),
    _column("pages", "by_group", "pages"),
    _column("page_load_p50_s", "by_group", "page p50"),
    _column("page_load_p95_s", "by_group", "page p95"),
)
DATAGRAMS = (
    Column("delay_p50_s", "datagrams.{}.delay_p50_s", head="delay p50"),
    Column("delay_p99_s", "datagrams.{}.delay_p99_s", head="delay p99"),
    Column("loss_share", "datagrams.{}.loss_share", head="lost"),
    _column("r_mean", "voip_by_group", "R", "voip_r_mean", "voip"),
    _column("mos_mean", "voip_by_group", "MOS", "voip_mos_mean", "voip"),
)
_VIDEO = (
    ("bitrate_mean_bits_per_s", "video"),
    ("stalls", "stalls"),
    ("rebuffer_ratio", "frozen"),
    ("startup_p50_s", "start"),
)
VIDEO = tuple(
    _column(name, "video_by_group", head, f"video_{name}", "video") for name, head in _VIDEO
)
FLOWS = (
    Column("elapsed_s", "transfers.{}.elapsed_s", head="took"),
    Column("goodput_bits_per_s", "", "long_flow_goodput_mean_bits_per_s", "long", "a flow"),
)


_TOTALS = ("fetches", "voip", "video", "long")
"""Kinds of groups for which a summary has totals."""


@dataclass(frozen=True)
class Kind:
    """Rows of one kind, and their columns."""

    id: str
    title: str
    row: str
    """The subject of a row: a queue or a group."""
    columns: tuple[Column, ...]
    of: Callable[[FinishedRun], Places]


def queues(run: FinishedRun) -> Places:
    """The numbers of every recorded queue; those of a single queue are in the summary itself."""
    flat = measure.numbers(run.summary)
    ports = list(run.summary.get("ports", {}))
    if not ports and (lone := run.summary.get("studied_port")):
        ports = [lone]
        flat |= {column.place.format(lone): flat.get(column.name) for column in QUEUE}
    return {port: _row(flat, QUEUE, port) for port in ports}


def groups(run: FinishedRun) -> Places:
    """The numbers of every traffic group, and of all together if there are several."""
    flat = measure.numbers(run.summary)
    resolved = engine.resolve(run.scenario)["groups"]
    named = list(zip(run.scenario["traffic"], resolved, strict=True))
    kinds = [_kinds(str(one.get("app"))) for one, _ in named]
    there = {kind for kind in _TOTALS if any(kind in each for each in kinds)}
    alone = {kind for kind in there if sum(kind in each for each in kinds) == 1}
    found = {
        way["name"]: _row(flat, _GROUP, way["name"], alone & kind)
        for (_, way), kind in zip(named, kinds, strict=True)
    }
    if len(found) > 1:
        found[ALL] = _row(flat, _GROUP, None, there)
    return {name: row for name, row in found.items() if row}


KINDS = (
    Kind("queues", "Queues", "queue", QUEUE, queues),
    Kind("requests", "Requests and pages", "group", REQUESTS, groups),
    Kind("datagrams", "Datagrams and calls", "group", DATAGRAMS, groups),
    Kind("videos", "Videos", "group", VIDEO, groups),
    Kind("flows", "Transfers and long flows", "group", FLOWS, groups),
)
_GROUP = (*REQUESTS, *DATAGRAMS, *VIDEO, *FLOWS)


def of_kind(kind: Kind, runs: Sequence[FinishedRun]) -> dict[str, dict[str, list[float]]]:
    """The numbers of runs under several seeds, by row and column, as far as all seeds have them."""
    every = [kind.of(run) for run in runs]
    found = {}
    for name in every[0]:
        columns = {
            column.name: [places[name][column.name] for places in every]
            for column in kind.columns
            if all(column.name in places.get(name, {}) for places in every)
        }
        if columns:
            found[name] = columns
    if len(found) == 2:
        found.pop(ALL, None)  # with a single group the row of all repeats its numbers
    return found


def _kinds(app: str) -> set[str]:
    """The totals that a group of this application contributes to."""
    about = engine.application(app) or {}
    kinds = {app} & {"voip", "video"}
    kinds |= {"fetches"} if about.get("fetches") else set()
    return kinds | ({"long"} if app == "bulk" else set())


def _row(
    flat: Mapping[str, float | None],
    columns: Sequence[Column],
    name: str | None,
    totals: set[str] | frozenset[str] = frozenset(),
) -> Values:
    """The numbers of a row that the summary has; undefined ones are NaN."""
    row: Values = {}
    for column in columns:
        places = [column.place.format(name)] if name is not None else []
        places += [column.total] if column.of in totals and column.total else []
        for place in places:
            if place in flat:
                value = flat[place]
                row[column.name] = math.nan if value is None else value * column.metric.scale
                break
    return row


QUIET = ("responses_failed", "mark_rate", "requests_open_at_end", "stalls", "rebuffer_ratio")
"""Columns that are shown only if one of their values is not zero."""


def shown(kind: Kind, rows: Iterable[Mapping[str, Sequence[float]]]) -> list[Column]:
    """The columns that have a value to show in these rows."""
    every = list(rows)
    return [
        column
        for column in kind.columns
        if any(
            math.isfinite(value) and (value != 0 or column.name not in QUIET)
            for row in every
            for value in row.get(column.name, ())
        )
    ]
