"""Who may import whom, and what a command loads: seconds of waiting and most of its memory."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aqmlab.pipeline import registry

PROGRAM = """
import json, sys
from aqmlab.cli import answering as cli
code = cli._code(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""
PACKAGE = Path(__file__).parent.parent / "python" / "aqmlab"
ROOMS = [
    "errors",
    "io",
    "simulator",
    "live",
    "units",
    "intervals",
    "scores",
    "experiment",
    "targets",
    "runs",
    "tables",
    "claims",
    "figures",
    "report",
    "pipeline",
    "infer",
    "learn",
    "advise",
    "evaluate",
    "adversary",
    "gym",
    "bench",
    "lab",
    "cli",
    "__main__",
]
"""Every room of the package, from the ground up: each imports only rooms below itself."""
HEAVY = {
    "jinja2",
    "matplotlib",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "scipy",
    "sklearn",
    "SALib",
}


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


def imported(path: Path) -> Iterator[str]:
    """The modules of this package that a file imports, also late or for types only."""
    package = ["aqmlab", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("aqmlab."))
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            if module.split(".")[0] == "aqmlab":
                yield from (f"{module}.{name.name}" for name in node.names)


def room(dotted: str) -> str:
    """The room that a module lies in."""
    return dotted.split(".")[1]


def test_every_file_lies_in_a_room():
    found = {path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py")}
    assert {name.removesuffix(".py") for name in found} == {*ROOMS, "__init__"}


def test_no_room_imports_one_above_it():
    upwards = [
        f"{path.relative_to(PACKAGE)} imports {module}"
        for own in ROOMS
        for path in (sorted((PACKAGE / own).rglob("*.py")) or [PACKAGE / f"{own}.py"])
        for module in imported(path)
        if room(module) in ROOMS[ROOMS.index(own) + 1 :]
    ]
    assert upwards == []


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


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["run", "--help"],
        ["list"],
        ["list", "measures"],
        ["list", "examples"],
        ["describe", "red", "--tc"],
        ["describe", "cake", "--openwrt"],
    ],
)
def test_a_short_answer_loads_no_console_and_no_reader_of_scenarios(loaded, words):
    """Each of the two takes a third of the CPU time that such a command has (0.3 s)."""
    modules = loaded(*words)
    assert modules & (HEAVY | {"rich", "pydantic", "aqmlab.experiment.experiment"}) == set()


def test_studies_are_listed_by_the_heads_of_their_files():
    whole = {entry["name"]: entry["summary"] for entry in registry.names()}
    assert {entry["name"]: entry["summary"] for entry in registry.summaries()} == whole


def test_a_command_of_one_discipline_reads_no_study(loaded):
    assert "aqmlab.experiment.experiment" not in loaded("list", "aqm")


def test_a_run_loads_neither_drawing_nor_all_of_statistics(loaded, toml_file):
    modules = loaded("run", toml_file, "--json", "--seeds", 2, "--set", 'duration="6 s"')
    assert modules & {"jinja2", "matplotlib", "pandas", "polars", "scipy"} == set()


def test_importing_the_package_is_cheap(aqmlab_command):
    heavy = HEAVY | {"rich", "typer", "aqmlab._core"}
    program = f"import sys, aqmlab; print(sorted(sys.modules.keys() & {heavy}))"
    aqmlab_command.program = ["-c", program]
    assert aqmlab_command().stdout.strip() == "[]"


@pytest.mark.parametrize(("given", "taken"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_a_command_starts_no_thread_of_linear_algebra_of_its_own_accord(given, taken):
    program = (
        "import os; from aqmlab.cli import room\n"
        "room.check(); print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    here = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    answer = subprocess.run(
        [sys.executable, "-c", program],
        env=here | {"PYTHONPATH": str(PACKAGE.parent)} | given,
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip() == taken


def test_the_version_is_there_without_being_loaded_first(real_core):
    import aqmlab

    assert aqmlab.__version__ == json.loads(real_core.version())["version"]
    assert "__version__" in aqmlab.__all__
    with pytest.raises(AttributeError, match="nonsense"):
        aqmlab.nonsense  # noqa: B018


def test_the_room_of_inference_loads_nothing_of_its_extra():
    """Or `aqmlab infer` without the extra would end in an internal error and not in a sentence."""
    program = (
        "import sys; sys.modules.update(dict.fromkeys(('scipy', 'sklearn', 'SALib')));"
        "import aqmlab.infer.command"
    )
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
