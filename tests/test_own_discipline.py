"""A user's own disciplines in Python: they run wherever ours do; what they do wrong is told."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

import aqmlab
from aqmlab.errors import AqmlabError

FIFO = '''
from collections import deque
import aqmlab

class PyFifo(aqmlab.Discipline):
    """First come, first served."""

    room = aqmlab.parameter(83, "packets that may wait", unit="packets", least=1)
    gauges = ("length",)

    def __init__(self):
        self.waiting = deque()

    @property
    def length(self):
        return len(self.waiting)

    def enqueue(self, packet, queue):
        if len(self.waiting) == self.room:
            queue.drop(packet, "overflow")
        else:
            self.waiting.append(packet)

    def dequeue(self, queue):
        return self.waiting.popleft() if self.waiting else None
'''

JUDGE = '''
import aqmlab

class Threshold(aqmlab.Discipline):
    """Signals at random above a number of packets."""

    threshold = aqmlab.parameter("20 packets", "where it begins", least=1)
    p = aqmlab.parameter(0.2, "how often", least=0.0, most=1.0)
    every = aqmlab.parameter("100 ms", "between two updates", above="0 s")
    gauges = ("ticks", "lost")

    def __init__(self):
        self.period = self.every
        self.ticks = self.lost = 0
        if self.threshold == 13:
            raise ValueError("13 brings bad luck")

    def admit(self, packet, queue):
        if queue.packets >= self.threshold and queue.uniform() < self.p:
            return aqmlab.SIGNAL

    def decided(self, what, why, queue):
        self.lost += what == "dropped"

    def tick(self, queue):
        self.ticks += 1
'''


RENO = '''
import aqmlab

class PyReno(aqmlab.CongestionControl):
    """Reno in whole segments."""

    beta = aqmlab.parameter(0.5, "what congestion leaves", least=0.1, most=0.9)
    pause = aqmlab.parameter("1 s", "of no use", above="0 s")
    gauges = ("count",)

    def __init__(self):
        self.count = 0
        if self.beta == 0.13:
            raise ValueError("0.13 brings bad luck")

    def on_ack(self, window, ack):
        if not ack.may_grow:
            return
        mss, segments = window.mss, ack.segments
        if window.cwnd < window.ssthresh:
            used = min(-(-(window.ssthresh - window.cwnd) // mss), segments)
            window.cwnd = min(window.cwnd + used * mss, window.ssthresh)
            segments -= used
        if segments:
            whole = window.cwnd // mss
            if self.count >= whole:
                self.count = 0
                window.cwnd += mss
            self.count += segments
            if self.count >= whole:
                more, self.count = divmod(self.count, whole)
                window.cwnd += more * mss

    def on_loss(self, window):
        self.count = 0
        window.ssthresh = max(int(window.cwnd // window.mss * self.beta), 2) * window.mss
'''


def scenario(queue: object, **changes) -> dict:
    return {
        "duration": "10 s",
        "link": [{"name": "bottleneck", "rate": "10 Mbit/s", "forward": queue}],
        "traffic": [{"app": "bulk", "flows": 5}],
        **changes,
    }


@pytest.fixture
def written(tmp_path, monkeypatch, real_core):
    """Writes a discipline beside us."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, text: str) -> str:
        Path(name).write_text(dedent(text))
        return name

    return write


def described(queue: object, **changes) -> str:
    with pytest.raises(AqmlabError) as caught:
        aqmlab.run(scenario(queue, **changes))
    return str(caught.value)


def broken(body: str) -> str:
    return f"import aqmlab\nclass Bad(aqmlab.Discipline):\n    def {body}\n"


def test_a_holder_in_python_serves_as_ours_does(written):
    own = aqmlab.run(scenario({"aqm": written("fifo.py", FIFO)}))
    ours = aqmlab.run(scenario({"aqm": "droptail", "limit": 83}))
    assert own.summary["fingerprint"] == ours.summary["fingerprint"]
    assert own.summary["drops"] > 0


