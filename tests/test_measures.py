"""The registry of measures as Python reads it."""

import json
import os
from pathlib import Path

import pytest

from aqmlab.cli import reference
from aqmlab.errors import AqmlabError, SpecError
from aqmlab.experiment import shapes
from aqmlab.experiment.grammar import Metric
from aqmlab.simulator import measures

GOLDEN = Path(__file__).parent / "golden" / "measures.json"


def test_the_list_of_measures_is_known(real_core):
    """Whoever renames a measure or its unit says so here: `AQMLAB_BLESS=1` writes it anew.

    Of each measure it has the values, in the order of the names at its head.
    """
    each = catalogue(real_core)
    names = sorted(each[0])
    assert all(sorted(measure) == names for measure in each)
    listed = [names, *([measure[name] for name in names] for measure in each)]
    rows = (json.dumps(row, ensure_ascii=False) for row in listed)
    written = "[\n" + ",\n".join(rows) + "\n]\n"
    if os.environ.get("AQMLAB_BLESS"):
        GOLDEN.write_text(written, "utf-8")
    assert GOLDEN.read_text("utf-8") == written


def catalogue(core) -> list[dict]:
    return json.loads(core.catalogue())["measures"]


def test_a_number_is_found_wherever_a_summary_has_it(real_core):
    assert measures.find("drop_rate")["unit"] == "share"
    for place in ("ports.bottleneck.forward.drops", "ports.a.b.reverse.drops"):
        assert measures.find(place)["name"] == "drops"
    assert measures.find("by_group.web.response_p50_s")["name"] == "response_p50_s"
    assert measures.find("gauge_max.avg")["name"] == "gauge_max.<gauge>"
    assert measures.find("wall_s") in measures.MACHINES
    assert measures.find("ports.bottleneck.forward.waits") is None


def test_what_no_summary_has_is_answered_with_what_one_has(real_core):
    assert measures.unknown("drop_rate") is None
    assert 'did you mean "mark_rate"?' in measures.unknown("marks_rate")
    assert measures.unknown("waits_mean_s").startswith('no measure "waits_mean_s"')


def test_a_metric_that_says_nothing_says_what_the_registry_says(real_core):
    assert measures.defaults("queue_delay_mean_s") == {
        "title": "Queueing delay",
        "unit": "ms",
        "scale": 1000.0,
        "digits": 1,
    }
    assert measures.defaults("datagrams.cbr.loss_share")["unit"] == "%"
    assert measures.defaults("nothing") == {}


def test_measures_are_listed_and_described(real_core):
    assert "queue_delay_mean_s" in reference.names("measures")
    entry = reference.find("ports.bottleneck.forward.drop_rate")
    assert (entry["kind"], entry["name"]) == ("measures", "drop_rate")
    with pytest.raises(AqmlabError, match='nothing is called "waits_mean_s"'):
        reference.find("waits_mean_s")


def test_a_metric_of_what_no_summary_has_is_refused(real_core):
    shown = {"name": "m", "title": "Wait", "unit": "ms", "digits": 1}
    assert shapes.read(Metric, {**shown, "summary": "queue_delay_mean_s"}).title == "Wait"
    with pytest.raises(SpecError, match='no measure "waits_mean_s"'):
        shapes.read(Metric, {**shown, "summary": "waits_mean_s"})
