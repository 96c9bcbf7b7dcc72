"""Statistics where there is little to tell, and on the borders of what they count, by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

from aqmlab.errors import SpecError
from aqmlab.experiment.grammar import Metric
from aqmlab.experiment.plan import Cell
from aqmlab.experiment.rules import Number
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.simulator import engine
from aqmlab.tables import measure, statistics
from aqmlab.tables.statistics import alone, packets, responses, sizes, sources

INF = np.inf


def run(
    summary: dict[str, Any] | None = None, scenario: dict[str, Any] | None = None, **tables: dict
) -> FinishedRun:
    columns = {
        name: {column: np.array(values) for column, values in table.items()}
        for name, table in tables.items()
    }
    made = SimpleNamespace(
        summary=summary or {},
        scenario=scenario or {},
        columns=columns.__getitem__,
        has=columns.__contains__,
    )
    return cast(FinishedRun, made)


def of(measured: FinishedRun, statistic: str, /, **args: Any) -> float:
    return statistics.of_run(measured, Number(group="g", statistic=statistic, args=args))


def pair(name: str, a: FinishedRun, b: FinishedRun, **args: Any) -> float:
    return statistics.pair(name)(a, b, **args)


def histogram(counts: list[float], upper: list[float] | None = None) -> FinishedRun:
    """So many responses of up to 100, 200, … ms; the last have failed."""
    edges = [*(100.0 * (i + 1) for i in range(len(counts) - 1)), INF]
    return run(response_histogram={"upper_ms": upper or edges, "count": counts})


class TestNetworkTests:
    def test_a_run_without_a_test_says_so(self):
        with pytest.raises(SpecError, match='"rpm" is said by a network test'):
            of(run(), "network_test", name="rpm")

    def test_a_name_that_no_test_says(self):
        with pytest.raises(SpecError, match='no test says "rmp"'):
            of(run(), "network_test", name="rmp")

    def test_quantiles_of_pings_leave_out_what_was_not_answered(self):
        assert math.isnan(of(run(), "ping_quantile_s", percent=50))
        three = run(pings={"rtt_s": [0.3, math.nan, 0.1, 0.2]})
        assert of(three, "ping_quantile_s", percent=50) == 0.2
        assert of(three, "ping_quantile_s", percent=100) == 0.3


class TestGoodput:
    def seconds(self, web: list[int]) -> FinishedRun:
        table = {"time_s": [0, 1, 2, 3], "web.goodput_bytes": web, "tv.goodput_bytes": [0] * 4}
        return run(scenario={"warmup": "2 s"}, seconds=table)

    def test_of_nothing_there_is_no_share(self):
        silent = self.seconds([9, 9, 0, 0])
        assert of(silent, "goodput_bits_per_s") == 0
        assert math.isnan(of(silent, "goodput_share", groups=["web"]))
        assert math.isnan(of(silent, "goodput_ratio", of="tv", to="web"))
        assert math.isnan(of(self.seconds([9, 9, 1, 2]), "goodput_ratio", of="web", to="tv"))

    def test_a_group_that_got_nothing_has_no_share(self):
        assert of(self.seconds([0, 0, 1, 3]), "goodput_share", groups=["tv"]) == 0
        assert of(self.seconds([0, 0, 1, 3]), "goodput_share", groups=["web"]) == 1

    def test_what_is_undefined_in_a_second_does_not_count(self):
        waits = {"time_s": [0, 1, 2, 3], "a.queue_delay_mean_s": [9.0, np.nan, 0.5, 0.25]}
        measured = run({"studied_port": "a"}, {"warmup": "1 s"}, seconds=waits)
        assert of(measured, "queue_delay_quantile_s", quantile=0.0) == 0.25
        assert of(measured, "queue_delay_quantile_s", quantile=1.0) == 0.5


class TestSeconds:
    MEASURED = run(
        scenario={"warmup": "1 s"},
        seconds={
            "time_s": [0, 1, 2, 3],
            "n": [100, 1, 2, 6],
            "bytes": [0, 10, 40, 70],
        },
    )

    def test_by_hand(self):
        # 1, 2, 6: mean 3, variance (4 + 1 + 9) / 2 = 7
        assert of(self.MEASURED, "peak_to_mean", column="n") == 2.0
        assert of(self.MEASURED, "dispersion", column="n") == pytest.approx(7 / 3)
        # 10, 40, 70: mean 40, variance 900; mean size 120 / 9
        assert of(self.MEASURED, "size_dispersion", column="bytes", count="n") == pytest.approx(
            900 / 40 * 9 / 120
        )


class TestConnections:
    def test_a_share_of_the_connections(self):
        described = {"retransmission_classes": {"syn": 1, "fin": 3}, "connections": 4}
        assert of(run(described), "connections_in_class", kind="fin") == 75


class TestBursts:
    def test_a_run_without_transfers_has_no_time(self):
        traffic = {"traffic": [{"name": "b", "users": 1}]}
        assert math.isnan(of(run({}, traffic), "burst_elapsed_s", burst="b"))
        assert math.isnan(of(run({"transfers": {}}, traffic), "burst_elapsed_s", burst="b"))


class TestDatagrams:
    def test_all_of_many(self):
        delays = {"delay_ns": np.arange(1, 201, dtype=np.uint64) * 10**9}
        one = run(datagrams=delays)
        found = [of(one, "delay_quantile_s", percent=p) for p in (0, 1, 50, 99.5, 100)]
        assert found == [1, 2, 100, 199, 200]


class TestPayload:
    SCENARIO = {  # noqa: RUF012
        "link": [{"name": "a"}, {"name": "b"}],
        "traffic": [
            {"name": "tv", "via": ["a", "b"], "packet": 100},
            {"name": "talk", "via": ["b", "a"], "packet": 10},
            {"name": "near", "via": ["a"], "packet": 100},
        ],
    }

    def test_half_lost(self):
        streams = {
            "tv": {"lost": 1, "received": 1},
            "talk": {"lost": 2, "received": 2},
            "near": {"lost": 9, "received": 0},
        }
        assert of(run({"datagrams": streams}, self.SCENARIO), "datagrams_lost") == 0.5
        all_lost = {"tv": {"lost": 1, "received": 0}}
        assert of(run({"datagrams": all_lost}, self.SCENARIO), "datagrams_lost") == 1.0
        none = {"tv": {"lost": 0, "received": 0}}
        assert math.isnan(of(run({"datagrams": none}, self.SCENARIO), "datagrams_lost"))

    def test_a_run_without_datagrams_lost_none(self):
        assert math.isnan(of(run({}, self.SCENARIO), "datagrams_lost"))
        measured = run({"response_bytes": 7, "measured_s": 2.0}, self.SCENARIO)
        # Each of both groups that cross both links.
        assert of(measured, "payload_bytes") == 14
        assert of(measured, "payload_bits_per_s") == 56

    def test_a_size_that_is_lacking_is_named(self):
        bare = {"link": [{"name": "a"}], "traffic": [{"name": "tv", "via": ["a"]}]}
        streams = {"tv": {"lost": 1, "received": 1}}
        with pytest.raises(SpecError) as raised:
            of(run({"datagrams": streams}, bare), "payload_bytes")
        assert str(raised.value) == (
            'the size of "tv"\'s datagrams is not in the scenario: give packet'
        )


class TestPorts:
    def test_a_mean_needs_the_number_at_every_port(self):
        assert math.isnan(of(run({"ports": {}}), "ports_mean", name="x"))
        one = run({"ports": {"a": {"x": 1, "y": {"z": 4}}, "b": {"x": None, "y": 5}}})
        assert math.isnan(of(one, "ports_mean", name="x"))
        assert math.isnan(of(one, "ports_mean", name="y.z"))

    def test_a_ratio_too(self):
        half = run({"ports": {"a": {"x": 1, "y": 4}, "b": {"x": None, "y": 4}}})
        assert math.isnan(of(half, "ports_ratio", of="x", to="y"))
        assert math.isnan(of(half, "ports_ratio", of="y", to="x"))
        assert of(half, "ports_ratio", of="y", to="y") == 1.0
        three = run({"ports": {"a": {"x": 1, "y": 4}, "b": {"x": 5, "y": 8}}})
        assert of(three, "ports_ratio", of="x", to="y") == 0.5


class TestResponses:
    A = histogram([50, 0, 30, 20])
    B = histogram([10, 80, 5, 5])
    RANGE = {"from_ms": 100.0, "to_ms": 300.0}  # noqa: RUF012

    def test_a_time_belongs_to_the_bin_that_it_ends(self):
        assert responses.shares(self.A, np.array([99.9, 100.0, 300.0, 1e9])).tolist() == [
            *(0.0, 50.0, 80.0, 80.0)
        ]
        assert responses.shares(self.A, np.array([100.0 - 5e-7])).tolist() == [50.0]
        assert of(self.A, "share_within", ms=300.0) == 80

    def test_without_responses_there_are_no_shares(self):
        nobody = histogram([0, 0, 0, 0])
        assert np.isnan(responses.shares(nobody, np.array([1.0, 2.0]))).tolist() == [True, True]
        assert math.isnan(of(nobody, "response_quantile_ms", percent=50))

    def test_quantiles_on_the_edges_of_bins(self):
        found = [of(self.A, "response_quantile_ms", percent=p) for p in (0, 50, 50.1, 80)]
        assert found == [100, 100, 300, 300]
        assert math.isnan(of(self.A, "response_quantile_ms", percent=80.1))
        # A third of 3 is 1 in decimals, and less than 1 in binary: rounding decides nothing.
        thirds = histogram([1, 1, 1, 0])
        assert of(thirds, "response_quantile_ms", percent=100 / 3) == 100
        assert of(thirds, "response_quantile_ms", percent=200 / 3) == 200

    def test_where_one_is_ahead(self):
        # A leads from 100 to 195 ms by 40, then B by 40, from 300 on by 15: 20, 20 and 1 of 41.
        assert pair("share_of_range_above", self.A, self.B, **self.RANGE) == pytest.approx(
            2000 / 41
        )
        assert pair("share_of_range_above", self.A, self.B, by=40.0, **self.RANGE) == 0
        assert pair("share_of_range_above", self.A, self.B, by=39.9, **self.RANGE) > 0
        assert pair("share_of_range_above", self.A, self.A, **self.RANGE) == 0
        by_half_a_point = histogram([10.5, 80, 4.5, 5])
        found = pair("share_of_range_above", by_half_a_point, self.B, **self.RANGE)
        assert found == pytest.approx(4000 / 41)
        # The range ends within the millisecond behind its end.
        assert pair("highest_gain", self.A, self.B, from_ms=96.0, to_ms=99.5) == 0
        within = {"from_ms": 300.0, "to_ms": 300.0}
        assert pair("lowest_gain", self.A, self.B, **within) == -15
        assert pair("highest_gain", self.A, self.B, **within) == -15
        assert pair("lowest_gain", self.A, self.B, from_ms=195.0, to_ms=200.0) == -40
        assert pair("highest_gain", self.A, self.B, from_ms=195.0, to_ms=200.0) == 40

    def test_crossings_and_what_is_noise(self):
        wide = {"from_ms": 0.0, "to_ms": 400.0}
        assert pair("crossings", self.A, self.B, **wide) == 1
        assert pair("crossings", self.A, self.B, noise=40.0, **wide) == 0
        # Ahead by 0.25 first, behind by 1 then: a quarter of a point is noise unless told.
        near = histogram([100.25, 98.75, 201, 0]), histogram([100, 100, 200, 0])
        assert pair("crossings", *near, **wide) == 0
        assert pair("crossings", *near, noise=0.0, **wide) == 1
        far = histogram([101.25, 97.5, 201.25, 0]), histogram([100, 100, 200, 0])
        assert pair("crossings", *far, **wide) == 1

    def test_a_mean_height_is_taken_every_five_milliseconds(self):
        assert of(self.A, "mean_share", from_ms=95, to_ms=100) == 25
        assert of(self.A, "mean_share", from_ms=100, to_ms=100) == 50
        assert of(self.A, "mean_share", from_ms=97, to_ms=101) == 0

    def test_up_to_a_quantile_of_the_other(self):
        # 90 % of B have ended at 200 ms; there A lies 40 behind, and before never.
        assert pair("lowest_gain_until", self.A, self.B, percent=90) == -40
        assert pair("lowest_gain_until", self.A, self.B, percent=10) == 0
        assert math.isnan(pair("lowest_gain_until", self.A, self.B, percent=99))
        early = histogram([0, 10, 0, 0]), histogram([10, 0, 0, 0])
        assert pair("lowest_gain_until", *early, percent=50) == -100

    def test_crossings_behind_a_quantile_of_the_other(self):
        assert pair("crossings_after", self.A, self.B, percent=10) == 1
        assert pair("crossings_after", self.A, self.B, percent=11) == 0
        assert math.isnan(pair("crossings_after", self.A, self.B, percent=99))
        # Edges of either count; where both are alike there is no side.
        finer = histogram([20, 20, 20, 20, 20, 0], upper=[50.0, 100.0, 150.0, 200.0, 300.0, INF])
        coarse = histogram([40, 45, 15, 0])
        # 50 ms: 20 and 0; 100: alike; 150: 60 and 40; 200: 80 and 85; 300: alike
        assert pair("crossings_after", finer, coarse, percent=40) == 1
        assert pair("crossings_after", coarse, finer, percent=20) == 1
        assert pair("crossings_after", coarse, finer, percent=80) == 0

    def test_the_change_of_the_short_over_that_of_the_long(self):
        quantiles: dict[str, Any] = {f"response_p{q}_s": 0.1 for q in (10, 20, 30, 40, 50)}
        quantiles["response_p90_s"] = 0.3

        def setting(counts: list[float]) -> FinishedRun:
            made = histogram(counts)
            cast(Any, made).summary = quantiles
            return made

        cells = [
            (Cell("g", {"w": "a"}, {}, "a"), setting([50, 0, 30, 20])),
            (Cell("g", {"w": "b"}, {}, "b"), setting([40, 0, 30, 30])),
            (Cell("g", {"w": "c"}, {}, "c"), setting([60, 0, 30, 10])),
        ]
        change = statistics.across("lower_to_upper_change")
        assert cast(Any, change)(cells, reference={"w": "a"}) == 1.0
        steeper = setting([45, 0, 15, 40])
        both = [cells[0], (cells[1][0], steeper)]
        # 5 of the short ones, 20 of the long ones
        assert cast(Any, change)(both, reference={"w": "a"}) == pytest.approx(0.25)
        assert math.isnan(cast(Any, change)(cells[:1], reference={"w": "a"}))
        # A change of the long ones by half a point is one as well, and times are exact.
        slightly = setting([50, 0, 29.5, 20.5])
        quantiles["response_p50_s"] = 0.2999
        first = (cells[0][0], setting([50, 0, 30, 20]))
        assert cast(Any, change)([first, (cells[1][0], slightly)], reference={"w": "a"}) == 0
        # Among the failed ones of the reference.
        quantiles["response_p90_s"] = None
        assert math.isnan(cast(Any, change)(both, reference={"w": "a"}))


class TestSizes:
    TABLE = {  # noqa: RUF012
        "upto_bytes": [1024, 2048, 4096],
        "responses": [10, 30, 10],
        "bytes": [100, 600, 300],
        "mean_s": [0.5, 1.0, 2.0],
        "retransmitted": [1, 3, 10],
        "p50_s": [0.25, 0.5, 1.5],
    }

    def test_of_doublings_that_lie_below_as_a_whole(self):
        one = run(response_sizes=self.TABLE)
        assert of(one, "sized_count", upto_bytes=2047) == 10
        assert of(one, "sized_count", upto_bytes=2048) == 40
        assert of(one, "sized_mean_ms", upto_bytes=2048) == 1000 * (5 + 30) / 40
        assert of(one, "sized_retransmitted", upto_bytes=2048) == 10
        assert of(one, "sized_count", upto_bytes=10) == 0

    def test_a_median_of_one_row(self):
        one = run(response_sizes=self.TABLE)
        assert of(one, "median_of_size", upto_bytes=2048) == 0.5
        assert of(one, "median_of_size", upto_bytes=1024) == 0.25
        assert math.isnan(of(one, "median_of_size", upto_bytes=2047))
        empty = run(response_sizes=self.TABLE | {"responses": [10, 0, 1]})
        assert math.isnan(of(empty, "median_of_size", upto_bytes=2048))
        assert of(empty, "median_of_size", upto_bytes=4096) == 1.5

    def test_bytes_of_the_largest(self):
        one = run(response_sizes=self.TABLE)
        assert of(one, "bytes_of_largest", percent=10) == pytest.approx(15)
        assert of(one, "bytes_of_largest", percent=20) == pytest.approx(30)
        # ten and half of the thirty
        assert of(one, "bytes_of_largest", percent=50) == pytest.approx(60)
        assert of(one, "bytes_of_largest", percent=0) == 0
        single = run(response_sizes=self.TABLE | {"responses": [1, 1, 1], "bytes": [1, 2, 7]})
        assert of(single, "bytes_of_largest", percent=100 / 3) == pytest.approx(70)
        gap = run(response_sizes=self.TABLE | {"responses": [10, 0, 10], "bytes": [100, 0, 300]})
        assert of(gap, "bytes_of_largest", percent=75) == pytest.approx(87.5)
        assert of(gap, "bytes_of_largest", percent=50) == pytest.approx(75)

    def test_rows_that_one_lacks_are_empty(self):
        a, b = {"upto_bytes": np.array([1.0, 4.0])}, {"upto_bytes": np.array([2.0, 4.0])}
        for rows, n in ((a, 1.0), (b, 2.0)):
            rows |= {name: np.array([n, 10 * n]) for name in ("responses", "bytes", "mean_s")}
        mine, theirs = sizes._aligned(a, b)
        assert mine["upto_bytes"].tolist() == theirs["upto_bytes"].tolist() == [1, 2, 4]
        for name in ("responses", "bytes", "mean_s"):
            assert mine[name].tolist() == [1, 0, 10]
            assert theirs[name].tolist() == [0, 2, 20]

    def test_faster_means_less_time(self):
        one = run(response_sizes=self.TABLE)
        assert pair("share_of_sizes_faster", one, one) == 0
        slower = run(response_sizes=self.TABLE | {"mean_s": [0.5, 1.1, 1.9]})
        assert pair("share_of_sizes_faster", one, slower) == 60
        assert pair("share_of_sizes_faster", slower, one) == 20

    def test_the_distance_is_the_largest_up_to_a_size(self):
        one = run(response_sizes=self.TABLE)  # 10, 70, 100 %
        other = run(response_sizes=self.TABLE | {"bytes": [250, 250, 500]})  # 25, 50, 100 %
        assert pair("byte_share_distance", one, other, upto_bytes=1024) == pytest.approx(15)
        assert pair("byte_share_distance", one, other, upto_bytes=2048) == pytest.approx(20)
        assert pair("byte_share_distance", other, one, upto_bytes=2047) == pytest.approx(15)


class TestSources:
    SCENARIO = {"traffic": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}  # noqa: RUF012

    def made(self, goodput: list[float]) -> FinishedRun:
        table = {"group": [0, 0, 1, 2], "goodput_bits_per_s": goodput}
        return run(scenario=self.SCENARIO, sources=table)

    def test_of_some_groups(self):
        one = self.made([10.0, 30.0, 20.0, 90.0])
        assert sources.goodputs(one, ["b", "a"]).tolist() == [10, 30, 20]
        assert sources.goodputs(one, ["c"]).tolist() == [90]
        assert sources.relative(one, ["a"]).tolist() == [0.5, 1.5]
        assert of(one, "sources_outside", low=0.5, high=1.5, groups=["a"]) == 0
        assert of(one, "sources_outside", low=0.51, high=1.5, groups=["a"]) == 1
        assert of(one, "sources_outside", low=0.5, high=1.49, groups=["a"]) == 1
        assert of(one, "sources_outside", low=0.6, high=1.4, groups=["a"]) == 2
        assert of(one, "sources_jain", groups=["a"]) == pytest.approx(1600 / 2000)

    def test_nobody_has_no_share(self):
        nothing = self.made([0.0, 0.0, 0.0, 0.0])
        assert np.isnan(sources.relative(nothing)).tolist() == [True] * 4
        nobody = run(scenario=self.SCENARIO, sources={"group": [], "goodput_bits_per_s": []})
        assert np.isnan(sources.relative(nobody)).tolist() == [True]
        little = self.made([0.0, 0.0, 0.5, 0.0])
        assert of(little, "sources_largest") == 4.0


class TestSignals:
    def test_a_round_trip_begins_with_the_first_signal(self):
        table = {
            "time_ns": [1_000_000, 2_000_000, 12_000_000, 12_000_001, 22_000_000],
            "event": [0, 3, 2, 1, 3],
            "queue_packets": [9, 2, 7, 7, 7],
        }
        one = run(trace=table)
        how = {"rtt_ms": 6.0, "packet_ms": 2.0}
        found = [packets.signals_in_round(one, round=n, **how) for n in (1, 2, 3, 4)]
        assert found == [1, 1, 1, 0]

    def test_what_a_line_sends(self):
        assert packets.capacity_bytes(run({"capacity_mean_bits_per_s": 8e6}), 250.0) == 250_000


class TestAcross:
    CELLS = [  # noqa: RUF012
        (Cell("g", {"n": n}, {}, str(n)), run({"x": float(x)}))
        for n, x in ((0, 1.0), (1, 2.0), (2, 4.0))
    ]

    def test_a_line_through_three_points(self):
        # slope 1.5, intercept 5/6; residuals 1/6, -1/3, 1/6 of a variation of 14/3
        how = {"axis": "n", "summary": "x"}
        squared = cast(Any, statistics.across("line_r_squared"))(self.CELLS, **how)
        assert squared == pytest.approx(1 - (1 / 6) / (14 / 3))
        meets = cast(Any, statistics.across("line_intercept"))(self.CELLS, **how)
        assert meets == pytest.approx(100 * (5 / 6) / 4)

    def test_who_is_ahead(self):
        cells = [
            (Cell("g", {"q": i}, {}, str(i)), run({"t": t, "s": s}))
            for i, (t, s) in enumerate([(5.0, 2.0), (4.0, 2.0), (3.0, 9.0)])
        ]
        ahead = cast(Any, statistics.across("ahead_of_highest"))
        assert ahead(cells, highest="t", larger="s") == 50
        assert ahead(cells[:2], highest="t", larger="s") == 0
        assert math.isnan(ahead(cells[:1], highest="t", larger="s"))

    def test_where_the_best_lies(self):
        def sweep(*numbers: tuple[float, float, float]) -> float:
            cells = [
                (
                    Cell("g", {"n": n, "p": p}, {}, f"{n}{p}"),
                    run({"utilisation": value, "drop_rate": 0.5}),
                )
                for n, row in enumerate(numbers)
                for p, value in enumerate(row)
            ]
            return cast(Any, statistics.across("best_moves"))(cells, over="p", along="n")

        a, b, c = (1.0, 0.5, 0.2), (0.5, 1.0, 0.2), (0.2, 0.5, 1.0)
        assert [sweep(a, b, c), sweep(c, b, a), sweep(a, c), sweep(c, a)] == [2, 2, 2, 2]
        assert [sweep(a, b, a), sweep(b, a, b), sweep(a), sweep(a, a, b)] == [0, 0, 0, 1]
        assert [sweep(a, a, c), sweep(c, c, a)] == [2, 2]
        # Of two that are as good the later one on the grid counts.
        assert sweep((1.0, 1.0, 0.2), c) == 1


class TestModels:
    @pytest.fixture(autouse=True)
    def variables(self, monkeypatch):
        requested = self.requested = []
        curve = [[0.0, 0.0], [10.0, 0.5], [100.0, 1.0]]
        size = {"name": "size", "mean": 30.0, "curve": curve}
        named = {"name": "count", "mean": 1.0, "curve": curve}
        monkeypatch.setattr(engine, "variables", lambda m: requested.append(m) or [size, named])

    def test_of_the_model_that_is_named(self):
        how = {"model": "m", "variable": "size"}
        assert statistics.probe("model_share_upto", how | {"value": 5.0}) == 25
        assert self.requested == ["m"]
        # The largest half lies between 10 and 100: the smaller one carries 2.5 of the mean.
        largest = statistics.probe("model_weight_of_largest", how | {"percent": 50})
        assert largest == pytest.approx(100 * (1 - 2.5 / 30), abs=1e-9)
        ten = statistics.probe("model_weight_of_largest", how | {"percent": 10})
        # up to the quantile 0.9, 82: 2.5 and the mean of 10 and 82 over 0.4
        assert ten == pytest.approx(100 * (1 - (2.5 + 46 * 0.4) / 30), abs=1e-3)
        all_ = statistics.probe("model_weight_of_largest", how | {"percent": 100})
        assert all_ == 100
        assert set(self.requested) == {"m"}

    def test_one_that_is_not_there_is_answered_with_those_that_are(self):
        with pytest.raises(SpecError) as raised:
            statistics.probe("model_share_upto", {"model": "m", "variable": "x", "value": 1})
        assert str(raised.value) == 'traffic model m has no variable "x" (it has size, count)'
        assert set(self.requested) == {"m"}


class TestAlone:
    def trial(self, monkeypatch, calls: list[dict], state: dict | None = None) -> list[dict]:
        requested: list[dict] = []
        case: dict[str, Any] = {"calls": calls} | ({"state": state} if state else {})
        monkeypatch.setattr(
            engine, "trial", lambda request: requested.append(request) or {"cases": [case]}
        )
        return requested

    def test_the_most_that_waits(self, monkeypatch):
        queued, dropped = {"events": [["queued", 1]]}, {"events": [["dropped", 1, "full"]]}
        sent = {"sent": 0}
        calls = [
            queued,
            queued,
            {"events": [["queued", 1], ["marked", 1]]},
            sent,
            dropped,
            queued,
            sent,
            {},
        ]
        requested = self.trial(monkeypatch, calls)
        beyond = alone.largest_queue_beyond_limit_bytes(
            discipline="red", limit_bytes=250, packet_bytes=100, parameters={"w_q": 1}
        )
        assert beyond == 50
        (request,) = requested
        assert request["discipline"] == "red"
        assert request["parameters"] == {"w_q": 1, "limit_bytes": 250}
        assert request["line_bits_per_s"] == 200_000
        assert len(request["arrivals"]) == 2000
        packet = {"id": 7, "flow": 0, "bytes": 100}
        assert request["arrivals"][7] == {"at_ns": 0, "packet": packet}

    def test_what_is_accepted_although_the_average_is_too_large(self, monkeypatch):
        def call(name: str, event: str | None, **state: float) -> dict:
            events = {"events": [[event, 1]]} if event else {}
            return {"call": name, **events, **({"state": state} if state else {})}

        calls = [
            call("enqueue", "queued"),  # the average of the begin, below
            call("enqueue", "queued", avg=5.0),  # at max_th
            call("enqueue", "queued"),  # still
            call("enqueue", "dropped", avg=6.0),
            call("dequeue", "queued"),
            call("enqueue", None),
            call("enqueue", "queued", avg=4.9),
        ]
        requested = self.trial(monkeypatch, calls, {"avg": 0.0})
        found = alone.accepted_above_max_th(
            discipline="red", max_th=5.0, packet_bytes=250, parameters={"min_th": 1}
        )
        assert found == 2
        (request,) = requested
        assert request["parameters"] == {"min_th": 1, "max_th": 5.0}
        arrivals = request["arrivals"]
        assert len(arrivals) == 2000 + 199
        # A packet takes 2,000 bits / 200 kbit/s = 10 ms.
        assert arrivals[1999] == {"at_ns": 0, "packet": {"id": 1999, "flow": 0, "bytes": 250}}
        assert arrivals[2000] == {
            "at_ns": 10_000_001,
            "packet": {"id": 2001, "flow": 0, "bytes": 250},
        }
        assert arrivals[-1]["at_ns"] == 1_990_000_001
        alone.accepted_above_max_th(
            discipline="red", max_th=5.0, packet_bytes=25_000, parameters={}
        )
        assert requested[1]["arrivals"][2000]["at_ns"] == 1_000_000_001


class TestRegistry:
    SUMMARY = {"a": {"b": 1.0, "b.c": {"d": 2.0}}, "n": None, "t": 3}  # noqa: RUF012

    def number(self, path: str, **more: Any) -> float:
        return statistics.of_run(run(self.SUMMARY), Number(group="g", summary=path, **more))

    def test_names_with_dots_are_found_the_longest_first(self):
        assert self.number("a.b") == 1.0
        assert self.number("a.b.c.d") == 2.0
        assert self.number("t") == 3.0

    def test_what_is_not_there_is_undefined(self):
        for path in ("x", "a.x", "n", "a.b.x", "a.b.c.x", "t.u", "ab"):
            assert math.isnan(self.number(path)), path

    def test_a_metrics_unit_is_its_scale(self):
        metric = Metric(name="m", title="M", unit="ms", digits=0, summary="t", scale=1000.0)
        assert statistics.value(run(self.SUMMARY), metric) == 3000

    @pytest.mark.parametrize(
        ("ask", "near"),
        [
            (lambda name: statistics.pair(name), "crossing"),
            (lambda name: statistics.across(name), "best_move"),
            (lambda name: statistics.probe(name, {}), "model_share_up"),
        ],
    )
    def test_an_unknown_one_is_answered_with_the_nearest(self, ask, near):
        with pytest.raises(SpecError, match=f'^no statistic "{near}".*did you mean "{near}'):
            ask(near)

    def test_every_statistic_has_the_name_of_its_function(self):
        """Rules of studies name them so; those of sources say of what besides."""
        for registry in (
            *(statistics.OF_RUN, statistics.PAIRS, statistics.ACROSS, statistics.PROBES),
        ):
            for name, function in registry.items():
                assert name.removeprefix("sources_") == function.__name__

    def test_none_is_missing(self):
        counts = [
            len(registry)
            for registry in (
                *(statistics.OF_RUN, statistics.PAIRS, statistics.ACROSS, statistics.PROBES),
            )
        ]
        assert counts == [46, 8, 5, 4]


class Fake:
    def __init__(self, seed: int, summary: dict, variant: int = 0, label: str = "a") -> None:
        self.seed, self.summary, self.variant, self.label = seed, summary, variant, label


class TestMeasure:
    RUNS = [Fake(1, {"x": 1, "y": {"z": 2.0}}), Fake(2, {"x": 3, "y": {"z": None}})]  # noqa: RUF012

    def test_rows_of_statistics(self):
        half = 12.7062047
        x, z = measure.statistics_rows(self.RUNS)
        assert x == {
            "variant": 0,
            "label": "a",
            "field": "x",
            "n": 2,
            "mean": 2.0,
            "low": pytest.approx(2 - half),
            "high": pytest.approx(2 + half),
        }
        assert (z["field"], z["n"], z["mean"], z["low"], z["high"]) == ("y.z", 1, None, None, None)
        narrow = measure.statistics_rows(self.RUNS, 0.5)[0]
        assert narrow["high"] == pytest.approx(3.0)
        assert measure.statistics(self.RUNS, 0.5)["high"][0] == pytest.approx(3.0)

    def test_frames_have_their_columns_and_kinds(self):
        whole, text, real = pl.Int64, pl.String, pl.Float64
        frame = measure.statistics(self.RUNS)
        names = ["variant", "label", "field", "n", "mean", "low", "high"]
        assert frame.schema == dict(
            zip(names, [whole, text, text, whole, *[real] * 3], strict=True)
        )
        pairs = measure.paired(self.RUNS, self.RUNS)
        names = ["field", "n", "mean_a", "mean_b", "difference", "low", "high"]
        assert pairs.schema == dict(zip(names, [text, whole, *[real] * 5], strict=True))
        assert measure.statistics([]).schema == frame.schema
        assert measure.paired([], []).schema == pairs.schema

    def test_variants_stay_apart_in_their_order(self):
        runs = [Fake(1, {"x": v}, v, label) for v, label in ((3, "c"), (1, "a"), (3, "c"))]
        rows = measure.statistics_rows(runs)
        assert [(r["variant"], r["label"], r["n"], r["mean"]) for r in rows] == [
            (3, "c", 2, 3.0),
            (1, "a", 1, 1.0),
        ]

    def test_a_number_that_only_one_seed_has(self):
        rows = measure.statistics_rows([Fake(1, {"x": 1}), Fake(2, {"x": 2, "w": 5})])
        assert [(r["field"], r["n"], r["mean"]) for r in rows] == [("x", 2, 1.5), ("w", 1, None)]

    def test_pairs(self):
        a = [Fake(1, {"x": 1, "w": 1}), Fake(2, {"x": 3}), Fake(3, {"x": 9})]
        b = [Fake(2, {"x": 6, "v": 1}), Fake(1, {"x": 2, "v": 1})]
        (row,) = measure.paired_rows(a, b)
        # differences 1 and 3
        assert (row["field"], row["n"]) == ("x", 2)
        assert (row["mean_a"], row["mean_b"], row["difference"]) == (2.0, 4.0, 2.0)
        assert (row["low"], row["high"]) == pytest.approx((2 - 12.7062047, 2 + 12.7062047))
        (row,) = measure.paired_rows(a, b, 0.5)
        assert (row["low"], row["high"]) == pytest.approx((1.0, 3.0))
        assert measure.paired(a, b, 0.5)["low"][0] == pytest.approx(1.0)

    def test_a_pair_that_lacks_a_number_under_a_seed(self):
        a, b = [Fake(1, {"x": 1}), Fake(2, {"x": 3})], [Fake(1, {"x": 2}), Fake(2, {"y": 1})]
        (row,) = measure.paired_rows(a, b)
        assert (row["n"], row["mean_a"], row["mean_b"], row["difference"]) == (1, 2.0, None, None)
        (row,) = measure.paired_rows(b, a)
        assert (row["field"], row["n"], row["difference"]) == ("x", 1, None)

    def test_what_only_the_first_has_hides_nothing(self):
        a, b = [Fake(1, {"w": 1, "x": 1})], [Fake(1, {"x": 2})]
        assert [(r["field"], r["difference"]) for r in measure.paired_rows(a, b)] == [("x", 1.0)]

    def test_what_is_a_number(self):
        described = {
            "a": 1,
            "b": -2.5,
            "c": math.inf,
            "d": math.nan,
            "e": None,
            "f": "x",
            "g": True,
        }
        assert measure.numbers(described) == {"a": 1.0, "b": -2.5, "c": None, "d": None, "e": None}
        assert measure.numbers({"wall_s": 1.0, "g": {"wall_s": 1.0}}) == {"g.wall_s": 1.0}
        assert "wall_s" in measure.MACHINES

    def test_one_summary_is_its_own_mean(self):
        one = {"x": 2, "t": "a", "n": None, "g": {"y": 3}}
        assert measure.merged([one]) == {"x": 2.0, "t": "a", "n": None, "g": {"y": 3.0}}
        assert measure.merged([]) == {}

    def test_what_only_one_has_is_undefined(self):
        described = [{"x": 1, "g": {"y": 1}}, {"z": 2, "g": 5, "x": 3}]
        assert measure.merged(described) == {"x": 2.0, "g": None, "z": None}
        assert measure.merged([{"x": 1}, {"x": None}, {"x": 1}]) == {"x": None}
