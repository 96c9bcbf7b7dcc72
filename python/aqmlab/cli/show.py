"""Results for human eyes: rich tables of the figures that matter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aqmlab.simulator import measures
from aqmlab.simulator.forms import Measure
from aqmlab.simulator.renamed import Numbers
from aqmlab.tables import measure

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from aqmlab.runs.calibrate import Calibration
    from aqmlab.tables.result import Result


SHOWN = (
    *("queue_mean_packets", "queue_max_packets", "queue_delay_mean_s"),
    *("queue_delay_p50_s", "queue_delay_p99_s", "drop_rate", "marks", "utilisation"),
    *("throughput_bytes_per_s", "responses", "responses_failed"),
    *(f"response_p{percent}_s" for percent in (10, 50, 90, 99)),
    *("share_le_1s", "share_1_2s", "share_2_3s", "share_gt_3s"),
    *("page_load_p50_s", "page_load_p95_s", "long_flow_goodput_mean_bits_per_s", "jain_index"),
    *("video_bitrate_mean_bits_per_s", "video_rebuffer_ratio", "video_switches_per_min"),
    *("video_startup_p50_s", "voip_r_mean", "voip_mos_mean", "voip_share_r_ge_70"),
    "voip_mouth_to_ear_mean_s",
    *("tcp_rtt_min_s", "tcp_rtt_p50_s", "tcp_rtt_p99_s"),
    *("rtc_frame_delay_p50_s", "rtc_frame_delay_p95_s", "rtc_freezes_per_min"),
    *("rtc_received_bits_per_s", "rtc_lost_share"),
)
"""The measures of the human summary."""
OF_GROUPS = {
    "transfers.": ("finished", ("elapsed_s",)),
    "datagrams.": ("sent", ("loss_share", "delay_p50_s", "delay_p95_s", "share_in_time")),
}
"""Columns for groups: those of a row are shown for every group that has the row's first measure."""
HEADS = {
    "queue_mean_packets": "queue pkts",
    "queue_delay_mean_s": "delay ms",
    "queue_delay_p99_s": "p99 delay",
    "drop_rate": "loss %",
    "utilisation": "util %",
    "response_p50_s": "p50 ms",
    "response_p90_s": "p90 ms",
    "share_le_1s": "<=1s %",
    "share_gt_3s": ">3s %",
    "page_load_p50_s": "page p50 s",
    "page_load_p95_s": "page p95 s",
    "video_bitrate_mean_bits_per_s": "video Mb/s",
    "video_rebuffer_ratio": "frozen %",
    "voip_r_mean": "R",
}
"""In tables with a row for each variant."""
GROUP_HEADS = {"elapsed_s": "s", "loss_share": "lost %", "share_in_time": "in time %"}
"""Heads of columns after the group's name."""


@dataclass(frozen=True)
class Figure:
    """One line of the human summary: how a summary number is shown."""

    field: str
    title: str
    unit: str = ""
    scale: float = 1.0
    digits: int = 1
    head: str = ""

    @classmethod
    def of(cls, field: str, group: str = "") -> Figure:
        """A measure as it is registered, perhaps one of a group."""
        about = measures.find(field)
        title = about["title"] if about else field
        head = f"{group} {GROUP_HEADS.get(field.rpartition('.')[2], '')}" if group else ""
        return cls(
            field,
            f"{group}: {title}" if group else title,
            _unit(about) if about else "",
            about["scale"] if about else 1.0,
            about["digits"] if about else 1,
            head or HEADS.get(field, ""),
        )

    def number(self, value: float, sign: str = "") -> str:
        """The bare number, scaled."""
        return f"{value * self.scale:{sign},.{self.digits}f}"


def _unit(about: Measure) -> str:
    """The unit as shown, unless the title has named it."""
    unit = about.get("shown", "")
    return "" if unit in about["title"].split() else unit