def test_a_judge_has_our_buffer_and_ecn_its_ticks_and_gauges(written):
    queue = {"aqm": written("judge.py", JUDGE), "limit": 40, "ecn": True}
    traffic = [{"app": "bulk", "flows": 5, "tcp": {"profile": "linux", "ecn": True}}]
    record = {"samples": True}
    first = aqmlab.run(scenario(queue, traffic=traffic, record=record))
    assert first.summary["marks"] > 0
    assert first.summary["queue_max_packets"] <= 40
    again = aqmlab.run(scenario(queue, traffic=traffic, record=record), jobs=2)
    assert again.summary["fingerprint"] == first.summary["fingerprint"]
    other = aqmlab.run(scenario(queue, traffic=traffic), seed=2)
    assert other.summary["fingerprint"] != first.summary["fingerprint"]


def test_a_sweep_names_it_beside_ours_and_its_source_is_part_of_the_results(written):
    file = written("judge.py", JUDGE)
    experiment = {
        "name": "beside",
        "scenario": scenario({"aqm": "droptail"}),
        "sweep": {"link.0.forward.aqm": ["red", file], "seeds": 2},
    }
    first = aqmlab.run(experiment, out="results")
    assert first.labels == ["aqm=red", "aqm=threshold"]
    assert all(run.cached for run in aqmlab.run(experiment, out="results").runs)
    written("judge.py", JUDGE.replace("0.2", "0.3"))
    changed = aqmlab.run(experiment, out="results").runs
    assert [run.cached for run in changed] == [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (broken("admit(self, p, q): return 1 / 0"), "own.py, line 3, in admit: ZeroDivisionError"),
        (broken("admit(self, p, q): return 9"), "admit answered something else than"),
        (broken("admit(self, p, q): q.drop(p)"), "drops and marks by its answer only"),
        (broken("nothing(self): pass"), "needs either admit(self, packet, queue) or both"),
        ("import nosuch_neighbour", "a discipline is one file"),
        ("def f(:\n", "own.py, line 1: invalid syntax"),
        ("x = 1", "own.py defines 0 disciplines"),
        (
            FIFO.replace("self.waiting.popleft()", "self.waiting[0]"),
            "does not wait: each leaves once",
        ),
        (JUDGE.replace('"20 packets"', '"20 parrots"'), "'20 parrots' is no quantity"),
        (JUDGE.replace("least=1)", "least=99)"), "out of its own range"),
        (JUDGE + "\nclass Other(Threshold): pass\n", "name one, own.py:Threshold"),
    ],
)
def test_what_is_wrong_is_one_sentence(written, text, sentence):
    assert sentence in described({"aqm": written("own.py", text)})


def test_parameters_are_checked_as_ours_are(written):
    file = written("judge.py", JUDGE)
    assert 'did you mean "threshold"?' in described({"aqm": file, "treshold": 3})
    assert "0 is out of range" in described({"aqm": file, "threshold": 0})
    assert "has no unit" in described({"aqm": file, "every": 5})
    assert "13 brings bad luck" in described({"aqm": file, "threshold": 13})
    assert "no such file" in described({"aqm": "nowhere.py"})
    assert 'did you mean "Threshold"?' in described({"aqm": f"{file}:Treshold"})


def test_a_class_is_named_by_the_file_that_it_stands_in(written, monkeypatch):
    from aqmlab.simulator.plugin import source

    written("own_judge.py", JUDGE)
    monkeypatch.syspath_prepend(".")
    described = source.of_class(importlib.import_module("own_judge").Threshold)
    assert (described["name"], described["class"], described["text"]) == (
        "threshold",
        "Threshold",
        JUDGE,
    )
    with pytest.raises(AqmlabError, match="stands in no file"):
        source.of_class(type("Loose", (aqmlab.Discipline,), {"__module__": "builtins"}))


