import shutil
import subprocess

import pytest

from aqmlab import bench, engine


def test_the_machine_is_named():
    assert "core" in bench.machine()


def test_the_document(fake, monkeypatch, capsys):
    def run(scenario):
        return {"data_packets_per_s": 8.0, "simulated_per_wall": 2.0}, 6.0

    monkeypatch.setattr(bench, "_run", run)
    monkeypatch.setattr(bench, "_ns2_packets_per_cpu_s", lambda: 2.0)
    measured = bench.measure()
    assert measured["A"]["ratio_to_ns2"] == 3
    assert measured["W"]["users"] == 3143  # 1,225,000 / 390 = 3,141.03, 449 a machine
    assert measured["commit"] == "fake"


def test_without_ns2_there_is_no_ratio_but_a_note(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert bench._ns2_packets_per_cpu_s() is None
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1


@pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2 is not installed")
def test_scenario_a_is_the_same_experiment_in_ns2(real_core):
    # Other TCPs, one run each: rough agreement of what the queue does.
    script = bench._ns2_script()
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
def test_the_ns2_script_runs(monkeypatch):
    monkeypatch.setattr(bench, "BULK_SECONDS", 3)
    rate = bench._ns2_packets_per_cpu_s()
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