def result(result: Result, console: Console) -> None:
    """The whole answer to `aqmlab run`."""
    for calibration in result.calibrations:
        console.print(calibration_sentence(calibration))
    if len(result.labels) == 1:
        console.print(_single(result))
    else:
        rows = measure.by_variant(result.runs)
        console.print(_variants(result, rows))
        _differences(result, rows, console)
    if _has_groups(result):
        from . import by_group

        by_group.show(result, console)
    if console.is_terminal:
        from . import sparks

        for line in sparks.lines(result):
            console.print(line, soft_wrap=True)
    console.print(_footnote(result), style="dim")


def calibration_sentence(line: Calibration) -> str:
    """A sentence on a calibration: the slope of its fitted line, the number of IP bytes per user
    and second, with its 95 % interval and R²."""
    low, high = line.ci
    return (
        f"calibrated: {line.bytes_per_user_s:.1f} IP bytes per user and second "
        f"(95 % interval {low:.1f} to {high:.1f}, R² {line.r_squared:.5f})"
    )


def _single(result: Result) -> Table:
    from rich.table import Table

    seeds = len(result.runs)
    title = f"mean ± half 95 % interval of {seeds} seeds" if seeds > 1 else None
    table = Table(
        title=title,
        title_justify="left",
        title_style="",
        show_header=False,
        box=None,
        pad_edge=False,
    )
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column()
    (rows,) = measure.by_variant(result.runs).values()
    for figure in (*map(Figure.of, SHOWN), *_of_groups(rows)):
        row = rows.get(figure.field)
        if row is None or _says_nothing(figure, row, rows):
            continue
        unit = figure.unit if row["mean"] is not None else _why(row["n"], seeds)
        table.add_row(figure.title, plus_minus(figure, row["mean"], row["high"]), unit)
    return table


def _of_groups(rows: Iterable[str]) -> list[Figure]:
    """The figures of every group with transfers or datagrams, by the names in the summary."""
    return [
        Figure.of(f"{prefix}{group}.{name}", group)
        for prefix, (first, names) in OF_GROUPS.items()
        for group in _between(rows, prefix, f".{first}")
        for name in names
    ]


def _between(names: Iterable[str], prefix: str, suffix: str) -> list[str]:
    found = [name for name in names if name.startswith(prefix) and name.endswith(suffix)]
    return [name.removeprefix(prefix).removesuffix(suffix) for name in found]


def _columns(frames: Sequence[Iterable[str]], responses: bool) -> list[Figure]:
    """The columns of a table of variants: of responses none if there were no requests."""
    fields = dict.fromkeys(field for frame in frames for field in frame)
    shown = [Figure.of(name) for name in SHOWN if name in HEADS and name in fields]
    if not responses:
        shown = [f for f in shown if not f.field.startswith(("response_", "share_", "page_"))]
    of_groups = _of_groups(fields)
    return shown + [f for f in of_groups if f.field.rpartition(".")[2] in GROUP_HEADS]


def _has_responses(result: Result) -> bool:
    return any(run.summary.get("requests", run.summary.get("responses", 1)) for run in result.runs)


def _says_nothing(figure: Figure, row: measure.Row, rows: Mapping[str, measure.Row]) -> bool:
    """No failed request; a response time without requests; fairness of one."""
    if figure.field == "responses_failed":
        return row["mean"] == 0
    if figure.field == "responses":
        return not rows.get("requests", row)["mean"]
    if figure.field == "jain_index":
        return not (rows.get("long_flows", {}).get("mean") or 0) > 1
    if figure.field == "long_flow_goodput_mean_bits_per_s":
        return row["mean"] is None
    return row["mean"] is None and not rows.get("responses", {}).get("mean")


def _why(defined: int, seeds: int) -> str:
    """Why a number is undefined."""
    if seeds == 1:
        return "undefined: too many requests failed"
    return f"undefined: {seeds - defined} of {seeds} seeds lost too many requests"


