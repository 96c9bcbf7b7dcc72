import json
import shlex
import shutil
import signal
import subprocess
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
        "effects",
        "measures",
        "scores",
        "scenario",
        "studies",
        "examples",
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
    names = [entry["name"] for entry in entries]
    assert names == sorted(names)  # found as folders, in the order of their names
    assert entries[names.index("tuning-red")]["parts"][0] == "calibration"
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
    assert {row["verdict"] for row in rows} == {"inconclusive"}
    refused(command("claims", "--study", "nonsense"), 'no study "nonsense"')
    two = ("claims", "--study", "tuning-red", "--study", "tuning-red", "--out", "out")
    refused(command(*two), "name it with --study")
    assert "not run" in command("claims").stdout


@pytest.mark.parametrize("words", [["--help"], []])
def test_help_is_no_mistake(command, words):
    answer = command(*words)
    assert answer.returncode == 0
    assert "describe" in answer.stdout
    assert answer.stderr == ""


def test_the_version_is_the_simulators(command):
    answer = command("--version")
    assert (answer.returncode, answer.stdout) == (0, "aqmlab 9.9.9 (build fake)\n")


@pytest.mark.parametrize(
    ("words", "help_"),
    [
        (["run"], "`aqmlab run --help`"),
        (["claims", "--stdy", "x"], "`aqmlab claims --help`"),
        (["dance"], "`aqmlab --help`"),
    ],
)
def test_a_mistake_points_to_the_help_of_its_command(command, words, help_):
    refused(command(*words), help_)


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (
            "list ",
            "aqm tcp congestion traffic access effects measures scores scenario studies examples",
        ),
        ("describe reno", "reno"),
        ("describe response_p9", "response_p90_s response_p95_s response_p98_s response_p99_s"),
        ("study har", "harsh-red"),
        ("claims --study web", "web-aqm"),
    ],
)
def test_names_are_completed(command, words, completed):
    line = f"aqmlab {words}"
    requested = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    answer = command(_AQMLAB_COMPLETE="complete_bash", **requested)
    assert (answer.returncode, answer.stdout.split()) == (0, completed.split())
    # Not the shell that runs the tests: `make` runs them in one that cannot complete.
    undetected = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = command("--show-completion", "bash", **undetected)
    assert "_AQMLAB_COMPLETE" in shown.stdout


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
    return list(folder.glob("results/small/runs/[!.]*/manifest.json"))


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


@pytest.mark.parametrize(
    ("shell", "code", "sentence"),
    [
        (">&-", 2, "standard output is closed: what was to be printed is lost"),
        ("> /dev/full", 2, "standard output cannot be written (no space left on device)"),
        ("2>&-", 0, ""),
        ("<&-", 0, ""),
    ],
)
def test_streams_that_take_nothing(command, toml_file, shell, code, sentence):
    line = f"{shlex.join(command.arguments('run', toml_file))} {shell}"
    answer = subprocess.run(
        ["sh", "-c", line],
        cwd=command.folder,
        env=command.environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.returncode == code, answer.stderr
    assert sentence in answer.stderr and len(answer.stderr.splitlines()) == (code == 2)
    assert (command.folder / "results" / "small" / "manifest.json").exists()


def test_an_output_without_the_characters_is_no_mistake(command, toml_file):
    answer = command("run", toml_file, "--seeds", 2, PYTHONIOENCODING="ascii")
    assert answer.returncode == 0 and "kept in" in answer.stdout, answer.stderr


def test_what_nobody_foresaw_is_one_sentence(command, monkeypatch):
    from aqmlab.cli import answering as cli

    def broken(*_, **__):
        raise KeyError("x")

    monkeypatch.setattr(cli, "app", broken)
    said = []
    monkeypatch.setattr("aqmlab.io.terminal.say", said.append)
    monkeypatch.setattr("aqmlab.io.terminal.abandon_output", lambda: None)
    assert cli._code(["list"]) == 70
    assert "internal error (KeyError at test_cli.py:" in said[0] and "report" in said[0]
    monkeypatch.setenv(cli.DEBUG, "1")
    with pytest.raises(KeyError):
        cli._code(["list"])


def test_a_folder_that_goes_away_is_no_success(command, toml_file):
    process = command.start("run", toml_file, "--seeds", 40, "--jobs", 2, FAKE_RUN_S="0.3")
    wait_for(lambda: len(finished_runs(command.folder)) >= 2, process, "two runs")
    shutil.rmtree(command.folder / "results", ignore_errors=True)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 2 and "give the same command again" in complaint
    assert len(complaint.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (["advise", "--rate", "50/10"], "aqmlab: --rate 50/10: "),
        (["advise", "--rate", "50/10Mbit", "--access", "foo"], "aqmlab: --access foo: "),
        (["describe", "red", "--rate", "10"], "aqmlab: --rate 10: "),
        (["from-tc", "qdisc fq_codel 0: root", "--rate", "10"], "aqmlab: --rate 10: "),
    ],
)
def test_a_message_names_the_option_that_was_typed(aqmlab_command, words, begins):
    answer = aqmlab_command(*words)
    refused(answer)
    assert answer.stderr.startswith(begins)


def test_a_switch_has_no_type_in_the_help(command):
    for words in (["--help"], ["run", "--help"], ["study", "--help"]):
        assert "bool" not in command(*words).stdout
