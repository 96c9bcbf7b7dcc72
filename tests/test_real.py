"""The Python layers with the compiled simulator behind them."""

import json
import re
import signal
from pathlib import Path

import polars as pl
import pytest
from test_cli import refused, wait_for
from test_show import shown

import aqmlab
from aqmlab.runs import calibrate
from aqmlab.simulator import engine
from conftest import SCENARIO_TOML, base_scenario

pytestmark = pytest.mark.usefixtures("real_core")


def test_ten_lines_of_python(toml_file):
    result = aqmlab.run(toml_file, seeds=2, set={"link.0.forward": {"aqm": "red", "limit": 60}})
    assert len(result.runs) == 2
    assert result.summary["responses"] > 0
    responses = result.table("responses")
    assert {"seed", "end_ns", "duration_ns", "reply_bytes"} <= set(responses.columns)
    rows = result.statistics().rows_by_key("field", named=True, unique=True)
    assert rows["response_p50_s"]["n"] == 2
    assert rows["response_p50_s"]["low"] < rows["response_p50_s"]["high"]
    assert result.table("queue")["time_s"].is_sorted() is False  # two runs, one after the other
    assert result.runs[0].table("queue")["time_s"].diff().drop_nulls().to_numpy() == pytest.approx(
        0.003
    )


def test_the_summary_has_every_promised_name(scenario):
    summary = aqmlab.run(scenario).summary
    promised = (
        "arrivals departures drops marks drop_rate utilisation throughput_bytes_per_s "
        "queue_mean_packets queue_var_packets queue_max_packets queue_mean_bytes responses "
        "response_p10_s response_p50_s response_p99_s share_le_1s share_1_2s share_2_3s "
        "share_gt_3s connections retransmission_classes simulated_s wall_s "
        "data_packets_per_wall_s fingerprint"
    )
    assert set(promised.split()) <= summary.keys()
    assert summary["wall_s"] > 0


def test_every_name_is_in_the_documentation(scenario):
    page = (Path(__file__).parents[1] / "docs" / "results.md").read_text()
    scenario["traffic"].append({"app": "loop", "flows": 2})
    scenario["record"] = {"by_group": True, "sources": True}
    result = aqmlab.run(scenario)
    columns = [name for table in result.runs[0].tables() for name in result.table(table).columns]
    names = {name.removeprefix("bottleneck.forward.") for name in (*result.summary, *columns)}
    patterns = ("bottleneck.", "marks_", "response_p", "ports", "retransmission_classes")
    missing = [n for n in sorted(names) if not n.startswith(patterns) and n not in page]
    assert missing == []


def test_gauges_and_trace_arrive_and_are_documented(scenario):
    page = (Path(__file__).parents[1] / "docs" / "results.md").read_text()
    scenario["link"][0]["forward"] = {"aqm": "red", "limit": 60}
    scenario["record"] = {"gauges": True, "trace": True}
    result = aqmlab.run(scenario)
    queue, trace = (result.runs[0].table(name) for name in ("queue", "trace"))
    gauges = {name.removeprefix("bottleneck.forward.") for name in queue.columns[2:]}
    assert gauges == {"avg", "p_b", "count"} == result.summary["gauge_mean"].keys()
    names = (*trace.columns, "gauge_max.<gauge>", "avg", "p_b")
    assert [name for name in names if f"`{name}`" not in page] == []
    measured = queue.filter(queue["time_s"] >= 5)["bottleneck.forward.avg"]
    assert result.summary["gauge_max"]["avg"] == measured.max() > 0
    assert result.statistics().rows_by_key("field", named=True)["gauge_mean.avg"]
    drops = trace.filter((trace["event"] == 2) & (trace["time_ns"] >= 5_000_000_000))
    assert len(drops) == result.summary["drops"] > 0
    assert drops["again"].sum() == result.summary["retransmissions_dropped"]


def test_the_same_seed_is_the_same_run_on_any_number_of_threads(scenario):
    one = aqmlab.run(scenario, seeds=4, jobs=1)
    many = aqmlab.run(scenario, seeds=4, jobs=4)
    prints = [[run.summary["fingerprint"] for run in result.runs] for result in (one, many)]
    assert prints[0] == prints[1]
    assert len(set(prints[0])) == 4


def test_the_canonical_scenario_is_the_same_run(scenario):
    canonical = engine.check(scenario)
    assert engine.check(canonical) == canonical
    prints = {aqmlab.run(text).summary["fingerprint"] for text in (scenario, canonical)}
    assert len(prints) == 1


def test_two_results_pair_by_seed(scenario):
    short = aqmlab.run(scenario, seeds=3, set={"link.0.forward.limit": 10})
    long = aqmlab.run(scenario, seeds=3, set={"link.0.forward.limit": 100})
    rows = aqmlab.paired(short, long).rows_by_key("field", named=True, unique=True)
    queue = rows["queue_mean_packets"]
    assert queue["n"] == 3
    assert queue["difference"] == pytest.approx(queue["mean_b"] - queue["mean_a"])
    assert queue["low"] <= queue["difference"] <= queue["high"]
    # the users of a seed ask for the same things whatever the queue
    first, second = (result.runs[0].table("responses") for result in (short, long))
    assert set(first["reply_bytes"]) & set(second["reply_bytes"])