def test_ctrl_c_stops_one_that_hangs(written, tmp_path):
    text = "import aqmlab\nclass Hang(aqmlab.Discipline):\n"
    text += "    def admit(self, p, queue):\n        while queue.now_s > 1: pass\n"
    written("hang.py", text)
    Path("s.json").write_text(json.dumps(scenario({"aqm": "hang.py"})))
    program = "import json, aqmlab; aqmlab.run(json.load(open('s.json')), out='r')"
    run = subprocess.Popen(
        [sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for _ in range(200):
        if Path("r/runs").is_dir():
            break
        time.sleep(0.1)
    time.sleep(0.5)
    run.send_signal(signal.SIGINT)
    assert "stopped" in run.communicate(timeout=60)[1]


def test_a_study_that_goes_through_disciplines_has_one_more(written):
    from aqmlab.experiment.experiment import load

    file = written("judge.py", JUDGE)
    ours, own = load("rfc7928"), load("rfc7928", aqm=[file])
    longer = [
        (group.name, axis.name, axis.variants[-1])
        for group, before in zip(own.group, ours.group, strict=True)
        for axis, had in zip(group.axes, before.axes, strict=True)
        if len(axis.variants) > len(had.variants)
    ]
    assert {"congestion", "ecn", "bursts", "capacity"} <= {group for group, *_ in longer}
    assert all(variant.name == "threshold" for *_, variant in longer)
    (queue,) = {group: v for group, _, v in longer}["congestion"].set.values()
    assert (queue["limit"], queue["aqm"]["text"]) == (83, JUDGE)
    assert any("threshold" in figure.of.get("mark", ()) for figure in own.figure)


def test_a_study_that_goes_through_controls_has_one_more(written):
    """RFC 9743's study with a control of one's own, which is Reno: its figures are `reno`'s."""
    importlib.import_module("aqmlab.pipeline.study")
    from aqmlab.experiment.experiment import load

    file = written("reno.py", RENO)
    ours, own = load("rfc9743"), load("rfc9743", aqm=[file])
    more = [
        (group.name, axis.variants[-1])
        for group, before in zip(own.group, ours.group, strict=True)
        for axis, had in zip(group.axes, before.axes, strict=True)
        if len(axis.variants) > len(had.variants)
    ]
    assert [group for group, _ in more] == ["alone", "collapse", "beside", "people"]
    for _, variant in more:
        (end,) = variant.set.values()
        assert (variant.name, end["profile"]) == ("py_reno", "linux")
        assert end["congestion"]["name"]["text"] == RENO
    with pytest.raises(AqmlabError, match="goes through no congestion controls"):
        aqmlab.run(scenario("codel"), aqm=file)


def test_a_scenario_studies_it_in_place_of_its_own(written):
    file = written("judge.py", JUDGE)
    plain = scenario({"aqm": "red", "limit": 30})
    own = aqmlab.run(plain, aqm=file)
    same = aqmlab.run(scenario({"aqm": file, "limit": 30}))
    assert own.summary["fingerprint"] == same.summary["fingerprint"]
    with pytest.raises(AqmlabError, match="give one --aqm"):
        aqmlab.run(plain, aqm=[file, file])
    with pytest.raises(AqmlabError, match="names no file"):
        aqmlab.run(plain, aqm="codel")


def behind(control: object, **changes) -> dict:
    tcp = {"profile": "linux", "ecn": True, "congestion": control}
    queue = {"aqm": "red", "limit": 60, "ecn": True}
    return scenario(queue, traffic=[{"app": "bulk", "flows": 3, "tcp": tcp}], **changes)


GROWS = "window.cwnd = min(window.cwnd + used * mss, window.ssthresh)"


def refused(control: object) -> str:
    with pytest.raises(AqmlabError) as caught:
        aqmlab.run(behind(control))
    return str(caught.value)


def test_a_congestion_control_in_python_that_imitates_reno_gives_renos_fingerprints(written):
    file = written("reno.py", RENO)
    effects = [{"kind": "loss", "share": "1%"}]
    for profile in ("linux", "plain"):
        runs = []
        for control in (file, "reno"):
            made = behind(control, duration="20 s")
            made["traffic"][0]["tcp"]["profile"] = profile
            made["link"][0]["effects"] = effects
            runs.append(aqmlab.run(made).summary)
        assert runs[0]["fingerprint"] == runs[1]["fingerprint"]
        assert min(runs[0]["fast_retransmits"], runs[0]["marks"]) > 0


def test_a_control_has_parameters_and_stands_in_sweeps(written):
    file = written("reno.py", RENO)
    experiment = {
        "name": "controls",
        "scenario": behind("reno", duration="5 s"),
        "sweep": {"traffic.0.tcp.congestion": ["reno", {"name": file, "beta": 0.8}]},
    }
    found = aqmlab.run(experiment)
    assert found.labels == ["congestion=reno", "congestion=py_reno"]
    assert len({run.summary["fingerprint"] for run in found.runs}) == 2


def test_windows_and_gauges_of_controls_are_a_table_and_change_nothing(written):
    """The table as its second group, reno of ours, lacks the gauge of the first."""
    made = behind(written("reno.py", RENO), duration="5 s")
    made["traffic"].append({**behind("reno")["traffic"][0], "name": "ours"})
    plain = aqmlab.run(made)
    made["record"] = {"controls": True, "queue_every": "50 ms"}
    sampled = aqmlab.run(made)
    assert sampled.summary["fingerprint"] == plain.summary["fingerprint"]
    assert sampled.summary["events"] == plain.summary["events"]
    table = sampled.table("controls")
    own, ours = (table.filter(table["group"] == group) for group in (0, 1))
    assert set(table["time_ns"].unique() % 50_000_000) == {0}
    for rows in (own, ours):
        assert rows["time_ns"].max() == 5_000_000_000
        assert rows["user"].n_unique() == made["traffic"][0]["flows"]
        assert set(rows["end"]) == {0}
        assert rows["cwnd_bytes"].min() >= 1448
        assert 0.01 < rows["srtt_s"].drop_nans().median() < 0.5
    assert own["gauge.count"].is_not_nan().all()
    assert 0 < own["gauge.count"].max() <= own["cwnd_bytes"].max() // 1448
    assert ours["gauge.count"].is_nan().all()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("self.count = 0", "self.count = 1 / 0"), "ZeroDivisionError"),
        ((GROWS, "window.cwnd = 0"), "has set cwnd to 0 bytes"),
        ((GROWS, "window.cwnd = -1"), "set a number that is not negative"),
        (("def on_ack", "def no_ack"), "needs on_ack(self, window, ack)"),
        (("gauges =", "ecn = 'loud'\n    gauges ="), "write classic, dctcp or l4s"),
    ],
)
def test_what_a_control_does_wrong_is_one_sentence(written, change, sentence):
    assert sentence in refused(written("own.py", RENO.replace(*change)))


def test_parameters_of_a_control_are_checked_as_ours_are(written):
    file = written("reno.py", RENO)
    assert "0.13 brings bad luck" in refused({"name": file, "beta": 0.13})
    assert "out of range" in refused({"name": file, "beta": 2})
    assert 'did you mean "beta"' in refused({"name": file, "bets": 0.5})
    assert "unknown aqm" in described({"aqm": file})


@pytest.mark.parametrize("wrong", [{"file": "reno.py"}, {"name": {"file": "reno.py"}}])
def test_a_table_in_place_of_a_file_s_name_is_refused_with_what_to_write(written, wrong):
    written("reno.py", RENO)
    assert refused(wrong).endswith('write the name alone, congestion = "reno.py"')
    written("fifo.py", FIFO)
    assert described({"aqm": {"file": "fifo.py"}}).endswith('aqm = "fifo.py"')
