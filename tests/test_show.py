import io
import json
import math
import re

import aqmlab
from aqmlab.cli import as_json, show
from conftest import base_scenario


def test_json_knows_no_nan():
    content = {"a": math.nan, "b": [1.5, math.inf, {"c": (-math.inf, None, True)}], 3: "x"}
    assert json.loads(as_json.to_json(content)) == {
        "a": None,
        "b": [1.5, None, {"c": [None, None, True]}],
        "3": "x",
    }


def test_numbers_are_scaled_and_signed():
    figure = show.Figure("drop_rate", "loss", "%", 100, 2)
    assert figure.number(0.0651) == "6.51"
    assert figure.number(0.0651, "+") == "+6.51"
    assert figure.number(-12.0) == "-1,200.00"


def shown(result) -> str:
    from rich.console import Console

    console = Console(width=160, file=io.StringIO(), record=True)
    show.result(result, console)
    return console.export_text()


def test_what_failed_requests_make_undefined_is_said(fake, monkeypatch):
    real = fake._summary

    def summary(scenario, *rest):
        lost = 5 if scenario["seed"] == 2 else 0
        times = {"response_p99_s": None if lost else 1.0, "responses_failed": lost}
        return real(scenario, *rest) | {"responses": 100} | times

    monkeypatch.setattr(fake, "_summary", summary)
    one = shown(aqmlab.run(base_scenario(), seed=2))
    assert re.search(r"99 % +- +undefined: too many requests failed", one)
    assert re.search(r"failed requests +5", one)
    several = shown(aqmlab.run(base_scenario(), seeds=3))
    assert "undefined: 1 of 3 seeds lost too many requests" in several
    fine = shown(aqmlab.run(base_scenario(), seed=1))
    assert "failed" not in fine


def test_cpu_time_is_said_where_it_is_known_and_nothing_else_called_so():
    run = {"simulated_s": 100.0, "wall_s": 4.0, "cpu_s": 2.0}
    assert show._effort([run, run]) == (
        "200 s simulated in 4.0 s of CPU time, 50 x real time per core"
    )
    unknown = "200 s simulated; the runs lasted 8.0 s in all"
    assert show._effort([run, run | {"cpu_s": None}]) == unknown
    older = {"simulated_s": 200.0, "wall_s": 8.0}
    assert show._effort([older]) == unknown
    assert show._effort([run | {"live": {}, "cpu_s": None}]) == "100 s in real time"


def test_a_terminal_gets_a_short_picture_on_one_scale(monkeypatch):
    import polars as pl

    from aqmlab.cli import sparks
    from aqmlab.io import terminal

    class Run:
        def __init__(self, *delays_s):
            self.summary = {"studied_port": "b.forward", "simulated_s": 3.0}
            self._delays = delays_s

        def table(self, name):
            assert name == "seconds"
            return pl.DataFrame({"b.forward.queue_delay_mean_s": self._delays})

    class Result:
        labels = ("FIFO", "codel")
        name = "x"
        runs = (Run(0.0, 0.5, 1.5), Run(0.001, None, 0.005))

        def variant(self, number):
            return [self.runs[number]]

    monkeypatch.setattr(terminal, "is_unicode", lambda: True)
    assert sparks.lines(Result()) == [
        "how long packets wait, 0 to 3 s (the highest bar is 1.5 s)",
        "FIFO  | ▃█| at most 1.5 s",
        "codel |▁ ▁| at most 5.0 ms",
    ]
