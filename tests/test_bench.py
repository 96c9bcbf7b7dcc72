import shutil
import subprocess

import pytest

from aqmlab.bench import commands as bench_commands
from aqmlab.bench import other_simulators, plugin, scale, steps, turns
from aqmlab.bench import simulator as bench
from aqmlab.errors import AqmlabError, SpecError
from aqmlab.io import terminal
from aqmlab.simulator import engine


def test_the_machine_is_named():
    assert "core" in bench.machine()


def test_the_document(fake, monkeypatch, capsys):
    def run(scenario):
        return {"data_packets_per_s": 8.0, "simulated_per_wall": 2.0}, 6.0

    monkeypatch.setattr(bench, "_run", run)
    monkeypatch.setattr(other_simulators, "ns2_packets_per_cpu_s", lambda _: 2.0)
    monkeypatch.setattr(other_simulators, "ns3_packets_per_cpu_s", lambda: 0.5)
    monkeypatch.setattr(bench_commands, "PRINTING", ("--version",))
    monkeypatch.setattr(bench_commands, "REPEATS", 1)
    monkeypatch.setattr(steps, "measure", lambda _: None)
    monkeypatch.setattr(plugin, "measure", lambda _: {"packets_per_cpu_s": 2e5})
    measured = bench.measure()
    assert measured["A"]["ratio_to_ns2"] == 3
    assert measured["A"]["ratio_to_ns3"] == 12
    assert measured["W"]["users"] == 3143  # 1,225,000 / 390 = 3,141.03, 449 a machine
    assert measured["commit"] == "fake"
    assert [queue["name"] for queue in measured["queues"]] == ["red"]
    assert all(queue["within_bar"] for queue in measured["queues"])
    (command,) = measured["commands"]
    assert command["command"] == "aqmlab --version"
    assert command["cpu_s"] > 0


def test_a_discipline_in_python_costs_what_a_longer_run_takes_more(monkeypatch):
    runs = iter([(100_000, 1.5), (400_000, 3.5)])
    monkeypatch.setattr(plugin.source, "table", lambda file: {"name": "bench_aqm", "file": file})
    monkeypatch.setattr(plugin, "_run", lambda _: next(runs))
    measured = plugin.measure(bench.BULK)
    assert (measured["packets_per_cpu_s"], measured["within_bar"]) == (150_000, True)
    assert "150,000 packets per CPU second" in plugin.sentence(measured)


def test_without_ns2_there_is_no_ratio_but_a_note(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert other_simulators.ns2_packets_per_cpu_s(3) is None
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1


@pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2 is not installed")
def test_scenario_a_is_the_same_experiment_in_ns2(real_core):
    # Other TCPs, one run each: rough agreement of what the queue does.
    script = other_simulators.ns2_script()
    assert script is not None
    answer = subprocess.run(
        ["ns", str(script), "60", "check"], capture_output=True, text=True, check=True
    )
    words = answer.stdout.splitlines()[1].split()
    theirs = dict(zip(words[::2], map(float, words[1::2]), strict=True))
    ours = engine.simulate({**bench.BULK, "duration": "60 s"}).summary
    assert ours["utilisation"] == pytest.approx(theirs["utilisation"], rel=0.05)
    assert ours["drop_rate"] == pytest.approx(theirs["drop_rate"], rel=0.25)
    assert ours["queue_mean_packets"] == pytest.approx(theirs["queue_mean_packets"], rel=0.15)


@pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2 is not installed")
def test_the_ns2_script_runs():
    rate = other_simulators.ns2_packets_per_cpu_s(3)
    assert rate is not None
    assert rate > 0


def test_a_bench_run_is_measured_in_its_own_process(real_core, scenario):
    scenario["record"] = {"samples": False}
    measured, _ = bench._run(scenario)
    assert measured["data_packets"] > 0
    assert measured["simulated_s"] == 20
    # A process that imports numpy or polars would be larger.
    assert 1 < measured["peak_rss_mib"] < 64
    assert measured["events_per_packet"] > 0


def test_every_discipline_of_the_list_has_its_cost_measured(real_core, monkeypatch):
    monkeypatch.setattr(bench, "QUEUE_PACKETS", 100)
    queues = bench.queues()
    assert [queue["name"] for queue in queues] == [e["name"] for e in engine.catalogue()["aqm"]]
    first = queues[0]["name"]
    assert all(queue["ns_per_packet"] > 0 and queue["times"][first] > 0 for queue in queues)
    assert {queue["bar_ns"] for queue in queues} == {60, 150}


def test_a_discipline_that_does_not_exist_is_named(real_core):
    with pytest.raises(SpecError, match=r'no discipline "rde".*aqmlab list aqm'):
        engine.overload("rde")


def test_a_ratio_without_a_yardstick_is_no_number(monkeypatch, capsys):
    from rich.console import Console

    # A Python that does nothing may take less than a tick of the clock.
    taken = iter([0.0, 0.2, 0.01, 0.4])
    monkeypatch.setattr(bench_commands, "_cpu_s", lambda _: next(taken))
    monkeypatch.setattr(bench_commands, "REPEATS", 1)
    found = [bench_commands._measured("list"), bench_commands._measured("claims")]
    assert [one["times_python"] for one in found] == [None, 40]
    Console(width=100).print(bench_commands.table(found))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-2] for line in lines if "aqmlab" in line] == ["ok", "over"]


