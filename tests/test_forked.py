"""A command that is forked answers as one in a new interpreter does."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conftest import FORKING, Command

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


@pytest.mark.skipif(sys.platform != "linux", reason="commands are forked on Linux alone")
def test_an_exception_is_shown(tmp_path):
    (tmp_path / "program.py").write_text("1 / 0\n")
    answer = Command(tmp_path, [str(tmp_path / "program.py")])()
    assert answer.returncode == 1
    assert answer.stderr.endswith("ZeroDivisionError: division by zero\n")
