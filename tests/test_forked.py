"""A command that is forked answers as one in a new interpreter does."""

from __future__ import annotations

import os
import subprocess
import sys

import forked
import pytest

from conftest import FORKING, HERE, Command

PAGES = forked.Parent()

PROGRAMS = {
    "ends": "print('a'); print('b', file=sys.stderr)",
    "ends with a number": "sys.exit(3)",
    "ends with a sentence": "sys.exit('a sentence')",
    "ends with nothing": "sys.exit()",
    "reads its arguments": "print(sys.argv[1:], sys.argv[0] == __file__, __name__)",
    "is in its folder": "print(pathlib.Path.cwd(), sys.path[0])",
    "sees its variables": "print(os.environ['HERE'], 'THERE' in os.environ)",
    "writes at its end": "atexit.register(print, 'the end'); sys.exit(1)",
    "reads nothing": "print(repr(sys.stdin.read()))",
    "is killed": "sys.stdout.flush(); os.kill(os.getpid(), 9)",
}


@pytest.mark.skipif(sys.platform != "linux", reason="commands are forked on Linux alone")
@pytest.mark.parametrize("what", PROGRAMS)
def test_a_fork_answers_as_a_new_interpreter(what, tmp_path, monkeypatch):
    monkeypatch.setenv("HERE", "set")
    program = tmp_path / "program.py"
    program.write_text(f"import atexit, os, pathlib, sys\n{PROGRAMS[what]}\n")
    command = Command(tmp_path, [str(program)])
    new = subprocess.run(
        command.arguments("x", 1),
        cwd=tmp_path,
        env=command.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    forked = command("x", 1)
    assert (forked.returncode, forked.stdout) == (new.returncode, new.stdout)
    assert forked.stderr == new.stderr
    assert FORKING._process is not None


def variables() -> dict[str, str]:
    """What imports read is equal in all tests, as it is for the documents' commands."""
    own = ("PYTHONPATH", "XDG_CACHE_HOME")
    return {name: value for name, value in os.environ.items() if name not in own}


def new_and_forked(folder, program, **how):
    """What a program answers in a new interpreter, and as the program of a page's commands."""
    here = variables()
    first = ["-S", str(HERE / "forked_command.py"), str(PAGES.socket(here)), str(program), "--"]
    return [
        subprocess.run(
            [sys.executable, *words, "x"],
            cwd=folder,
            env=here | how.get("variables", {}),
            input=how.get("typed", ""),
            capture_output=True,
            text=True,
            check=False,
        )
        for words in ([str(program)], first)
    ]


@pytest.fixture(scope="module", autouse=True)
def pages():
    yield
    PAGES.close()


@pytest.mark.skipif(sys.platform != "linux", reason="commands are forked on Linux alone")
@pytest.mark.parametrize("what", PROGRAMS)
def test_a_command_of_a_page_answers_as_a_new_interpreter(what, tmp_path, monkeypatch):
    monkeypatch.setenv("HERE", "set")
    program = tmp_path / "program.py"
    program.write_text(f"import atexit, os, pathlib, sys\n{PROGRAMS[what]}\n")
    new, fork = new_and_forked(tmp_path, program, typed="a line\n")
    assert (fork.returncode, fork.stdout, fork.stderr) == (new.returncode, new.stdout, new.stderr)


@pytest.mark.skipif(sys.platform != "linux", reason="commands are forked on Linux alone")
def test_what_imports_read_is_read_anew(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import sys\nprint(sys.flags.optimize, 'polars' in sys.modules)\n")
    plain = new_and_forked(tmp_path, program)
    assert [one.stdout for one in plain] == ["0 False\n", "0 True\n"]
    changed = new_and_forked(tmp_path, program, variables={"PYTHONOPTIMIZE": "2"})
    assert [one.stdout for one in changed] == ["2 False\n", "2 False\n"]


@pytest.mark.skipif(sys.platform != "linux", reason="commands are forked on Linux alone")
def test_a_signal_reaches_the_fork(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    here = variables()
    words = ["-S", str(HERE / "forked_command.py"), str(PAGES.socket(here)), str(program), "--"]
    with subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, text=True, env=here
    ) as process:
        assert process.stdout and process.stdout.readline() == "ready\n"
        process.terminate()
        assert process.wait(30) == 7


@pytest.mark.skipif(sys.platform != "linux", reason="commands are forked on Linux alone")
def test_an_exception_is_shown(tmp_path):
    (tmp_path / "program.py").write_text("1 / 0\n")
    answer = Command(tmp_path, [str(tmp_path / "program.py")])()
    assert answer.returncode == 1
    assert answer.stderr.endswith("ZeroDivisionError: division by zero\n")
