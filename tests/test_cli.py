import json
import os
import signal
import subprocess
import sys
import time

import pytest

FIELDS = {"scenario", "summary", "runs", "statistics", "paired"}


def refused(answer, *words):
    """A user's mistake: one line, exit code 2, nothing on standard output."""
    assert answer.returncode == 2, answer.stderr
    assert answer.stdout == ""
    assert len(answer.stderr.splitlines()) == 1, answer.stderr
    for word in words:
        assert word in answer.stderr
    assert "Traceback" not in answer.stderr


def test_run_json_is_one_document_and_nothing_else(command, toml_file):
    answer = command("run", toml_file, "--json", "--seeds", 3)
    assert answer.returncode == 0, answer.stderr
    document = json.loads(answer.stdout)
    assert document.keys() >= FIELDS
    assert [run["seed"] for run in document["runs"]] == [1, 2, 3]
    drops = document["statistics"]["drops"]
    assert (drops["mean"], drops["n"]) == (2, 3)
    assert drops["low"] == pytest.approx(2 - 4.302653 / 3**0.5, abs=1e-5)
    assert document["scenario"]["link"][0]["forward"]["limit"] == 60
    assert document["paired"] == []
    assert (command.folder / "results" / "small" / "manifest.json").exists()


def test_one_run_has_no_interval(command, toml_file):
    document = json.loads(command("run", toml_file, "--json", "--seed", 7).stdout)
    assert document["summary"]["drops"] == 7
    assert document["statistics"]["drops"] == {"mean": 7, "low": None, "high": None, "n": 1}


def test_set_and_out(command, toml_file):
    answer = command(
        "run",
        toml_file,
        "--json",
        "--set",
        "link.0.forward.limit=30",
        "--set",
        "link.0.rate=5 Mbit/s",
        "--out",
        "here",
    )
    document = json.loads(answer.stdout)
    assert document["scenario"]["link"][0]["rate"] == "5 Mbit/s"
    assert document["summary"]["queue_max_packets"] == 30
    assert (command.folder / "here" / "manifest.json").exists()
    assert not (command.folder / "results").exists()


def test_a_sweep_is_paired(command):
    import conftest

    path = command.folder / "sweep.toml"
    body = conftest.SCENARIO_TOML.replace("[[", "[[scenario.")
    path.write_text('[sweep]\n"link.0.forward.limit" = [60, 120]\nseeds = 2\n[scenario]' + body)
    document = json.loads(command("run", path, "--json").stdout)
    assert [variant["label"] for variant in document["variants"]] == ["limit=60", "limit=120"]
    queue = next(row for row in document["paired"] if row["field"] == "queue_mean_packets")
    assert (queue["a"], queue["b"], queue["difference"]) == ("limit=60", "limit=120", 30)
    human = command("run", path).stdout
    assert "limit=120" in human
    assert "difference from limit=60" in human
    assert "+30.0 ± 0.0" in human
    assert "4 of 4 from an earlier command" in human


def test_human_output(command, toml_file):
    human = command("run", toml_file).stdout
    assert "queue, mean" in human
    assert "response time, median" in human
    assert "300  ms" in human
    assert "fingerprint" in human
    human = command("run", toml_file, "--seeds", 3).stdout
    assert "mean ± half 95 % interval of 3 seeds" in human
    assert "36.0 ± 7.5" in human  # 33, 36, 39: 4.3027 * 3 / sqrt(3)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["run", "missing.toml"], ["missing.toml: no such file"]),
        (["run", "small.toml", "--set", "durration=3 s"], ["small.toml", "durration"]),
        (["run", "small.toml", "--set", "nonsense"], ["--set"]),
        (["run", "small.toml", "--set", "link.7.rate=1"], ["link.7.rate", "count from 0"]),
        (["run", "small.toml", "--set", "link.0.forward={min_th=9,max_th=9}"], ["min_th"]),
        (["run", "small.toml", "--seed", "1", "--seeds", "2"], ["--seeds"]),
        (["run", "small.toml", "--seeds", "0"], ["--seeds"]),
        (["run", "small.toml", "--sedes", "2"], ["--sedes"]),
        (["run"], ["'scenario'"]),
        (["dance"], ["dance"]),
        (["list", "aqms"], ['did you mean "aqm"']),
        (["describe", "redd"], ['did you mean "red"']),
        (["describe", "plain"], ["tcp/plain or traffic/plain"]),
        (["report", "nowhere"], ["nowhere: no such folder"]),
        (["study", "nonsense"], ["nonsense"]),
    ],
)
def test_mistakes_are_one_line(command, toml_file, words, named):
    refused(command(*words), *named)
    assert not (command.folder / "results").exists()


def test_results_of_another_version(command, toml_file):
    assert command("run", toml_file).returncode == 0
    newer = {"FAKE_VERSION": '{"version": "10.0.0"}'}
    refused(command("run", toml_file, **newer), "9.9.9", "10.0.0", "--fresh")
    assert command("run", toml_file, "--fresh", **newer).returncode == 0


