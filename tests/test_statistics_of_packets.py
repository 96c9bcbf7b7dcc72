"""Statistics of bursts, of datagrams and of the packets at a queue, on made-up tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from aqmlab.runs.laboratory import FinishedRun
from aqmlab.tables import statistics
from aqmlab.tables.statistics import bursts, datagrams, packets


def run(
    summary: dict | None = None,
    tables: dict[str, dict[str, Any]] | None = None,
    scenario: dict | None = None,
) -> FinishedRun:
    """A finished run with this summary, these tables and this scenario."""
    columns = {
        name: {column: np.array(values) for column, values in table.items()}
        for name, table in (tables or {}).items()
    }
    made = SimpleNamespace(
        summary=summary or {},
        columns=columns.__getitem__,
        scenario=scenario or {},
    )
    return cast(FinishedRun, made)


def two_bursts(later_finished: int = 2) -> FinishedRun:
    traffic = [
        {"name": "first", "users": 1},
        {"name": "later", "users": 2},
        {"name": "third", "users": 1},
    ]
    transfers = {
        "first": {"finished": 1, "failed": 0, "elapsed_s": 4.0},
        "later": {"finished": later_finished, "failed": 0, "elapsed_s": 2.0},
    }
    return run({"transfers": transfers}, scenario={"traffic": traffic})


class TestBursts:
    def test_elapsed_time_and_ratio(self):
        measured = two_bursts()
        assert bursts.burst_elapsed_s(measured, burst="later") == 2.0
        assert bursts.burst_ratio(measured, burst="later", to="first") == 0.5
        assert bursts.burst_bias(measured, burst="later", to="first") == -math.log(2)
        assert bursts.burst_unfairness(measured, burst="later", to="first") == math.log(2)

    def test_a_burst_of_which_a_flow_never_ended_has_no_time(self):
        measured = two_bursts(later_finished=1)
        assert math.isnan(bursts.burst_elapsed_s(measured, burst="later"))
        assert math.isnan(bursts.burst_unfairness(measured, burst="later", to="first"))
        assert math.isnan(bursts.burst_elapsed_s(measured, burst="third"))
        assert math.isnan(bursts.burst_elapsed_s(measured, burst="fourth"))


class TestDatagrams:
    def test_quantiles_are_of_what_arrived(self):
        lost, under_way = 2**64 - 1, 2**64 - 2
        delays = np.array([30, lost, 10, 40, under_way, 20], dtype=np.uint64)
        measured = run(tables={"datagrams": {"delay_ns": delays}})
        found = [datagrams.delay_quantile_s(measured, percent=p) for p in (0, 25, 26, 50, 100)]
        assert found == [1e-8, 1e-8, 2e-8, 2e-8, 4e-8]

    def test_the_longest_delay_that_there_can_be_is_one(self):
        delays = np.array([10, 2**64 - 3, 2**64 - 2], dtype=np.uint64)
        measured = run(tables={"datagrams": {"delay_ns": delays}})
        assert datagrams.delay_quantile_s(measured, percent=100) == (2**64 - 3) / 1e9

    def test_without_any_there_is_none(self):
        measured = run(tables={"datagrams": {"delay_ns": np.array([2**64 - 1], dtype=np.uint64)}})
        assert math.isnan(datagrams.delay_quantile_s(measured, percent=50))


def trace(rows: Sequence[tuple[float, int, int, int]]) -> dict[str, list]:
    """Rows of time (ms), event, kind and packets that wait, of packets of 1,500 B."""
    at, event, kind, waiting = zip(*rows, strict=True)
    return {
        "time_ns": [round(t * 1e6) for t in at],
        "event": list(event),
        "kind": list(kind),
        "queue_packets": list(waiting),
        "bytes": [1500] * len(rows),
    }


class TestSignals:
    # The first signal finds 5 packets of 2 ms: a round trip is 100 + 10 ms.
    ROWS = (
        (0, 0, 3, 0),
        (50, 2, 3, 5),
        (100, 3, 3, 9),
        (159.9, 2, 3, 9),
        (160, 2, 3, 9),
        (271, 2, 3, 0),
    )

    @pytest.mark.parametrize(("round_", "count"), [(1, 3), (2, 1), (3, 1), (4, 0)])
    def test_by_round_trip_since_the_first(self, round_, count):
        measured = run(tables={"trace": trace(self.ROWS)})
        found = packets.signals_in_round(measured, round=round_, rtt_ms=100.0, packet_ms=2.0)
        assert found == count

    def test_its_length_is_the_scenarios(self):
        """44 ms of links each way, 12 ms of the network; 1,500 B at 6 Mbit/s take 2 ms."""
        scenario = {
            "link": [{"delay": "11 ms"}, {"delay": "33 ms"}],
            "network": {"rtt": "12 ms"},
        }
        summary = {"capacity_mean_bits_per_s": 6e6}
        measured = run(summary, {"trace": trace(self.ROWS)}, scenario)
        found = [packets.signals_in_round(measured, round=n) for n in (1, 2, 3, 4)]
        assert found == [3, 1, 1, 0]
        longer = {**scenario, "network": {"rtt": "13 ms"}}  # 111 ms: up to 161 ms
        measured = run(summary, {"trace": trace(self.ROWS)}, longer)
        assert [packets.signals_in_round(measured, round=n) for n in (1, 2)] == [4, 1]

    def test_without_a_signal_there_are_none(self):
        measured = run(tables={"trace": trace(self.ROWS[:1])})
        assert packets.signals_in_round(measured, round=1, rtt_ms=100.0, packet_ms=2.0) == 0


#: 1.2 Mbit/s send 15,000 B, ten packets, in 100 ms.
AIR = {"studied_port": "air.forward", "capacity_mean_bits_per_s": 1.2e6}


class TestSlowStart:
    def measured(self, counts: list[int], rtt: str = "100 ms") -> FinishedRun:
        rows = [
            (1000 + 100 * i + n, 0, 3, 0) for i, count in enumerate(counts) for n in range(count)
        ]
        other = [(900, 0, 1, 0), (1000, 1, 3, 0)]  # a SYN before, a begin of a transmission
        table = trace(sorted(rows + other))
        return run(AIR, {"trace": table}, {"link": [{"delay": "0 s"}], "network": {"rtt": rtt}})

    def test_growth_is_by_the_scenarios_round_trip(self):
        assert packets.slow_start_growth(self.measured([3, 6, 12, 13])) == 2.0
        assert packets.slow_start_growth(self.measured([3, 6, 12, 13], "200 ms")) != 2.0

    def test_growth_up_to_the_round_trip_that_exceeds_the_link(self):
        assert packets.slow_start_growth(self.measured([3, 6, 12, 13]), rtt_ms=100.0) == 2.0
        found = packets.slow_start_growth(self.measured([8, 10, 18]), rtt_ms=100.0)
        assert found == pytest.approx(1.5)  # ten packets are what the link can send, not more

    @pytest.mark.parametrize("counts", [[11, 22], [1, 2, 4], []])
    def test_none_if_the_link_is_full_at_once_or_never(self, counts):
        assert math.isnan(packets.slow_start_growth(self.measured(counts), rtt_ms=100.0))


RED = {"profile": "ns2", "gentle": False, "use_mark_p": False, "w_q": 0.002, "min_th": 1000}


class TestAlone:
    def test_a_queue_beyond_its_limit(self, real_core: ModuleType):
        def beyond(discipline: str, limit: int, **parameters: object) -> float:
            args = {"discipline": discipline, "limit_bytes": limit, "packet_bytes": 1500}
            return statistics.probe(
                "largest_queue_beyond_limit_bytes", args | {"parameters": parameters}
            )

        assert beyond("droptail", 4500) == 0
        assert beyond("droptail", 4499) == -1499
        assert beyond("red", 4501, **RED, max_th=3000, queue_in_bytes=True) == 1499

    def test_packets_accepted_above_max_th(self, real_core: ModuleType):
        def accepted(max_th: float, **parameters: object) -> float:
            described = {"discipline": "red", "max_th": max_th, "packet_bytes": 1500}
            args = described | {"parameters": parameters}
            return statistics.probe("accepted_above_max_th", args)

        red = {**RED, "min_th": 1, "limit": 20, "queue_in_bytes": False}
        assert accepted(5, **red) > 0
        assert accepted(30, **red) == 0  # no average above the limit
        fixed = {k: v for k, v in red.items() if k != "use_mark_p"} | {"profile": "ns2-fixed"}
        assert accepted(5, **fixed) == 0