def test_the_table_of_queues_names_what_is_over_its_bar(capsys):
    from rich.console import Console

    cost = {"times": {"a": 1.0}, "bar_ns": 60}
    queues = [
        {"name": "a", "ns_per_packet": 20.0, "within_bar": True, **cost},
        {"name": "b", "ns_per_packet": 70.0, "within_bar": False, **cost},
    ]
    Console(width=100).print(bench._queue_table(queues))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-2] for line in lines if "60" in line] == ["ok", "over"]


def test_without_ns3_there_is_no_ratio_but_a_note(monkeypatch, capsys):
    def missing(*_, **__):
        return subprocess.CompletedProcess([], 1, "the package ns3 is not installed\n", "")

    monkeypatch.setattr(subprocess, "run", missing)
    assert other_simulators.ns3_packets_per_cpu_s() is None
    assert capsys.readouterr().err.splitlines() == [
        "aqmlab: no comparison with ns-3: the package ns3 is not installed"
    ]


def test_every_curve_of_scale_is_a_scenario_that_runs(real_core, monkeypatch):
    monkeypatch.setattr(scale, "PACKETS", 500)
    monkeypatch.setattr(scale, "LEAST_S", 2.0)
    measured = scale.measure(instructions=False, largest=10)
    assert {curve["of"]: len(curve["points"]) for curve in measured["curves"]} == {
        **dict.fromkeys(("users, plain", "users, freebsd-2.2.8", "users, linux"), 0),
        **dict.fromkeys(("open connections", "flows of FQ-CoDel"), 1),
        "packets that wait": 0,
        "links in a row": 2,
    }
    # What is too large here is checked, and not run.
    for curve in scale.curves():
        for size in curve.sizes[:2]:
            assert engine.check({"duration": "4 s", **curve.scenario(size)})


def test_a_point_is_the_difference_of_two_runs(monkeypatch):
    def run(scenario, instructions):
        seconds = float(scenario["duration"].split()[0])
        numbers = {"data_packets": 100 * seconds, "events": 300 * seconds, "peak_rss_mib": 9.0}
        return {**numbers, "instructions": 10**6 + 5_000 * seconds, "moving_s": 1 + seconds}

    monkeypatch.setattr(bench, "run_apart", run)
    curve = scale.Curve("links", [2], lambda _: {}, lambda _: 100, lambda links: links)
    counted, timed = (scale._point(curve, 2, instructions) for instructions in (True, False))
    assert (counted["cost"], counted["events"]) == (25, 1.5)
    assert timed["cost"] == 1e9 / 100 / 2


def test_many_users_and_few_take_turns(real_core, monkeypatch, capsys):
    for name, value in {
        "FEW": 10,
        "TURN_S": 0.001,
        "STEP_PACKETS": 20,
        "SIMULATED_S": 200.0,
    }.items():
        monkeypatch.setattr(turns, name, value)
    measured = turns.measure(300)
    assert [row["profile"] for row in measured["profiles"]] == list(turns.PROFILES)
    for row in measured["profiles"]:
        low, high = row["quartiles"]
        assert row["turns"] > 1 and 0 < low <= row["ratio"] <= high
        assert row["within_bar"] == (row["ratio"] >= 0.5)
    turns.show(measured, terminal.console())
    assert "300 users, packets/s" in capsys.readouterr().out


def test_turns_need_more_users_than_the_few(monkeypatch):
    with pytest.raises(AqmlabError, match="--largest 3000 is no more than 3000 users"):
        turns.measure(3_000)


def test_a_world_that_cannot_be_set_up_is_named(real_core):
    with pytest.raises(AqmlabError, match=r"benchmark 10 users, nobody failed"):
        turns._World(10, "nobody", 1.0, None)