def test_common_random_numbers(scenario):
    document = {"scenario": scenario, "sweep": {"link.0.forward.limit": [200, 201], "seeds": 3}}
    result = aqmlab.run(document)
    difference = result.paired(0, 1).rows_by_key("field", named=True, unique=True)
    # An underloaded link never fills either buffer: the users are the same to the last byte.
    assert result.select(limit=200).summary["drops"] == 0
    assert difference["data_packets"]["difference"] == 0
    assert difference["queue_mean_packets"]["high"] == 0


def test_a_load_is_calibrated(scenario):
    web = scenario["traffic"][0]
    del web["users"]
    web["load"] = "80%"
    line = calibrate.calibrate(scenario, duration="10 min", warmup="5 min")
    # Some 410 in the long run; more at first, because long think times are still to come.
    assert 350 < line.bytes_per_user_s < 550
    assert line.ci[0] < line.bytes_per_user_s < line.ci[1]
    assert line.r_squared >= calibrate.MIN_R_SQUARED
    document = {"scenario": scenario, "calibration": {"duration": "10 min", "warmup": "5 min"}}
    result = aqmlab.run(document)
    users = result.runs[0].scenario["traffic"][0]["users"]
    assert users % 7 == 0
    assert line.load_of(users, 10e6) == pytest.approx(0.8, abs=0.002)


@pytest.mark.parametrize(
    ("override", "named"),
    [
        ("durration=3 s", ['did you mean "duration"']),
        ("link.0.forwrd.limit=3", ['did you mean "forward"']),
        ("link.0.rate=10 ms", ["link.0.rate"]),
        ("link.0.rate=0 Mbit/s", ["link.0.rate"]),
        ("link.0.rate=-1 Mbit/s", ["link.0.rate"]),
        ("link.0.forward={aqm='red', min_th=90, max_th=30}", ["min_th"]),
        ("traffic.0.load=9800%", ["traffic.0.load"]),
        ("duration=1 s", ["warmup"]),
    ],
)
def test_mistakes_in_a_scenario(aqmlab_command, toml_file, override, named):
    refused(aqmlab_command("run", toml_file, "--set", override), "small.toml", *named)
    assert not (aqmlab_command.folder / "results").exists()


def test_every_group_is_calibrated_by_its_own_load(scenario):
    pages = {"app": "http", "start": "stationary"}  # five files of fixed sizes, 3 s of thinking
    scenario["traffic"] = [
        {**pages, "load": "60%"},
        {"app": "packmime", "load": "20%"},
        {**pages, "load": "80%", "side": "servers"},
    ]
    scenario["link"][0]["reverse_rate"] = "5 Mbit/s"
    document = {"scenario": scenario, "calibration": {"duration": "120 s", "warmup": "60 s"}}
    result = aqmlab.run(document)
    right, packmime, left = result.runs[0].scenario["traffic"]
    # 36,000 B of payload a page and some headers, every 3 s and a few round trips.
    assert right["users"] == pytest.approx(0.6 * 10e6 / 8 / (37_900 / 3.4), rel=0.1)
    assert left["users"] == pytest.approx(0.8 * 5e6 / 8 / (37_900 / 3.4), rel=0.1)
    assert packmime["connections_per_s"] == pytest.approx(0.2 * 10e6 / 8 / 8_860, rel=0.01)


def test_json_is_all_of_standard_output(aqmlab_command, toml_file):
    for words in (["run", toml_file, "--seeds", "2"], ["list"], ["describe", "red"]):
        answer = aqmlab_command(*words, "--json")
        assert answer.returncode == 0, answer.stderr
        json.loads(answer.stdout)


SEEDS = 24


@pytest.fixture(scope="module")
def whole(real_core, tmp_path_factory) -> list[str]:
    """The fingerprints of runs that nobody stopped."""
    file = tmp_path_factory.mktemp("whole") / "small.toml"
    file.write_text(SCENARIO_TOML)
    found = aqmlab.run(file, seeds=SEEDS, set=["duration=10 min"])
    return [run.summary["fingerprint"] for run in found.runs]


@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_a_stopped_command_resumes(aqmlab_command, toml_file, whole, how, code):
    words = ["run", toml_file, "--seeds", SEEDS, "--set", "duration=10 min", "--jobs", 2]
    process = aqmlab_command.start(*words)
    runs = aqmlab_command.folder / "results" / "small" / "runs"
    wait_for(lambda: len(list(runs.glob("[!.]*/manifest.json"))) >= 2, process, "two runs")
    process.send_signal(how)
    process.communicate(timeout=60)
    assert process.returncode == code
    kept = len(list(runs.glob("[!.]*/manifest.json")))
    assert 2 <= kept < SEEDS
    document = json.loads(aqmlab_command(*words, "--json").stdout)
    assert sum(run["cached"] for run in document["runs"]) == kept
    # What was interrupted and resumed is what would have come out in one go.
    assert [run["summary"]["fingerprint"] for run in document["runs"]] == whole


