"""The commands that the README shows are commands, with options that exist."""

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from aqmlab.cli import answering
from aqmlab.simulator import engine

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
LINES = [
    line.split("  #")[0].strip()
    for block in BLOCKS
    for line in block.splitlines()
    if line.startswith("aqmlab ")
]
QUICK = ["aqmlab run example:bufferbloat", "aqmlab new scenario mine.toml"]
COMMANDS = typer.main.get_command(answering.app).commands  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_the_readme_is_a_command(line):
    _, name, *words = shlex.split(line)
    known = {
        word for param in COMMANDS[name].params for word in (*param.opts, *param.secondary_opts)
    }
    for word in words:
        if word.startswith("--"):
            assert word.split("=")[0] in known, f"{word} of {line}"


def test_the_first_lines_work_in_an_empty_folder(aqmlab_command):
    assert set(QUICK) <= set(LINES)
    for line in QUICK:
        answer = aqmlab_command(*shlex.split(line)[1:])
        assert answer.returncode == 0, answer.stderr


def test_the_first_screen_has_its_doors():
    first = TEXT[: TEXT.index("## ")]
    for words in ("I have a slow line", "I study queues", "I teach", "I build routers", "make run"):
        assert words in first
    assert len(first.splitlines()) < 65


def test_it_counts_what_the_catalogue_has(real_core):
    catalogue = engine.catalogue()
    assert f"{len(catalogue['aqm'])} disciplines" in TEXT
    assert f"{len(catalogue['congestion'])} congestion controls" in TEXT


@pytest.mark.slow
def test_the_advice_that_it_shows_is_what_is_printed(aqmlab_command):
    line = next(line for line in LINES if line.startswith("aqmlab advise"))
    process = aqmlab_command.start(*shlex.split(line)[1:])
    printed, complaint = process.communicate()
    assert process.returncode == 0, complaint
    (shown,) = re.findall(r"^```text\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    for part in shown.split("…"):
        assert " ".join(part.split()) in " ".join(printed.split())
