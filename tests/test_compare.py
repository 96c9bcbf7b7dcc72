"""Somebody else's numbers beside ours: tables, traces, verdicts, mistakes."""

import json

import pytest

from aqmlab.errors import AqmlabError, SpecError
from aqmlab.pipeline import comparing, comparing_measured
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.simulator.engine import Outcome
from aqmlab.tables import flent_file, network_tests
from aqmlab.tables.result import Result

SCENARIO = {"warmup": "10 s", "duration": "30 s"}


@pytest.fixture
def ours(real_core):
    runs = [
        FinishedRun(
            0,
            "",
            {},
            seed,
            SCENARIO,
            outcome=Outcome({"drop_rate": rate, "queue_time_mean_packets": 20.0 + seed}, {}),
        )
        for seed, rate in enumerate((0.010, 0.011, 0.012))
    ]
    return Result("ours", runs)


def file(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_table_is_judged_measure_by_measure(ours, tmp_path):
    theirs = file(
        tmp_path,
        "ns3.csv",
        "seed,drop_rate,queue_time_mean_packets\n1,0.0110,41\n2,0.0111,42\n3,0.0109,43\n",
    )
    found = comparing.compare(ours, [theirs], comparing.TRACED, "30 %")
    verdicts = {row.measure: row.verdict for row in found.rows}
    assert verdicts == {"drop_rate": "equivalent", "queue_time_mean_packets": "different"}
    (loss, _) = found.rows
    assert loss.runs == (3, 3)
    assert loss.ours == pytest.approx(0.011)
    assert found.notes == []


def test_a_trace_counts_by_its_average_over_the_measured_interval(ours, tmp_path):
    text = "# time queue\n0 900\n10 20\n20 22\n40 900\n"
    assert comparing._read(file(tmp_path, "q.txt", text))[1] == (10.0, 20.0)
    trace = [(0.0, 900.0), (10.0, 20.0), (20.0, 22.0), (40.0, 900.0)]
    assert comparing.average(trace, 10, 30) == 21
    pair = [file(tmp_path, f"q{i}.txt", text) for i in (1, 2)]
    (row,) = comparing.compare(ours, pair, comparing.TRACED, "30 %").rows
    assert (row.theirs, row.runs) == (21, (3, 2))


def test_a_measured_file_beside_runs_of_another_kind_names_the_test(ours, tmp_path, monkeypatch):
    monkeypatch.setattr(flent_file, "measured", lambda _: {})
    monkeypatch.setattr(network_tests, "said", lambda _: None)
    second = {"sum": {"bits_per_second": 9.5e6}, "streams": []}
    text = json.dumps({"start": {"test_start": {"protocol": "TCP"}}, "intervals": [second]})
    with pytest.raises(AqmlabError, match='run the same test, such as app = "tcp_1up"'):
        comparing_measured.compare(ours, [file(tmp_path, "i.json", text)], "10 %")


def test_one_run_has_no_verdict(ours, tmp_path):
    theirs = file(tmp_path, "one.csv", "drop_rate\n0.011\n")
    found = comparing.compare(ours, [theirs], comparing.TRACED, "10 %")
    assert found.rows[0].verdict == "inconclusive"
    assert found.notes == ["one run of theirs has no interval: give several for a verdict"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("drop_rates\n1\n", "no measure"),
        ("drop_rate\n", "no run in it"),
        ("drop_rate\nmuch\n", 'line 2: drop_rate is "much"'),
        ("drop_rate,seed\n1\n", "line 2: 1 cells"),
        ("0 1\n2\n", "line 2: no time and value"),
        ("1 1\n0 1\n", "line 2: the time goes back"),
        ("0 1\n1 1\nnan 2\n", "line 3: no time and value"),
    ],
)
def test_a_mistake_in_a_file_is_one_sentence(ours, tmp_path, text, why):
    with pytest.raises(SpecError, match=why):
        comparing.compare(ours, [file(tmp_path, "x.csv", text)], comparing.TRACED, "10 %")


def test_a_trace_that_ends_too_early_and_a_margin_that_is_none(ours, tmp_path):
    early = file(tmp_path, "x.txt", "0 1\n5 1\n")
    with pytest.raises(SpecError, match="--margin lots"):
        comparing.compare(ours, [early], comparing.TRACED, "lots")
    for trace in ([(50.0, 1.0)], [(0.0, 1.0), (5.0, 3.0)]):
        with pytest.raises(AqmlabError, match="lies outside the measured interval"):
            comparing.average(trace, 10, 30)


def test_the_command_prints_a_table_or_one_document(aqmlab_command):
    words = ["run", "example:bufferbloat", "--set", "duration=4 s", "--set", "warmup=1 s"]
    assert aqmlab_command(*words).returncode == 0
    answer = aqmlab_command("compare", "results/bufferbloat", "x.csv")
    assert "has 2 variants: choose one with --variant (FIFO; CoDel)" in answer.stderr
    assert aqmlab_command("run", "example:ns3-red", *words[2:]).returncode == 0
    (aqmlab_command.folder / "x.csv").write_text("utilisation\n1.0\n0.99\n")
    words = ["compare", "results/bufferbloat", "x.csv", "--variant"]
    assert "and 2 of theirs" in aqmlab_command(*words, "CoDel").stdout
    assert 'no variant "CoDe"; did you mean "CoDel"?' in aqmlab_command(*words, "CoDe").stderr
    answer = aqmlab_command("compare", "results/ns3-red", "x.csv")
    assert answer.returncode == 0, answer.stderr
    assert "of 5 runs of ours and 2 of theirs" in answer.stdout
    document = json.loads(aqmlab_command("compare", "results/ns3-red", "x.csv", "--json").stdout)
    assert document["rows"][0]["measure"] == "utilisation"