def _variants(result: Result, rows: Mapping[int, measure.OfVariant]) -> Table:
    figures = _columns(list(rows.values()), _has_responses(result))
    if _has_groups(result):  # what theirs came to follows
        figures = [f for f in figures if "." not in f.field and not f.field.startswith(_OF_SOME)]
    seeds = len(result.variant(0))
    title = f"mean ± half 95 % interval of {seeds} seeds" if seeds > 1 else None
    table = grid([f.head for f in figures], title)
    undefined = False
    for own, label in zip(rows.values(), result.labels, strict=True):
        cells = []
        for figure in figures:
            row = own.get(figure.field)
            cells.append("-" if row is None else plus_minus(figure, row["mean"], row["high"]))
            undefined |= row is not None and row["mean"] is None and figure.field in HEADS
        table.add_row(label or result.name, *cells)
    if undefined:
        table.caption = "-: undefined, under some seed too many requests failed or none was made"
        table.caption_justify, table.caption_style = "left", ""
    return table


def _differences(result: Result, rows: Mapping[int, measure.OfVariant], console: Console) -> None:
    base = result.labels[0]
    frames = list(measure.differences(rows).values())
    figures = _columns(frames, _has_responses(result))
    seeds = len(result.variant(0))
    how = "paired by seed, ± half 95 % interval" if seeds > 1 else "one seed: no interval"
    table = grid([f.head for f in figures], f"difference from {base} ({how})")
    for label, frame in zip(result.labels[1:], frames, strict=True):
        cells = []
        for figure in figures:
            row = frame.get(figure.field)
            text = "-" if row is None else plus_minus(figure, row["difference"], row["high"], "+")
            cells.append(text)
        table.add_row(label, *cells)
    console.print(table)


_OF_SOME = ("page_", "video_", "voip_")
"""Measures of some groups' users."""


def _has_groups(result: Result) -> bool:
    """Whether there are several traffic groups."""
    return bool(result.runs) and len(result.runs[0].scenario.get("traffic", [])) > 1


def grid(columns: Sequence[str], title: str | None) -> Table:
    """An empty table whose first column are names."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="", box=box.SIMPLE_HEAD)
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def plus_minus(figure: Figure, middle: float | None, high: float | None, sign: str = "") -> str:
    """A number with half its interval."""
    if middle is None:
        return "-"
    number = figure.number(middle, sign)
    return number if high is None else f"{number} ± {figure.number(high - middle)}"


def _footnote(result: Result) -> str:
    computed = [run for run in result.runs if not run.cached]
    cached = len(result.runs) - len(computed)
    parts = []
    if len(result.runs) == 1:
        parts.append(f"seed {result.runs[0].seed}")
        parts.append(f"fingerprint {result.runs[0].summary.get('fingerprint')}")
    if computed:
        parts.append(_effort([run.summary for run in computed]))
    if cached:
        parts.append(f"{cached} of {len(result.runs)} from an earlier command")
    if result.folder is not None:
        parts.append(f"kept in {result.folder}")
    return "; ".join(parts)


def _effort(summaries: Sequence[Numbers]) -> str:
    """What the runs took: CPU time where it is known, else the time on the wall."""
    lasted = sum(float(summary.get("simulated_s", 0)) for summary in summaries)
    if any("live" in summary for summary in summaries):
        return f"{lasted:,.0f} s in real time"
    spent = [float(s["cpu_s"]) for s in summaries if s.get("cpu_s") is not None]
    if len(spent) < len(summaries):
        wall = sum(float(summary.get("wall_s", 0)) for summary in summaries)
        return f"{lasted:,.0f} s simulated; the runs lasted {wall:.1f} s in all"
    cpu = math.fsum(spent)
    speed = f", {lasted / cpu:,.0f} x real time per core" if cpu > 0 else ""
    return f"{lasted:,.0f} s simulated in {cpu:.1f} s of CPU time{speed}"
