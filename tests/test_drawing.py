"""From runs to figures: what is drawn of which cell, checked on runs made up by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from aqmlab import figures
from aqmlab.errors import SpecError
from aqmlab.experiment.grammar import Metric, Settings
from aqmlab.experiment.plan import Cell, Plan
from aqmlab.figures.kinds.curve import probability
from aqmlab.figures.kinds.lines import number
from aqmlab.figures.kinds.slow_start import follow
from aqmlab.figures.sources import Dataset, Drawing, described, mean_band, titled
from aqmlab.intervals import interval

LOST, FLYING = 2**64 - 1, 2**64 - 2
METRICS = {
    "elapsed": Metric(
        name="elapsed",
        summary="transfers.burst.elapsed_s",
        title="Elapsed time",
        unit="s",
        digits=1,
    ),
    "drops": Metric(
        name="drops", summary="drop_rate", scale=100.0, title="Dropped", unit="%", digits=1
    ),
}
SCENARIO = {
    "warmup": "1 s",
    "record": {"queues": ["wired.forward", "edge.forward"]},
    "link": [{"name": "edge", "forward": {"aqm": "red", "min_th": 3.0, "max_th": 9.0}}],
}


class FakeRun:
    """A run of which only what a test needs is known."""

    def __init__(self, summary: dict | None = None, **tables: dict):
        self.summary = summary or {}
        self.tables = {
            name: {column: np.asarray(values) for column, values in columns.items()}
            for name, columns in tables.items()
        }
        self.scenario = SCENARIO

    def has(self, name: str) -> bool:
        return name in self.tables

    def columns(self, name: str) -> dict:
        return self.tables[name]


def dataset(cells: list[tuple[str, dict, list[FakeRun]]], **more) -> Dataset:
    """Cells as their group, their axes and their runs, seed by seed."""
    listed, results, seeds = [], {}, {}
    for index, (group, axes, runs) in enumerate(cells):
        labels = {name: f"{value}" for name, value in axes.items()}
        listed.append(Cell(group, axes, labels, f"k{index}"))
        results |= {(f"k{index}", seed): run for seed, run in enumerate(runs, start=1)}
        seeds[group] = tuple(range(1, len(runs) + 1))
    plan = Plan(listed, {cell.key: SCENARIO for cell in listed}, seeds)
    given = {"calibrations": {}, "tables": {}, "metrics": METRICS} | more
    return Dataset(plan=plan, settings=Settings(seeds=1, warmup="1 s"), results=results, **given)


def histogram(*counts: int) -> dict:
    return {"upper_ms": [100.0, 1000.0, 20_000.0, math.inf], "count": counts}


def drawn(kind: str, spec: dict, of: Dataset) -> Drawing:
    """What is drawn; that the figure can be drawn of it is checked on the way."""
    found = collected(kind, spec, of)
    assert found is not None
    assert "<svg" in figures.to_svg(figures.kind(kind).picture(NEEDED | spec, found.data))
    return found


NEEDED = {"id": "1", "part": "p", "title": "T", "caption": "", "axis": "a"}


def collected(kind: str, spec: dict, of: Dataset, **more) -> Drawing | None:
    """What is drawn, or None."""
    return figures.kind(kind).drawing({"kind": kind} | NEEDED | spec, of, **more)


BY_AQM = {"group": "g", "curve": "aqm"}


def two(name: str, first: list[dict], second: list[dict]) -> Dataset:
    """Two cells, red and pi, whose runs have one table each."""
    return dataset(
        [
            ("g", {"aqm": "red"}, [FakeRun(**{name: table}) for table in first]),
            ("g", {"aqm": "pi"}, [FakeRun(**{name: table}) for table in second]),
        ]
    )


EMPTY = {
    "curve": {"laws": [{"label": "RED", "min_th": 5, "max_th": 15, "max_p": 0.1}]},
    "slow-start": {
        "rate": "200 kbit/s",
        "rtt": "402 ms",
        "packet_bytes": 1500,
        "w_q": 0.002,
        "max_th": 9,
    },
}


def test_figures_and_drawings_go_by_the_same_names():
    assert set(figures.of_studies()) == set(figures.KINDS) - {"distributions", "load", "portrait"}


NO_CELL: list[tuple] = []
NO_TABLE = [("g", {"aqm": "red"}, [FakeRun()])]


@pytest.mark.parametrize("kind", sorted(set(figures.of_studies()) - set(EMPTY) - {"linearity"}))
@pytest.mark.parametrize("cells", [NO_CELL, NO_TABLE])
def test_nothing_to_draw_is_no_figure(kind, cells):
    spec = BY_AQM | {"metric": "drops", "x": "aqm", "table": "absent", "axis": "", "column": "c"}
    spec |= {"rows": [], "on": ["aqm"], "columns": "aqm", "y": "aqm", "boxes": [], "arrows": []}
    if kind == "flow-chart":  # of a scenario, not of a table
        cells = NO_CELL
    assert collected(kind, spec, dataset(cells)) is None


def test_no_load_was_measured():
    assert collected("linearity", BY_AQM, dataset([])) is None
    assert collected("linearity", {"source": "calibration"}, dataset([])) is None
    open_loop = dataset([], calibrations={"pm": {"open_loop": True}})
    spec = {"source": "calibration", "base": "pm"}
    assert collected("linearity", spec, open_loop) is None


CHART = {
    "group": "g",
    "boxes": [
        {"name": "full", "text": "More than {limit} wait?", "at": [0, 0], "test": True},
        {"name": "drop", "text": "Drop", "at": [1, 0]},
    ],
    "arrows": [{"pair": ["full", "drop"], "label": "yes"}],
}


def test_a_flow_chart_has_the_parameters_that_run():
    run = FakeRun()
    run.scenario = {"link": [{"forward": {"aqm": "droptail", "limit": 17}}]}
    of = dataset([("g", {}, [run])])
    assert drawn("flow-chart", CHART, of).data["boxes"][0]["text"] == "More than 17 wait?"
    with pytest.raises(SpecError, match="'limits', which the discipline has not"):
        boxes = [{"name": "full", "text": "{limits}", "at": [0, 0]}]
        collected("flow-chart", CHART | {"boxes": boxes, "arrows": []}, of)
    with pytest.raises(SpecError, match="an arrow to late, which is no box"):
        collected("flow-chart", CHART | {"arrows": [{"pair": ["full", "late"]}]}, of)


class TestSamples:
    CELLS = (
        ("base", {}, [FakeRun(response_histogram=histogram(10, 0, 0, 0))]),
        ("g", {"aqm": "red", "load": "90%"}, [FakeRun(response_histogram=histogram(5, 5, 0, 0))]),
        ("g", {"aqm": "pi", "load": "90%"}, [FakeRun(response_histogram=histogram(0, 10, 0, 0))]),
    )

    def test_curves_of_several_groups(self):
        spec = {
            "curves": [
                {"group": "base", "label": "uncongested"},
                {"group": "g", "where": {"load": "90%"}, "curve": "aqm"},
                {"group": "g", "where": {"load": "98%"}, "label": "not run"},
                {"group": "full-only", "label": "not run"},
            ]
        }
        curves = drawn("cdf", spec, dataset(list(self.CELLS))).data["curves"]
        assert [c["label"] for c in curves] == ["uncongested", "red", "pi"]
        assert [c["percent"][50] for c in curves] == [100, 50, 0]  # at 250 ms

    def test_an_entry_takes_what_it_lacks_from_the_figure(self):
        spec = {
            "group": "g",
            "where": {"load": "90%"},
            "curves": [{"curve": "aqm", "label": "with"}],
        }
        curves = drawn("cdf", spec, dataset(list(self.CELLS))).data["curves"]
        assert [c["label"] for c in curves] == ["with red", "with pi"]


class TestDistributions:
    RED = ([histogram(50, 40, 8, 2), histogram(70, 20, 8, 2)], [histogram(10, 80, 10, 0)] * 2)

    def test_cdf_to_another_end_with_the_interval_of_every_place(self):
        found = drawn("cdf", BY_AQM | {"upto_ms": 10_000}, two("response_histogram", *self.RED))
        red = found.data["curves"][0]
        assert red["x_ms"][-1] == 10_000
        at = int(np.searchsorted(red["x_ms"], 500))
        mean, low, high = interval([50, 70])
        assert red["percent"][at] == mean
        assert (red["low"][at], red["high"][at]) == (pytest.approx(low), pytest.approx(high))
        assert found.note == "Mean of 2 seeds; bands: 95 % intervals."

    def test_cdf_of_another_table(self):
        found = drawn(
            "cdf", BY_AQM | {"table": "pages", "axis": "page time (ms)"}, two("pages", *self.RED)
        )
        assert len(found.data["curves"]) == 2

    def test_a_table_with_a_block_for_every_traffic_group(self):
        blocks = {"upper_ms": [100.0, 1000.0] * 2, "count": [10, 0, 0, 30], "group": [0, 0, 1, 1]}
        of = two("response_histogram", [blocks], [blocks])
        every = drawn("cdf", BY_AQM, of).data["curves"][0]
        assert every["percent"][[50, 200]].tolist() == [25, 100]
        second = drawn("cdf", BY_AQM | {"traffic": [1]}, of).data["curves"][0]
        assert second["percent"][[50, 200]].tolist() == [0, 100]
        assert collected("cdf", BY_AQM | {"traffic": [7]}, of) is None

    @pytest.mark.parametrize(
        ("kind", "name", "good", "empty"),
        [
            ("cdf", "response_histogram", histogram(1, 0, 0, 0), histogram(0, 0, 0, 0)),
            (
                "sizes",
                "response_sizes",
                {"upto_bytes": [10], "responses": [1], "bytes": [9]},
                {"upto_bytes": [10], "responses": [0], "bytes": [0]},
            ),
        ],
    )
    def test_a_cell_is_left_out_if_a_run_has_no_distribution(self, kind, name, good, empty):
        found = drawn(kind, BY_AQM, two(name, [good, empty], [good, good]))
        assert [curve["label"] for curve in found.data["curves"]] == ["pi"]

    def test_ccdf_counts_failures_above_everything(self):
        found = drawn("ccdf", BY_AQM, two("response_histogram", *self.RED))
        red, pi = found.data["curves"]
        assert red["x_ms"][-1] == pytest.approx(20_000)
        assert red["share"][-1] == pytest.approx(0.02) and pi["share"][-1] == pytest.approx(0)
        assert red["share"][0] == 1
        assert "10 % (all)" in found.note

    def test_a_single_seed_has_no_band(self):
        cells = [("g", {"aqm": "red"}, [FakeRun(response_histogram=histogram(5, 5, 0, 0))])]
        found = drawn("cdf", BY_AQM, dataset(cells))
        assert found.data["curves"][0]["low"] is None and "no intervals" in found.note

    def test_cells_with_fewer_runs_are_told(self):
        run = FakeRun(response_histogram=histogram(5, 5, 0, 0))
        of = dataset([("base", {}, [run] * 2), ("g", {"aqm": "pi"}, [run] * 3)])
        spec = {"curves": [{"group": "base", "label": "uncongested"}, BY_AQM]}
        assert drawn("cdf", spec, of).note.startswith("Mean of 2 to 3 seeds")

    def test_sizes_by_responses_and_by_bytes(self):
        table = {
            "upto_bytes": [1000, 2000, 4000],
            "responses": [6, 3, 1],
            "bytes": [3000, 4000, 3000],
        }
        short = {"upto_bytes": [1000, 2000], "responses": [9, 1], "bytes": [9000, 1000]}
        responses = drawn("sizes", BY_AQM, two("response_sizes", [table], [short]))
        assert responses.data["curves"][0]["percent"].tolist() == [60, 90, 100]
        assert responses.data["curves"][1]["percent"].tolist() == [90, 100]
        found = drawn(
            "sizes", BY_AQM | {"weight": "bytes"}, two("response_sizes", [table], [short])
        )
        assert found.data["curves"][0]["percent"].tolist() == [30, 70, 100]
        assert "2,000 bytes (red), 1,000 bytes (pi)" in found.note

    def test_seeds_with_other_rows_are_joined(self):
        table = {"upto_bytes": [1000, 2000, 4000], "responses": [6, 3, 1], "bytes": [1, 1, 1]}
        short = {"upto_bytes": [1000, 2000], "responses": [8, 2], "bytes": [1, 1]}
        found = drawn("sizes", BY_AQM, two("response_sizes", [table, short], [short, short]))
        assert found.data["curves"][0]["percent"].tolist() == [70, 95, 100]


def elapsed(*values: float | None) -> list[FakeRun]:
    return [FakeRun({"transfers": {"burst": {"elapsed_s": v}}, "drop_rate": 0.1}) for v in values]


class TestMetrics:
    CELLS = (
        ("g", {"aqm": "red", "n": 1}, elapsed(1.0, 2.0, 3.0)),
        ("g", {"aqm": "red", "n": 6}, elapsed(4.0, None, 5.0)),
        ("g", {"aqm": "pi", "n": 6}, elapsed(7.0, 8.0, 9.0)),
    )
    SPEC = BY_AQM | {"metric": "elapsed", "x": "n"}

    def test_boxes(self):
        found = drawn("boxes", self.SPEC, dataset(list(self.CELLS)))
        (panel,) = found.data["panels"]
        assert panel["places"] == ["1", "6"]
        assert panel["series"] == [
            {"label": "red", "values": [[1, 2, 3], [4, 5]]},
            {"label": "pi", "values": [[], [7, 8, 9]]},
        ]
        assert found.data["value"] == "Elapsed time (s)"
        assert "In 1 of 9 runs the number is undefined" in found.note

    def test_boxes_in_two_panels(self):
        spec = BY_AQM | {
            "x": "n",
            "label": "elapsed (s)",
            "panels": [
                {"metric": "elapsed", "title": "first burst", "where": {"n": 1}},
                {"metric": "elapsed", "title": "later burst", "where": {"n": 6}},
            ],
        }
        first, later = drawn("boxes", spec, dataset(list(self.CELLS))).data["panels"]
        assert first["title"] == "first burst" and len(first["series"]) == 1
        assert later["places"] == ["6"] and len(later["series"]) == 2

    def test_lines_have_gaps_where_a_mean_is_undefined(self):
        found = drawn("lines", self.SPEC, dataset(list(self.CELLS)))
        red, pi = found.data["curves"]
        assert red["x"].tolist() == [1, 6] and red["y"][0] == 2 and math.isnan(red["y"][1])
        assert (red["low"][0], red["high"][0]) == interval([1.0, 2.0, 3.0])[1:]
        assert pi["x"].tolist() == [6] and pi["y"].tolist() == [8]
        assert found.data["places"] is None

    def test_lines_along_names(self):
        cells = [("g", {"n": name}, elapsed(1.0, 2.0)) for name in ("reno", "sack")]
        found = drawn("lines", {"group": "g", "metric": "drops", "x": "n"}, dataset(cells))
        assert found.data["places"] == ["reno", "sack"]
        assert found.data["curves"][0]["y"].tolist() == pytest.approx([10, 10])

    @pytest.mark.parametrize(
        ("value", "expected"), [(30, 30), (0.1, 0.1), ("90%", 90), ("1/4", 0.25)]
    )
    def test_axis_values_as_numbers(self, value, expected):
        assert number(value) == expected

    @pytest.mark.parametrize("value", ["reno", [5, 15], True, "1/0"])
    def test_axis_values_that_are_no_numbers(self, value):
        assert math.isnan(number(value))

    def test_the_band_is_the_interval_of_every_place(self):
        rows = [np.array([1.0, 5.0]), np.array([2.0, np.nan]), np.array([4.0, 7.0])]
        mean, low, high = mean_band(rows)
        assert low is not None and high is not None
        assert (mean[0], low[0], high[0]) == pytest.approx(interval([1.0, 2.0, 4.0]))
        assert np.isnan([mean[1], low[1], high[1]]).all()


QUEUE = {"time_s": [0.0, 1.0, 2.0, 3.0], "edge.forward": [0, 12, 4, 0]}
EVENTS = {
    "time_ns": np.array([1, 15, 18, 20, 40], "u8") * 10**8,
    "event": [2, 2, 0, 2, 2],
    "port": [1, 1, 1, 0, 1],
}


class TestTrace:
    def test_all_that_is_recorded(self):
        queue = QUEUE | {"edge.forward.avg": [0.0, 2.0, 6.5, 4.0]}
        run = FakeRun(queue=queue, trace=EVENTS)
        spec = {"group": "g", "from_s": 0.5, "levels": ["max_th", "limit", ["BDP", 6.7]]}
        found = drawn("trace", spec, dataset([("g", {}, [run, run])]))
        assert found.data["time_s"].tolist() == [1, 2, 3]
        assert found.data["packets"].tolist() == [12, 4, 0]
        assert found.data["average"].tolist() == [2, 6.5, 4]
        assert found.data["drops_s"].tolist() == [1.5]
        assert found.data["levels"] == [("max_th", 9.0), ("BDP", 6.7)]
        assert found.note == "Largest queue: 12 packets, largest average 6.5; 1 packet dropped."

    def test_an_average_in_bytes_says_what_it_counts(self, monkeypatch):
        for name, value in (("queue_in_bytes", True), ("mean_packet_bytes", 500)):
            monkeypatch.setitem(SCENARIO["link"][0]["forward"], name, value)
        run = FakeRun(queue=QUEUE | {"edge.forward.avg": [0.0, 2.0, 6.5, 4.0]})
        found = drawn("trace", {"group": "g"}, dataset([("g", {}, [run])]))
        assert "(average and thresholds count mean packets of 500 B)" in found.note

    def test_only_the_queue(self):
        found = drawn("trace", {"group": "g"}, dataset([("g", {}, [FakeRun(queue=QUEUE)])]))
        assert found.data["average"] is None and len(found.data["drops_s"]) == 0
        assert found.note == "Largest queue: 12 packets."

    def test_a_window_without_samples_is_no_figure(self):
        spec = {"group": "g", "from_s": 100}
        assert collected("trace", spec, dataset([("g", {}, [FakeRun(queue=QUEUE)])])) is None


def datagrams(*delays_ms: float, lost=(), flying=(), stream: int = 0) -> dict:
    delay = np.array([int(d * 1e6) for d in delays_ms], dtype=np.uint64)
    delay[list(lost)], delay[list(flying)] = LOST, FLYING
    n = len(delay)
    sent = np.array([1_000_000_000 + i * 20_000_000 for i in range(n)], dtype=np.uint64)
    return {"stream": np.full(n, stream), "sent_ns": sent, "delay_ns": delay}


class TestDatagrams:
    def test_delays_are_pooled_and_losses_never_arrive(self):
        first = datagrams(30, 0, 10, 0, lost=[1], flying=[3])
        found = drawn(
            "delays",
            BY_AQM | {"deadline_ms": 20},
            two("datagrams", [first, datagrams(20)], [datagrams(5, 5), datagrams(5, 5)]),
        )
        red, pi = found.data["curves"]
        assert red["x_ms"].tolist() == [10, 20, 30] and red["percent"].tolist() == [25, 50, 75]
        assert pi["percent"][-1] == 100
        assert "Within 20 ms: 50.0 % (red), 100.0 % (pi)." in found.note
        assert "Lost: 25.0 % (red), 0.0 % (pi)." in found.note

    def test_what_was_sent_before_the_end_of_the_warm_up_is_left_out(self):
        early = datagrams(500, 10)
        early["sent_ns"][0] -= 1
        found = drawn("delays", BY_AQM, two("datagrams", [early], [datagrams(5)]))
        assert found.data["curves"][0]["x_ms"].tolist() == [10]

    def test_many_datagrams_are_thinned_to_the_same_curve(self):
        many = datagrams(*np.linspace(1, 100, 5000))
        curve = drawn("delays", BY_AQM, two("datagrams", [many], [many])).data["curves"][0]
        assert len(curve["x_ms"]) == 500
        assert curve["x_ms"][[0, -1]].tolist() == pytest.approx([1, 100])
        assert curve["percent"][-1] == 100

    def test_distances_between_losses_sender_by_sender(self):
        one = datagrams(*[1] * 12, lost=[0, 1, 4, 11])  # distances 1, 3, 7
        other = datagrams(*[1] * 12, lost=[2, 3], stream=1)  # distance 1
        both = {name: np.concatenate([one[name], other[name]]) for name in one}
        quiet = datagrams(1, 1, 1, lost=[1])
        found = drawn("loss-distances", BY_AQM | {"upto": 5}, two("datagrams", [both], [quiet]))
        red, pi = found.data["series"]
        assert red["count"].tolist() == [2, 0, 1, 0, 0] and red["beyond"] == 1
        assert pi["count"].sum() == 0 and pi["beyond"] == 0
        assert found.note == "Pairs of losses next to each other: 50 % (red)."

    def test_without_pairs_of_losses_there_is_no_figure(self):
        quiet = two("datagrams", [datagrams(1, 1, lost=[1])], [datagrams(1)])
        assert collected("loss-distances", BY_AQM, quiet) is None

    def test_a_choice_of_senders(self):
        one, other = datagrams(10), datagrams(99, stream=1)
        both = {name: np.concatenate([one[name], other[name]]) for name in one}
        found = drawn("delays", BY_AQM | {"streams": [1]}, two("datagrams", [both], [both]))
        assert found.data["curves"][0]["x_ms"].tolist() == [99]


SECONDS = {
    "time_s": np.arange(13.0),
    "edge.forward.departures": [9] + [100, 300] * 6,
    "edge.forward.queue_delay_mean_s": [9.0] + [0.010, 0.030] * 6,
    "web.goodput_bytes": [10**9] + [1_000_000, 250_000] * 6,
    "voice.goodput_bytes": [0] * 13,
}


class TestEllipses:
    def of(self, **spec) -> Drawing:
        runs = []
        for more in (0.0, 0.002, 0.004):
            waits = np.asarray(SECONDS["edge.forward.queue_delay_mean_s"]) + more
            run = FakeRun(seconds=SECONDS | {"edge.forward.queue_delay_mean_s": waits})
            run.summary["studied_port"] = "edge.forward"
            runs.append(run)
        return drawn("ellipses", BY_AQM | spec, dataset([("g", {"aqm": "red"}, runs)]))

    def test_delays_are_means_over_packets_and_seeds_are_put_together(self):
        (curve,) = self.of(every_s=2).data["curves"]
        # 100 packets of 10 ms and 300 of 30 ms: 25 ms; 27 and 29 ms under the other seeds.
        assert curve["median"] == pytest.approx([27.0, 5.0])
        assert curve["centre"] == pytest.approx([27.0, 5.0])
        longest = max(np.hypot(*axis) for axis in curve["axes"])
        assert longest == pytest.approx(np.std([25] * 6 + [27] * 6 + [29] * 6, ddof=1))

    def test_second_by_second_delay_and_goodput_go_together(self):
        (curve,) = self.of(every_s=1, traffic=["web"]).data["curves"]
        long, short = sorted(curve["axes"], key=lambda axis: -np.hypot(*axis))
        assert long[0] * long[1] < 0  # a longer queue, less goodput
        assert np.hypot(*short) < np.hypot(*long)

    def test_no_stretch_no_figure(self):
        empty = dataset([("g", {"aqm": "red"}, [FakeRun()])])
        assert collected("ellipses", BY_AQM, empty) is None


UNEQUAL = {"group": [0, 0, 1], "user": [0, 1, 2], "goodput_bits_per_s": [1000.0, 3000.0, 9e6]}
EQUAL = {"group": [0, 0], "user": [0, 1], "goodput_bits_per_s": [2000.0, 2000.0]}


class TestBars:
    def test_a_panel_per_cell_and_the_first_seed(self):
        spec = BY_AQM | {"traffic": [0], "sorted": True}
        found = drawn("bars", spec, two("sources", [UNEQUAL, EQUAL], [EQUAL] * 2))
        red, pi = found.data["panels"]
        assert red["values"].tolist() == [3, 1] and red["mean"] == 2 and red["title"] == "red"
        assert pi["values"].tolist() == [2, 2]
        # Jain's index: 16/(2 * 10) = 0.8 and 1 under the other seed
        assert "0.900 (red), 1.000 (pi)" in found.note

    def test_in_the_order_of_the_sources(self):
        found = drawn("bars", BY_AQM, two("sources", [UNEQUAL], [EQUAL]))
        assert found.data["panels"][0]["values"].tolist() == [1, 3, 9000]


class TestLaws:
    def test_red_and_gentle(self):
        average = np.array([0.0, 4.9, 5.0, 10.0, 14.999, 15.0, 22.5, 30.0, 40.0])
        plain = probability(average, 5, 15, 0.1, gentle=False)
        assert plain.tolist() == pytest.approx([0, 0, 0, 0.05, 0.1, 1, 1, 1, 1], abs=1e-4)
        gentle = probability(average, 5, 15, 0.1, gentle=True)
        assert gentle.tolist() == pytest.approx([0, 0, 0, 0.05, 0.1, 0.1, 0.55, 1, 1], abs=1e-4)

    def test_the_axis_reaches_beyond_the_last_kink(self):
        law = {"label": "", "min_th": 5, "max_th": 15, "max_p": 0.1}
        for gentle, last in ((False, 15), (True, 30)):
            found = drawn("curve", {"laws": [law | {"gentle": gentle}]}, dataset([]))
            (curve,) = found.data["curves"]
            assert last < curve["x"][-1] < 1.3 * last and curve["p"][-1] == 1

    def test_an_adapted_law_has_a_band(self):
        law = {"label": "ARED", "min_th": 5, "max_th": 15, "max_p": 0.1, "gentle": True}
        spec = {"laws": [law | {"max_p_low": 0.01, "max_p_high": 0.5}]}
        (curve,) = drawn("curve", spec, dataset([])).data["curves"]
        at = int(np.searchsorted(curve["x"], 14.99))
        assert curve["low"][at] == pytest.approx(0.01, abs=1e-3)
        assert curve["high"][at] == pytest.approx(0.5, abs=1e-2)

    def test_slow_start_by_hand(self):
        # service 1 s, round trip 0.5 s, weight 1/2. Packet 1 is sent at 0, two arrive at 1.5, the
        # second of which finds nobody waiting; their acknowledgements at 3 and 4 send two each
        time, packets, average = follow(1.0, 0.5, 0.5, 1.0, 1)
        arrivals = [0, 1.5, 1.5, 3, 3, 4, 4]
        assert sorted(set(time)) == [0, 1.5, 2.5, 3, 3.5, 4]
        assert time[-1] == 4 and packets.max() == packets[-1] == 3
        # averages: 0, 0, 0, 0 waits at 3 (0), 1 waits (0.5), 1 waits at 4 (0.75), 2 wait (1.375)
        assert average[-1] == pytest.approx(1.375)
        assert len(time) > len(arrivals)

    def test_slow_start_ages_the_average_while_the_line_is_idle(self):
        # seven packets at once keep the line busy to 7 s; the first two acknowledged ones come at
        # 21 s, after 14 packet times: 14 zeros, and one more of the second of the two
        time, _, average = follow(1.0, 20.0, 0.5, 4.5, 7)
        burst = average[time < 1][-1]
        assert burst == pytest.approx(_burst_average(7))
        assert average[time == 21][-1] == pytest.approx(burst * 0.5**15)
        assert average[-1] >= 4.5

    def test_the_lag_is_told(self):
        spec = EMPTY["slow-start"] | {"min_th": 3}
        found = drawn("slow-start", spec, dataset([]))
        assert found.data["levels"] == [("min_th", 3.0), ("max_th", 9.0)]
        assert found.data["packets"].max() > 3 * 9
        assert found.note.startswith("Computed: when the average reaches max_th (9 packets)")


def _burst_average(window: int) -> float:
    """Weight 1/2, packets at the same instant: they find 0 (idle), 0, 1, 2, … waiting."""
    average = 0.0
    for waiting in range(window - 1):
        average += 0.5 * (waiting - average)
    return average


def test_numbers_are_told_all_or_only_the_extremes():
    few = {"red": 1.0, "pi": math.nan, "rem": 3.0}
    assert described("Lost", few) == "Lost: 1.0 % (red), 3.0 % (rem)."
    many = {str(i): float(i) for i in range(9)}
    assert described("Lost", many) == "Lost: from 0.0 % (0) to 8.0 % (8)."
    assert described("Lost", dict.fromkeys("abc", 2.0)) == "Lost: 2.0 % (all)."
    assert described("Lost", {"": 2.0}) == "Lost: 2.0 %."
    assert described("Lost", {"red": math.nan}) == ""


def test_calibration_in_other_units():
    line = {
        "points": [[100, 41_000.0], [200, 82_000.0]],
        "rate": "1 Gbit/s",
        "full_bytes_per_s": 1.25e8,
        "open_loop": False,
    }
    spec = {"source": "calibration", "base": "wide", "unit": "Mbit/s"}
    found = drawn("linearity", spec, dataset([], calibrations={"wide": line}))
    (axes,) = figures.draw("linearity", found.data, unit="Mbit/s").axes
    assert axes.get_ylabel() == "offered load (Mbit/s)"
    assert axes.get_lines()[-1].get_ydata().tolist() == pytest.approx([0.328, 0.656])


def test_effects_are_a_table_of_differences():
    def row(change: str, metric: str, ours: float | None) -> dict:
        return {"change": change, "metric": metric, "ours": ours, "low": ours, "high": None}

    rows = [row("a", "drops", 1.0), row("a", "elapsed", 2.0), row("b", "drops", None)]
    rows.append(row("b", "elapsed", -3.0))
    spec = {"table": "d", "on": ["change"], "rows": ["elapsed", "drops"]}
    found = drawn("effects", spec, dataset([], tables={"d": rows}))
    elapsed, drops = found.data["panels"]
    assert found.data["places"] == ["a", "b"]
    assert (elapsed["title"], elapsed["unit"], elapsed["value"]) == ("Elapsed time", "s", [2, -3])
    assert drops["unit"] == "points"
    assert drops["low"][0] == 1 and math.isnan(drops["value"][1]) and math.isnan(drops["high"][0])
    assert collected("effects", spec, dataset([])) is None


def test_a_metric_without_unit_has_no_empty_brackets():
    assert titled(replace(METRICS["drops"], title="Jain's index", unit="")) == "Jain's index"
    assert titled(METRICS["drops"]) == "Dropped (%)"
