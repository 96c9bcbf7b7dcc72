import json
import math

from aqmlab import show


def test_json_knows_no_nan():
    content = {"a": math.nan, "b": [1.5, math.inf, {"c": (-math.inf, None, True)}], 3: "x"}
    assert json.loads(show.to_json(content)) == {
        "a": None,
        "b": [1.5, None, {"c": [None, None, True]}],
        "3": "x",
    }


def test_numbers_are_scaled_and_signed():
    figure = show.Figure("loss", "loss %", "drop_rate", 100, 2, "%")
    assert figure.number(0.0651) == "6.51"
    assert figure.number(0.0651, "+") == "+6.51"
    assert figure.number(-12.0) == "-1,200.00"
