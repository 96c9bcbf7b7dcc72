"""A results folder as one file, and run again; a stranger's file is not believed."""

from __future__ import annotations

import io
import json
import zipfile

import pairs
import pytest

import aqmlab
from aqmlab.errors import AqmlabError, SpecError
from aqmlab.pipeline import sharing

pytestmark = pytest.mark.usefixtures("real_core")
SCENARIO = {
    "scenario": {
        "duration": "4 s",
        "warmup": "1 s",
        "link": [{"name": "line", "rate": "2 Mbit/s", "forward": {"aqm": "droptail", "limit": 30}}],
        "traffic": [{"app": "bulk", "flows": 3}],
    },
    "sweep": {"link.0.forward.limit": [20, 30], "seeds": 2},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sharing") / "mine"
    aqmlab.run(SCENARIO, out=folder)
    return folder


@pytest.fixture(scope="module")
def shared(folder):
    return sharing.export(folder, folder.parent / "mine.aqm")


def changed(shared, tmp_path, change):
    """The file with another index."""
    with zipfile.ZipFile(shared) as archive:
        index = json.loads(archive.read(sharing.INDEX))
    change(index)
    path = tmp_path / "changed.aqm"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(sharing.INDEX, json.dumps(index))
    return path


def test_the_same_folder_gives_the_same_file(folder, shared, tmp_path):
    again = sharing.export(folder, tmp_path / "again.aqm")
    assert again.read_bytes() == shared.read_bytes()
    with zipfile.ZipFile(shared) as archive:
        assert {sharing.INDEX, "manifest.json"} <= set(archive.namelist())
    whole = sharing.export(folder, tmp_path / "whole.aqm", tables=True)
    with zipfile.ZipFile(whole) as archive:
        assert any(name.endswith("responses.parquet") for name in archive.namelist())


def test_file_folder_and_manifests_come_out_the_same(folder, shared):
    one = next((folder / "runs").iterdir()) / "manifest.json"
    counts = [
        sharing.reproduce(source).runs
        for source in (shared, folder, folder / "manifest.json", one)
        if sharing.reproduce(source).same
    ]
    assert counts == [4, 4, 4, 1]
    assert sharing.reproduce(one).lines()[0].startswith("yes: 1 run of ")


def test_what_came_out_differently_is_named(shared, tmp_path):
    def lie(index):
        index["runs"][1]["fingerprint"] = "0" * 16
        index["build"] = "another"

    found = sharing.reproduce(changed(shared, tmp_path, lie))
    assert not found.same
    text = "\n".join(found.lines())
    assert "no: 1 of 4 runs" in text
    assert "fingerprint 0000000000000000, here" in text
    assert "the same only of one build" in text


def test_the_command_answers_yes_or_no(aqmlab_command, folder, shared, tmp_path):
    path = tmp_path / "x.aqm"
    assert aqmlab_command("export", folder, "--out", path).stdout.strip() == str(path)
    answer = aqmlab_command("reproduce", path, "--most", "1")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("yes: 1 of 4 runs")
    wrong = changed(shared, tmp_path, lambda index: index["runs"][0].update(seed=77))
    answer = aqmlab_command("reproduce", wrong, "--json")
    assert answer.returncode == 1
    assert json.loads(answer.stdout)["same"] is False


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda index: index.update(format=9), "another format"),
        (lambda index: index.update(runs=[]), "holds no runs"),
        (lambda index: index["runs"][0].pop("seed"), "lacks its scenario, seed or fingerprint"),
        (lambda index: index["runs"][0].update(scenario=["x"]), "lacks its scenario"),
    ],
)
def test_an_index_that_is_none_is_refused(shared, tmp_path, change, sentence):
    with pytest.raises(SpecError, match=sentence):
        sharing.reproduce(changed(shared, tmp_path, change))


def test_a_strangers_scenario_reads_no_file_of_ours(shared, tmp_path):
    def spy(index):
        index["runs"][0]["scenario"]["link"][0]["rate_trace"] = {"file": "/etc/passwd"}

    with pytest.raises(AqmlabError, match="rate_trace"):
        sharing.reproduce(changed(shared, tmp_path, spy))


