import pytest

from aqmlab.errors import EngineError, SpecError
from aqmlab.simulator import engine


def test_tables_come_as_columns_with_their_times(fake, scenario):
    outcome = engine.simulate({**scenario, "seed": 3})
    queue = outcome.tables["queue"]
    assert queue.column_names == ["time_s", "bottleneck.forward"]
    assert queue["time_s"].to_pylist() == pytest.approx([1.5, 1.503, 1.506, 1.509, 1.512])
    assert queue["bottleneck.forward"].to_pylist() == [3, 4, 5, 6, 7]
    assert outcome.tables["responses"].column_names == ["end_ns", "failed"]
    assert outcome.tables["responses"].schema.field("end_ns").type == "uint64"
    assert outcome.tables["empty"].num_rows == 0


def test_the_wall_clock_is_filled_in(fake, scenario):
    summary = engine.simulate(scenario).summary
    assert summary["wall_s"] > 0
    assert summary["data_packets_per_wall_s"] == pytest.approx(500 / summary["wall_s"])


def test_errors_are_translated(fake, scenario):
    scenario["durration"] = "1 s"
    for call in (engine.simulate, engine.check):
        with pytest.raises(SpecError, match="unknown field"):
            call(scenario)


def test_progress_can_stop_a_run(fake, scenario):
    seen = []

    def progress(simulated_s):
        seen.append(simulated_s)
        return len(seen) < 3

    with pytest.raises(engine.Cancelled):
        engine.simulate(scenario, progress)
    assert seen == pytest.approx([0.1, 0.2, 0.3])


def test_a_missing_simulator_is_one_sentence(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "aqmlab._core", None)
    monkeypatch.delattr("aqmlab._core", raising=False)
    with pytest.raises(EngineError, match="make run"):
        engine.version()


def test_cpu_time_is_not_time_on_the_wall(fake, scenario, monkeypatch):
    monkeypatch.setenv("FAKE_RUN_S", "0.4")  # it sleeps
    summary = engine.simulate(scenario).summary
    assert summary["wall_s"] >= 0.4
    assert 0 <= summary["cpu_s"] < summary["wall_s"] / 2
