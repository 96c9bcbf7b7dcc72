"""A discipline alone before a line, asked through Python."""

import pytest

from aqmlab.errors import SpecError
from aqmlab.simulator import engine

pytestmark = pytest.mark.usefixtures("real_core")


def test_a_trial_lists_every_call():
    arrivals = [{"at_ns": 5, "packet": {"bytes": 1000}}, {"at_ns": 6, "packet": {"bytes": 10}}]
    request = {
        "discipline": "droptail",
        "parameters": {"limit": 1},
        "line_bits_per_s": 8_000_000,
        "arrivals": arrivals,
    }
    (case,) = engine.trial(request)["cases"]
    assert [(c["at_ns"], c["call"], c.get("sent")) for c in case["calls"]] == [
        (5, "enqueue", None),
        (5, "dequeue", {"id": 0}),
        (6, "enqueue", None),
        (1_000_005, "dequeue", {"id": 1}),
        (1_010_005, "dequeue", None),
    ]


def test_a_mistake_is_one_sentence():
    with pytest.raises(SpecError, match=r"parameters\.limt: .*did you mean"):
        engine.trial({"discipline": "droptail", "parameters": {"limt": 1}})