@pytest.mark.parametrize("name", ["../out", "/etc/x", "a/../../b", "a\\..\\b"])
def test_a_file_that_points_outside_is_not_read(tmp_path, name):
    path = tmp_path / "evil.aqm"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(sharing.INDEX, "{}")
        archive.writestr(name, "x")
    with pytest.raises(SpecError, match="outside of itself"):
        sharing.reproduce(path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_bomb_is_not_unpacked(tmp_path):
    path = tmp_path / "bomb.aqm"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(sharing.INDEX, b" " * (8 << 20))
    with pytest.raises(SpecError, match="would unpack to 8 MB"):
        sharing.reproduce(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 nothing", b"[" * 9000])
def test_what_is_no_archive_is_told_in_a_sentence(tmp_path, content):
    path = tmp_path / "none.aqm"
    path.write_bytes(content)
    with pytest.raises(SpecError, match=r"is no \.aqm file"):
        sharing.reproduce(path)


def test_an_index_of_brackets_is_damaged(tmp_path):
    path = tmp_path / "deep.aqm"
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(sharing.INDEX, "[" * 100_000)
    path.write_bytes(made.getvalue())
    with pytest.raises(SpecError, match="its index is damaged"):
        sharing.reproduce(path)


def test_links_of_a_folder_stay_out_of_the_file(folder, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (folder / "tables").mkdir(exist_ok=True)
    link = folder / "tables" / "link.csv"
    link.symlink_to(secret)
    try:
        with zipfile.ZipFile(sharing.export(folder, tmp_path / "x.aqm")) as archive:
            assert "tables/link.csv" not in archive.namelist()
    finally:
        link.unlink()


def toml(value):
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(key)} = {toml(one)}' for key, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(value)


def test_every_pair_of_choices_is_exported_and_reproduced(aqmlab_command, tmp_path):
    """Profile, recovery, congestion control and application: every two that go together."""
    groups = [{"label": str(number), **one} for number, one in enumerate(pairs.covering())]
    assert len(groups) > 100
    texts = {"scenario": pairs.scenario(groups[0]), "sweep": {"traffic.0": groups, "seeds": 1}}
    (tmp_path / "all.toml").write_text("".join(f"{key} = {toml(texts[key])}\n" for key in texts))
    for words in (["run", "all.toml", "--out", "all"], ["export", "all", "--out", "all.aqm"]):
        answer = aqmlab_command(*words)
        assert answer.returncode == 0, answer.stderr
    answer = aqmlab_command("reproduce", "all.aqm")
    assert answer.returncode == 0, answer.stdout
    assert answer.stdout.startswith(f"yes: {len(groups)} runs of all came out the same")


def test_a_folder_that_is_not_there_is_one_sentence(aqmlab_command):
    for words in (("export", "nothere"), ("plot", "nothere", "trace")):
        answer = aqmlab_command(*words)
        assert answer.returncode == 2
        assert "nothere: no such folder; give a results folder" in answer.stderr


def test_a_loaded_sweep_of_tables_keeps_its_labels(real_core, scenario, tmp_path):
    import aqmlab

    queues = [{"label": "short", "aqm": "droptail", "limit": 20}, {"aqm": "droptail", "limit": 60}]
    requested = {"scenario": scenario, "sweep": {"link.0.forward": queues, "seeds": 1}}
    ran = aqmlab.run(requested, out=tmp_path / "kept")
    loaded = aqmlab.load(tmp_path / "kept")
    assert loaded.labels == ran.labels
    assert loaded.frame()["forward"].to_list() == ran.frame()["forward"].to_list()
    assert "short" in loaded.frame()["forward"].to_list()


def test_a_trace_says_of_which_variant_it_is(real_core, scenario):
    import aqmlab

    sweep = {"link.0.forward.limit": [20, 60], "seeds": 1}
    axes = aqmlab.run({"scenario": scenario, "sweep": sweep}).plot.trace()
    assert axes.get_title(loc="left").endswith("limit=20")