EXAMPLES = sorted(Path(aqmlab.__file__).parent.glob("experiments/examples/*.toml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_a_good_experiment(path, monkeypatch):
    assert len(EXAMPLES) >= 5
    # What a load means is another test's matter; it takes longer than all examples together.
    line = calibrate.Calibration(
        bytes_per_user_s=2_000.0, r_squared=1.0, points=[], ci=(1_900.0, 2_100.0)
    )
    monkeypatch.setattr(calibrate, "calibrate", lambda *_, **__: line)
    result = aqmlab.run(path, set={"duration": "6 s", "warmup": "2 s"})
    assert all(run.summary["arrivals"] > 0 for run in result.runs)


def test_datagrams_are_told_by_group(capsys):
    voice = {"name": "voice", "app": "cbr", "preset": "audio", "users": 3, "side": "servers"}
    bulk = {"app": "bulk", "flows": 2}
    scenario = base_scenario(traffic=[bulk, voice])
    result = aqmlab.run(scenario)
    said = re.sub(" +", " ", shown(result))
    assert "voice: lost" in said
    assert "voice: in time 100.0 %" in said
    assert "Jain's index" in said
    assert result.table("streams").height == 3
    assert result.table("flows")["goodput_bits_per_s"].sum() > 5e6


def test_calls_and_films_are_told_where_there_are_some():
    film = {"name": "film", "app": "video", "users": 2, "start_within": "0 s"}
    talk = {"name": "talk", "app": "voip", "users": 1, "side": "servers"}
    scenario = base_scenario(traffic=[film, talk])
    result = aqmlab.run(scenario)
    said = re.sub(" +", " ", shown(result))
    assert f"video, bit rate {result.summary['video_bitrate_mean_bits_per_s'] / 1e6:.2f}" in said
    assert f"calls, rating R {result.summary['voip_r_mean']:.1f}" in said
    assert result.table("calls").height == 2
    assert result.table("players").height == 2
    shares = result.table("player_rates").group_by("user").agg(pl.col("share").sum())
    assert shares["share"].to_list() == pytest.approx([1.0, 1.0])
    swept = {"scenario": scenario, "sweep": {"link.0.forward.limit": [50, 100]}}
    assert "frozen %" in shown(aqmlab.run(swept))
    assert "video" not in shown(aqmlab.run(base_scenario()))


def test_a_table_of_variants_shows_what_the_groups_are_there_for():
    burst = {"name": "surge", "app": "burst", "flows": 3, "bytes": "20 kB", "start_at": "6 s"}
    voice = {"name": "voice", "app": "cbr", "preset": "audio", "users": 1}
    scenario = base_scenario(traffic=[burst, voice])
    one = aqmlab.run(scenario)
    elapsed = one.summary["transfers"]["surge"]["elapsed_s"]
    assert f"surge: elapsed {elapsed:.2f} s" in re.sub(" +", " ", shown(one))
    swept = {"scenario": scenario, "sweep": {"link.0.forward.limit": [50, 100]}}
    said = shown(aqmlab.run(swept))
    assert "voice lost %" in said and "voice in time %" in said
    # The differences in one table, the groups in tables of their own; nobody asks for replies here.
    assert said.count("surge s") == 1 and "limit=100: surge" in said
    assert "limit=50: voice" in said and "Requests and pages" not in said
    assert "p50 ms" not in said.replace("delay p50 ms", "") and "undefined" not in said
    assert f"{elapsed:.2f}" in said
    swept["scenario"]["traffic"] = base_scenario()["traffic"]
    assert "p50 ms" in shown(aqmlab.run(swept))


def test_every_row_of_a_group_has_its_name_and_its_place_in_the_scenario():
    call = {"app": "voip", "name": "call", "users": 1, "start": "1 s"}
    noise = {"app": "cbr", "name": "noise", "flows": 1, "rate": "64 kbit/s"}
    asks = {"app": "web", "name": "asks", "users": 5, "think": "1 s"}
    bulk = {"app": "bulk", "name": "bulk", "flows": 1, "start_within": "1 ms"}
    burst = {"app": "burst", "name": "burst", "flows": 1, "bytes": 9000}
    tables = engine.simulate(
        {
            "duration": "9 s",
            "warmup": "2 s",
            "link": [{"rate": "2 Mbit/s"}],
            "traffic": [call, noise, asks, bulk, burst],
            "record": {"sources": True, "by_group": True, "pages": True, "trace": True},
        }
    ).tables
    names = ["call", "noise", "asks", "bulk", "burst"]
    seen = set()
    for name, table in tables.items():
        if "group" in table.column_names:
            groups = table["group"].to_pylist()
            assert table["group_name"].to_pylist() == [names[g] for g in groups], name
            seen |= {(name, names[g]) for g in groups}
    assert {
        ("calls", "call"),
        ("streams", "call"),
        ("streams", "noise"),
        ("responses", "asks"),
        ("sources", "asks"),
        ("pages", "asks"),
        ("response_histogram", "asks"),
        ("flows", "bulk"),
        ("transfers", "burst"),
        ("trace", "bulk"),
    } <= seen
