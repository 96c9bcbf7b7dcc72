"""What used to be an internal error, a hang or a half-truth: one sentence each."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import aqmlab
from aqmlab.adversary import attack
from aqmlab.adversary.search import Tried
from aqmlab.cli import room
from aqmlab.errors import AqmlabError
from aqmlab.evaluate import evaluation
from aqmlab.pipeline import run_folder, sharing
from aqmlab.tables import measure
from conftest import base_scenario
from hostile.damage import cut, flip, remove
from hostile.oracle import command

SWEPT = """
[scenario]
duration = "2 s"
[[scenario.link]]
rate = "1 Mbit/s"
[[scenario.traffic]]
app = "bulk"
flows = 1
[sweep]
"{path}" = {values}
"""
PATHS = [
    *("link.0.forward", "link.0.reverse", "link.0.forward.aqm", "link.0.rate_trace"),
    *("traffic.0.model", "traffic.0.requests", "traffic.0.tcp", "traffic.0", "link"),
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("values", ["[[]]", '[["red"]]', "[[[]]]", "[{}]", "[[{}, []]]", "[true]"])
def test_a_value_of_another_kind_in_a_sweep(real_core, tmp_path, monkeypatch, path, values):
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SWEPT.format(path=path, values=values))
    assert command("run", "s.toml").code == 2


LIMITED = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, ({0} << 20, {0} << 20)); "
LIMITED += "from aqmlab.cli import main; sys.argv = ['aqmlab', 'list', 'aqm']; main()"


@pytest.mark.skipif(not Path(room.LIMITS).exists(), reason="the limits of a process are Linux's")
@pytest.mark.parametrize("allowed", [60, 150, 300])
def test_a_limit_of_address_space_is_named(allowed):
    answer = subprocess.run(
        [sys.executable, "-c", LIMITED.format(allowed)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert answer.returncode == 2
    assert answer.stderr.startswith(f"aqmlab: this shell allows {allowed} MiB of address space")
    assert answer.stderr.count("\n") == 1


def test_statistics_of_a_network_of_many_links_are_those_that_are_shown(real_core, monkeypatch):
    """A thousand links have 64,000 numbers, of which the answer shows some ten."""
    from aqmlab.cli import show
    from aqmlab.io import terminal

    links = [{"rate": "10 Mbit/s", "name": f"l{n}"} for n in range(1000)]
    traffic = [{"app": "bulk", "flows": 1, "via": ["l0"]}]
    result = aqmlab.run({"duration": "1 s", "link": links, "traffic": traffic})
    computed = []
    interval = measure._interval
    monkeypatch.setattr(measure, "_interval", lambda *words: computed.append(1) or interval(*words))
    show.result(result, terminal.console())
    assert 0 < len(computed) < 100
    (rows,) = measure.by_variant(result.runs).values()
    assert len(rows) > 10_000
    assert list(rows.values())[:50] == measure.statistics_rows(result.runs)[:50]


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shown") / "runs"
    swept = {"link.0.forward.limit": [20, 60], "seeds": 2}
    small = base_scenario(duration="3 s", warmup="1 s", record={"queues": ["bottleneck.forward"]})
    small["traffic"] = [{"app": "bulk", "flows": 2}]
    aqmlab.run({"scenario": small, "sweep": swept}, out=folder)
    return folder


HARMED = ["manifest.json", "summary.json", "queue.parquet", "seconds.parquet", "responses.parquet"]


@pytest.mark.parametrize("name", HARMED)
@pytest.mark.parametrize("harm", [flip, cut, remove])
def test_export_of_a_damaged_run_is_refused(real_core, pristine, tmp_path, name, harm):
    """Not without a word a file in which a run, or the truth about one, is missing."""
    import random
    import shutil

    folder = tmp_path / "runs"
    shutil.copytree(pristine, folder)
    run = sorted((folder / "runs").iterdir())[0]
    harm(run / name, random.Random(1))
    whole = run / name
    if whole.exists() and whole.read_bytes() == (pristine / "runs" / run.name / name).read_bytes():
        pytest.skip("it was cut behind its end")
    with pytest.raises(AqmlabError, match=r"lacks 1 of its 4 runs|is not what was written"):
        sharing.export(folder, tmp_path / "x.aqm", tables=True)
    assert not (tmp_path / "x.aqm").exists()


def test_export_takes_what_is_ours_and_as_it_was_written(real_core, pristine, tmp_path):
    import shutil

    folder = tmp_path / "runs"
    shutil.copytree(pristine, folder)
    (folder / "tables").mkdir(exist_ok=True)
    (folder / "tables" / "diary.csv").write_text("of others")
    run_folder.report(folder)
    with zipfile.ZipFile(sharing.export(folder, tmp_path / "x.aqm", tables=True)) as archive:
        names = archive.namelist()
        assert len(json.loads(archive.read(sharing.INDEX))["runs"]) == 4
    assert "tables/diary.csv" not in names
    assert {"manifest.json", "report.html"} <= set(names)
    (folder / "report.html").write_text("another report")
    with pytest.raises(AqmlabError, match="is not what was written"):
        sharing.export(folder, tmp_path / "y.aqm")


def test_what_only_reads_does_not_say_that_it_runs_something(real_core, pristine, tmp_path, capsys):
    import shutil

    folder = tmp_path / "runs"
    shutil.copytree(pristine, folder)
    (sorted((folder / "runs").iterdir())[0] / "summary.json").write_text("{}")
    for look in (aqmlab.load, run_folder.report, lambda f: sharing.export(f, tmp_path / "x.aqm")):
        with pytest.raises(AqmlabError):
            look(folder)
    assert "run again" not in capsys.readouterr().err


def test_ctrl_c_says_that_the_search_of_break_is_partial(real_core, monkeypatch):
    def stopped(name, words, trials, seed, jobs, fixed, notify):
        notify("use > 0.4", 24, Tried({}, 0.5, -1.0))
        yield "use > 0.4", 24
        notify("starvation > 0.05", 48, Tried({}, 0.2, -1.0))
        raise KeyboardInterrupt

    monkeypatch.setattr(attack, "attack", stopped)
    answer = command("break", "reno", "--json")
    assert answer.code == 130
    assert json.loads(answer.out) == [{"promise": "use > 0.4", "broken": False, "trials": 24}]
    assert answer.err == (
        'aqmlab: stopped: the search for "starvation > 0.05" had not ended after 48 scenarios and '
        "says nothing yet; 1 promise is answered above; nothing of it is kept: give the same "
        "command again, perhaps with fewer --trials\n"
    )


def test_ctrl_c_is_never_silent(real_core, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluation, "evaluate", stopped)
    answer = command("evaluate", "red")
    assert answer.code == 130
    assert answer.err.startswith("aqmlab: stopped before the end: what has been printed is not")
