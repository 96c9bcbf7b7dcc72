"""A sweep's axes as columns, and no variant taken silently."""

from __future__ import annotations

import polars as pl
import pytest

import aqmlab
from aqmlab.cli import as_json
from aqmlab.errors import AqmlabError
from aqmlab.experiment import axes
from aqmlab.experiment.experiment import load
from conftest import base_scenario

QUEUES = [{"label": "small", "aqm": "droptail", "limit": 9}, {"aqm": "droptail", "limit": 60}]


def columns(**sweep):
    paths = {path.replace("__", "."): values for path, values in sweep.items()}
    return axes.columns(load({"scenario": base_scenario(), "sweep": paths}).group[0].axes)


@pytest.mark.parametrize(
    ("path", "written", "name", "values"),
    [
        ("traffic__0__load", ["7%", "98 %", 0.5], "load", [0.07, 0.98, 0.5]),
        ("traffic__0__users", [10, 20], "users", [10, 20]),
        ("network__rtt", ["40 ms", "0.1 s", "1 min"], "rtt_s", [0.04, 0.1, 60]),
        ("link__0__rate", ["512 kbit/s", "10 Mbit/s"], "rate_bits_per_s", [512e3, 1e7]),
        ("traffic__0__tcp__window_bytes", ["64 KiB", 6000], "window_bytes", [65536, 6000]),
        ("link__0__forward__limit", ["60 packets", 120], "limit", [60, 120]),
        ("link__0__forward__max_p", ["1/10", 0.5], "max_p", [0.1, 0.5]),
        ("link__0__forward__ecn", [True, False], "ecn", [True, False]),
        ("link__0__forward", ["red", "droptail"], "forward", ["red", "droptail"]),
        ("link__0__forward", QUEUES, "forward", ["small", "aqm=droptail limit=60"]),
        ("network__rtt", ["40 ms", "10 Mbit/s"], "rtt", ["40 ms", "10 Mbit/s"]),
        ("link__0__forward__seed", [1], "link.0.forward.seed", [1]),
    ],
)
def test_numbers_are_numbers_in_base_units(real_core, path, written, name, values):
    (column,) = columns(**{path: written})
    assert column.name == name
    assert list(column.values.values()) == values


def test_two_axes_of_one_name_go_by_their_paths():
    found = columns(link__0__forward__limit=[1, 2], link__0__reverse__limit=[1])
    assert [c.name for c in found] == ["link.0.forward.limit", "link.0.reverse.limit"]


@pytest.fixture
def result(fake):
    sweep = {"link.0.forward.limit": [60, 120], "network.rtt": ["40 ms", "100 ms"], "seeds": 2}
    return aqmlab.run({"scenario": base_scenario(), "sweep": sweep})


def test_tables_have_the_axes_as_columns(result):
    rows = result.variants.rows(named=True)
    assert rows[1] == {
        "variant": 1,
        "label": "limit=60, rtt=100 ms",
        "limit": 60,
        "rtt_s": 0.1,
        "seeds": 2,
    }
    statistics = result.statistics()
    assert statistics.columns[:5] == ["variant", "label", "limit", "rtt_s", "field"]
    assert statistics.height == len(set(statistics["field"])) * 4
    one = statistics.row(
        by_predicate=(pl.col("field") == "queue_max_packets") & (pl.col("variant") == 3),
        named=True,
    )
    assert (one["limit"], one["rtt_s"], one["mean"]) == (120, 0.1, 120)
    queue = result.table("queue")
    assert queue.columns[:4] == ["variant", "limit", "rtt_s", "seed"]
    assert queue.filter(limit=120)["variant"].unique().sort().to_list() == [2, 3]


def test_a_selection_is_one_variant(result):
    for chosen in (
        result.select(limit=120, rtt_s=0.1),
        result.select(limit=120).select(rtt="100 ms"),
        result.select(**{"link.0.forward.limit": "limit=120", "network.rtt": "0.1 s"}),
    ):
        assert chosen.labels == ["limit=120, rtt=100 ms"]
        assert chosen.summary["queue_max_packets"] == 120
    assert result.select(limit=60).labels == ["limit=60, rtt=40 ms", "limit=60, rtt=100 ms"]


def test_no_variant_is_taken_silently(result):
    whole = "small has 4 variants where one is wanted: choose it, for example by result.select"
    with pytest.raises(AqmlabError) as complaint:
        print(result.summary)
    assert str(complaint.value) == f"{whole}(limit=60, rtt_s=0.04)"
    half = result.select(rtt_s=0.1)
    with pytest.raises(AqmlabError, match=r"small has 2 variants.*select\(limit=60\)"):
        aqmlab.paired(half, half)
    small, large = half.select(limit=60), half.select(limit=120)
    rows = aqmlab.paired(small, large).rows_by_key("field", named=True, unique=True)
    row = rows["queue_mean_packets"]
    assert (row["difference"], row["n"]) == (30, 2)


def test_a_mistaken_selection_says_what_there_is(result, scenario):
    with pytest.raises(AqmlabError, match="has 61 on the axis limit: choose one of 60, 120"):
        result.select(limit=61)
    with pytest.raises(AqmlabError, match='no axis "limt"; did you mean "limit"'):
        result.select(limt=60)
    with pytest.raises(AqmlabError, match="of no sweep"):
        aqmlab.run(scenario).select(limit=60)


def test_the_document_of_a_sweep_takes_none_either(result, scenario):
    document = as_json.document(result)
    assert document["summary"] is document["statistics"] is document["scenario"] is None
    last = document["variants"][-1]
    assert last["axes"] == {"limit": 120, "rtt_s": 0.1}
    assert last["summary"]["queue_max_packets"] == 120
    assert last["scenario"]["link"][0]["forward"]["limit"] == 120
    assert as_json.document(aqmlab.run(scenario))["summary"]["queue_max_packets"] == 60