def test_list_and_describe(command):
    found = json.loads(command("list", "--json").stdout)
    assert found.keys() == {
        "aqm",
        "tcp",
        "congestion",
        "traffic",
        "access",
        "scenario",
        "studies",
    }
    assert [
        entry["name"] for entry in json.loads(command("list", "aqm", "--json").stdout)["aqm"]
    ] == ["red"]
    assert "Random early detection" in command("list").stdout
    entry = json.loads(command("describe", "red", "--json").stdout)
    assert (entry["kind"], entry["year"]) == ("aqm", 1993)
    human = command("describe", "red").stdout
    assert "max_p" in human
    assert "number from 0 to 1" in human
    assert json.loads(command("describe", "tcp/plain", "--json").stdout)["summary"] == "RFC TCP."


def test_brackets_in_labels_and_catalogue_are_shown(command):
    import conftest

    path = command.folder / "sweep.toml"
    body = conftest.SCENARIO_TOML.replace("[[", "[[scenario.")
    red = '[{ label = "[red] :zap:", limit = 60 }, { label = "b", limit = 9 }]'
    path.write_text(f'[sweep]\n"link.0.forward" = {red}\n[scenario]{body}')
    assert "[red] :zap:" in command("run", path).stdout
    assert "[[link]]" in command("list", "scenario").stdout
    assert "[[link]]" in command("describe", "link").stdout


def test_a_reader_that_has_gone_is_no_mistake(command):
    process = command.start("list")
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == ""
    assert process.wait(60) == 141


def test_list_names_all_kinds_in_its_help(command):
    assert "scenario" in command("list", "--help", COLUMNS="160").stdout


def test_a_mistaken_part_discards_nothing(command):
    kept = command.folder / "out" / "runs" / "key"
    kept.mkdir(parents=True)
    stamp = {"format": 1, "version": "0", "build": "old"}
    (command.folder / "out" / "manifest.json").write_text(json.dumps(stamp))
    for how in ("--fresh", "--refresh"):
        words = ["study", "tuning-red", "--part", "nope", how, "--out", "out"]
        refused(command(*words), 'no part "nope"')
    assert kept.exists()


def test_study_list_names_the_studies_with_their_parts(command):
    entries = json.loads(command("study", "list", "--json").stdout)
    assert entries[0]["name"] == "tuning-red"
    assert entries[0]["parts"][0] == "calibration"
    assert "tuning-red" in command("study", "list").stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["tuning-red", "--figure", "99z"], 'no figure "99z"'),
        (["all", "--figure", "9a"], "leave out"),
        (["all", "--part", "fifo"], "in place of `all`"),
        (["list", "--part", "fifo"], "leave out --part"),
    ],
)
def test_mistaken_figures_and_parts_of_all(command, words, sentence):
    refused(command("study", *words), sentence)


def test_claims_of_studies_that_were_not_run(command):
    rows = json.loads(command("claims", "--study", "tuning-red", "--json").stdout)
    wanted = {
        "id",
        "study",
        "claim",
        "rule",
        "verdict",
        "estimate",
        "interval",
        "replications",
        "why",
    }
    assert rows and all(wanted <= row.keys() for row in rows)
    assert {row["verdict"] for row in rows} == {"undecided"}
    refused(command("claims", "--study", "nonsense"), 'no study "nonsense"')
    two = ("claims", "--study", "tuning-red", "--study", "tuning-red", "--out", "out")
    refused(command(*two), "name it with --study")
    assert "not run" in command("claims").stdout


def test_help_is_no_mistake(command):
    answer = command("--help")
    assert answer.returncode == 0
    assert "describe" in answer.stdout


def wait_for(condition, process, what):
    for _ in range(600):
        if condition():
            return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    process.kill()
    raise AssertionError(f"waited in vain for {what}: {process.communicate()}")


def finished_runs(folder):
    return list(folder.glob("results/small/runs/*/manifest.json"))


@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_a_stopped_command_resumes(command, toml_file, how, code):
    log = command.folder / "log"
    slow = {"FAKE_RUN_S": "0.5", "FAKE_LOG": str(log)}
    process = command.start("run", toml_file, "--seeds", 40, "--jobs", 2, **slow)
    wait_for(lambda: len(finished_runs(command.folder)) >= 3, process, "three runs")
    process.send_signal(how)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == code
    kept = len(finished_runs(command.folder))
    assert 3 <= kept < 40
    if how == signal.SIGINT:
        assert complaint.splitlines() == [
            f"aqmlab: stopped: {kept} finished runs are kept in results/small, "
            "give the same command again to resume"
        ]
        assert not list(command.folder.glob("results/small/runs/.tmp-*"))
    log.unlink()
    answer = command("run", toml_file, "--seeds", 40, "--json", FAKE_LOG=str(log))
    document = json.loads(answer.stdout)
    assert sum(run["cached"] for run in document["runs"]) == kept
    assert len(log.read_text().split()) == 40 - kept
    assert document["statistics"]["drops"]["mean"] == 20.5


def test_importing_the_package_is_cheap():
    heavy = ["numpy", "polars", "pyarrow", "scipy", "matplotlib", "rich", "typer", "aqmlab._core"]
    program = f"import sys, aqmlab; print([m for m in {heavy} if m in sys.modules])"
    answer = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(os.path.dirname(os.path.dirname(__file__)) + "/python"),
        },
        check=True,
    )
    assert answer.stdout.strip() == "[]"
