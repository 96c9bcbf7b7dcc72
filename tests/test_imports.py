"""What a command loads: seconds of waiting and most of its memory are imports."""

from __future__ import annotations

import json

import pytest

from aqmlab.studies import registry

PROGRAM = """
import json, sys
from aqmlab import cli
code = cli._code(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""
HEAVY = {"jinja2", "matplotlib", "numpy", "pandas", "polars", "pyarrow", "scipy"}


@pytest.fixture
def loaded(aqmlab_command):
    """The modules that a command has loaded when it is through."""

    def run(*words: object) -> set[str]:
        aqmlab_command.program = ["-c", PROGRAM]
        answer = aqmlab_command(*words)
        code, modules = json.loads(answer.stderr.splitlines()[-1])
        assert code == 0, answer.stderr
        return set(modules)

    return run


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--version"],
        ["run", "--help"],
        ["list"],
        ["describe", "red"],
        ["study", "list"],
        ["claims"],
        ["claims", "--json"],
    ],
)
def test_a_command_that_only_prints_loads_nothing_heavy(loaded, words):
    assert loaded(*words) & HEAVY == set()


def test_studies_are_listed_by_the_heads_of_their_files():
    whole = {entry["name"]: entry["summary"] for entry in registry.names()}
    assert {entry["name"]: entry["summary"] for entry in registry.summaries()} == whole


def test_a_command_of_one_discipline_reads_no_study(loaded):
    assert "aqmlab.studies.experiment" not in loaded("list", "aqm")


def test_a_run_loads_neither_drawing_nor_all_of_statistics(loaded, toml_file):
    modules = loaded("run", toml_file, "--json", "--seeds", 2, "--set", 'duration="6 s"')
    assert "scipy.special" in modules
    assert modules & {"jinja2", "matplotlib", "pandas", "polars", "scipy.stats"} == set()


def test_importing_the_package_is_cheap(aqmlab_command):
    heavy = HEAVY | {"rich", "typer", "aqmlab._core"}
    program = f"import sys, aqmlab; print(sorted(sys.modules.keys() & {heavy}))"
    aqmlab_command.program = ["-c", program]
    assert aqmlab_command().stdout.strip() == "[]"


def test_the_version_is_there_without_being_loaded_first(real_core):
    import aqmlab

    assert aqmlab.__version__ == json.loads(real_core.version())["version"]
    assert "__version__" in aqmlab.__all__
    with pytest.raises(AttributeError, match="nonsense"):
        aqmlab.nonsense  # noqa: B018
