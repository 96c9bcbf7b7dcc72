"""Examples come with the package and work from an empty folder; the help leads to them."""

import errno
import re
import tomllib
from pathlib import Path

import pytest

from aqmlab.cli import guide, live
from aqmlab.cli.answering import _unforeseen
from aqmlab.errors import AqmlabError, SpecError
from aqmlab.experiment import examples
from aqmlab.experiment.experiment import load
from aqmlab.simulator.plugin import starting

QUICK = {"duration": "4 s", "warmup": "1 s"}


def test_examples_are_listed_each_with_what_it_shows(aqmlab_command):
    answer = aqmlab_command("list", "examples", COLUMNS="200")
    assert answer.returncode == 0, answer.stderr
    assert len(examples.SHOWN) == 12
    for name, shows in examples.SHOWN.items():
        assert name in answer.stdout
        assert shows in answer.stdout


@pytest.mark.parametrize("name", examples.SHOWN)
def test_an_example_runs_from_an_empty_folder(aqmlab_command, name):
    words = [f"--set={path}={value}" for path, value in QUICK.items()]
    if "load" in load(f"example:{name}").scenario["traffic"][0]:
        words.append("--set=traffic.0.users=200")  # not calibrated
    answer = aqmlab_command("run", f"example:{name}", "--jobs", 1, *words)
    assert answer.returncode == 0, answer.stderr
    assert "of CPU time" in answer.stdout


def test_a_scenario_begins_as_a_copy_of_an_example(aqmlab_command):
    answer = aqmlab_command("new", "scenario", "mine.toml", "--from", "bufferbloat")
    assert (answer.returncode, answer.stdout) == (0, "mine.toml\n")
    mine = aqmlab_command.folder / "mine.toml"
    of = examples.find("bufferbloat").read_text("utf-8")
    assert tomllib.loads(mine.read_text("utf-8")) == tomllib.loads(of)
    again = aqmlab_command("new", "scenario", "mine.toml")
    assert again.returncode == 2
    assert again.stderr == "aqmlab: mine.toml is there already: give another name\n"
    usual = aqmlab_command("new", "scenario", "home")
    assert (usual.returncode, usual.stdout) == (0, "home.toml\n")
    assert load(aqmlab_command.folder / "home.toml").name == "home"


def test_recorded_lines_are_drawn_and_used_from_any_folder(aqmlab_command):
    drawn = aqmlab_command("describe", "trace", "example:starlink-parked-down")
    assert drawn.returncode == 0, drawn.stderr
    assert "8.363 Mbit/s to 347.5 Mbit/s" in drawn.stdout
    for name in examples.TRACES:
        assert len(examples.trace(name).read_text("ascii").splitlines()) == 1 + 16 * 15
    copied = aqmlab_command("new", "scenario", "mine.toml", "--from", "starlink")
    assert copied.returncode == 0, copied.stderr
    assert "text" in load(aqmlab_command.folder / "mine.toml").scenario["link"][0]["rate_trace"]
    wrong = aqmlab_command("describe", "trace", "example:starlink-down")
    assert 'no trace "starlink-down"; did you mean "starlink-parked-down"?' in wrong.stderr


def test_an_unknown_example_is_one_sentence():
    with pytest.raises(SpecError, match='no example "rad"; did you mean "red"'):
        examples.find("rad")
    assert examples.find("burst").is_file()  # others are found by their names, too


def test_every_command_is_in_one_group_of_the_help_and_has_two_examples():
    import typer

    from aqmlab.cli import answering

    there = set(typer.main.get_command(answering.app).commands)  # pyright: ignore[reportAttributeAccessIssue]
    grouped = [name for names in guide.GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(there)
    assert set(guide.EXAMPLES) == there
    for name, both in guide.EXAMPLES.items():
        assert len(both) == 2
        for line, _ in both:
            assert re.search(rf"\baqmlab {name}\b", line), line


def test_a_full_disk_is_named_with_the_file_and_leaves_nothing(tmp_path, monkeypatch):
    """A write that fails names no file: it was called standard output."""

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError) as error:
        examples.begin(tmp_path / "mine.toml", "home-line")
    assert _unforeseen(error.value) == (
        f"{tmp_path / 'mine.toml'}: no space left on device: make room, or choose another place"
    )
    with pytest.raises(AqmlabError, match="cannot be written"):
        starting.write("mine", "python", tmp_path / "mine", "cc")
    assert list(tmp_path.iterdir()) == []


def test_a_shell_behind_an_example_with_variants_says_that_there_are_several():
    said = live._several(load("example:home-line", seeds=1))
    assert said is not None
    assert "for each variant in turn (the modem alone, fq_codel, cake)" in said
    assert live._several(load("example:red", seeds=1)) is None
