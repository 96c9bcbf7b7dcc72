"""A stranger's file is data: programs that it names or carries run with permission only."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest

import aqmlab
from aqmlab.errors import AqmlabError
from aqmlab.experiment.experiment import load
from aqmlab.io import files
from aqmlab.pipeline import run_folder, sharing
from aqmlab.runs.store import Store
from aqmlab.simulator import engine
from aqmlab.simulator.plugin import process, source, starting, trust

pytestmark = pytest.mark.usefixtures("real_core")

EVIL = """
import os, aqmlab
open(os.environ["RAN"], "a").write("x")
class Evil(aqmlab.Discipline):
    def admit(self, packet, queue):
        pass
"""
PLAIN = """
duration = "1 s"
[[link]]
name = "line"
rate = "1 Mbit/s"
forward = {queue}
[[traffic]]
app = "bulk"
flows = 1
"""
CARRIED = json.dumps({"name": "evil", "file": "evil.py", "text": EVIL})


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """The file that a program of a stranger writes if it runs; nothing is permitted yet."""
    monkeypatch.setattr(trust, "_permitted", set())
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("RAN", str(tmp_path / "ran"))
    monkeypatch.chdir(tmp_path)
    source._described.cache_clear()
    process.questions.end()
    yield tmp_path / "ran"
    process.questions.end()


def forgotten(monkeypatch) -> None:
    """As another command of the same user."""
    monkeypatch.setattr(trust, "_permitted", set())
    source._described.cache_clear()


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{k}" = {toml(v)}' for k, v in value.items()) + "}"
    return "[" + ", ".join(map(toml, value)) + "]" if isinstance(value, list) else json.dumps(value)


def carried(queue: object = None) -> str:
    return PLAIN.format(queue=toml(queue or {"aqm": json.loads(CARRIED)}))


def group(queue: object, **changes: object) -> str:
    """An experiment with a group, which starts from such a queue."""
    scenario = tomllib.loads(carried(queue))
    return "\n".join(
        [
            'title = "t"\nsubtitle = "s"\nquestion = "q"\nsource = "w"\nname = "g"',
            '[[part]]\nname = "p"\ntitle = "p"',
            '[settings.quick]\nduration = "1 s"\nwarmup = "0 s"\nseeds = 1',
            '[settings.full]\nduration = "1 s"\nwarmup = "0 s"\nseeds = 1',
            f"[scenario]\nlink = {toml(scenario['link'])}\ntraffic = {toml(scenario['traffic'])}",
            '[[group]]\nname = "g"\npart = "p"',
            '[[metric]]\nname = "drop_rate"\nsummary = "drop_rate"\ntitle = "d"',
            'unit = "1"\ndigits = 1',
        ]
    )


NAMED = {"aqm": "evil.py"}
FILES = {
    "carried": carried(),
    "named": carried(NAMED),
    "named alone": PLAIN.format(queue='"evil.py:Evil"'),
    "reverse": PLAIN.format(queue='"droptail"\nreverse = "evil.py"'),
    "swept": f"[scenario]\n{carried('droptail').replace('[[', '[[scenario.')}"
    f'[sweep]\n"link.0.forward.aqm" = ["red", {toml(json.loads(CARRIED))}]\n',
    "swept by name": f"[scenario]\n{carried('droptail').replace('[[', '[[scenario.')}"
    '[sweep]\n"link.0.forward" = ["red", "evil.py"]\n',
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["run", "study"])
def test_a_file_s_program_is_refused_and_named(ran, name, command):
    from hostile.oracle import command as given

    Path("evil.py").write_text(EVIL)
    Path("s.toml").write_text(FILES[name])
    answer = given(command, "s.toml", "--out", "out")
    assert answer.code == 2
    assert "the program evil.py" in answer.err and "--trust" in answer.err
    assert not ran.exists()
    assert given(command, "s.toml", "--out", "out", "--trust").code == 0
    assert ran.exists()
    assert given(command, "s.toml", "--out", "out", "--fresh").code == 0


@pytest.mark.parametrize("words", [["live"], ["parity"], ["infer"], ["advise", "--scenario"]])
def test_every_command_that_runs_a_file_refuses(ran, words):
    from hostile.oracle import command as given

    Path("s.toml").write_text(carried())
    answer = given(*words, "s.toml")
    assert answer.code == 2 and not ran.exists()
    assert not Path("data").exists()


def test_an_experiment_with_groups_is_no_way_around(ran):
    Path("experiment.toml").write_text(group({"aqm": json.loads(CARRIED)}))
    from hostile.oracle import command as given

    answer = given("study", "experiment.toml", "--out", "out")
    assert answer.code == 2 and "the program evil.py" in answer.err
    assert not ran.exists()


def shared(folder: Path, text: str = EVIL) -> Path:
    """A result of a stranger's, with his program in it."""
    queue = {"aqm": {"name": "evil", "file": "evil.py", "text": text}}
    with trust.granted():
        aqmlab.run(tomllib.loads(carried(queue)), out=folder)
    return sharing.export(folder, folder.with_suffix(".aqm"))


def test_reproduce_runs_no_program_without_a_word(ran, monkeypatch, tmp_path):
    file = shared(tmp_path / "theirs")
    ran.unlink()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "mine"))
    forgotten(monkeypatch)
    for what in (file, tmp_path / "theirs", tmp_path / "theirs" / "manifest.json"):
        with pytest.raises(AqmlabError, match=r"carries the program evil\.py.*--trust"):
            sharing.reproduce(what)
    assert not ran.exists()
    with trust.granted():
        assert sharing.reproduce(file).same
    assert ran.exists()
    forgotten(monkeypatch)
    assert sharing.reproduce(file).same, "what ran here with permission may run again"


def test_a_library_is_refused_before_it_is_loaded(ran):
    library = Path("evil.so")
    library.write_bytes(b"\x7fELF nothing")
    table = {"name": "evil", "file": str(library.resolve()), "blake2b": files.digest_of(library)}
    with pytest.raises(AqmlabError, match=r"names the program .*evil\.so"):
        engine.check(tomllib.loads(carried({"aqm": table})))
    Path("s.toml").write_text(carried({"aqm": "./evil.so"}))
    with pytest.raises(AqmlabError, match=r"names the program evil\.so"):
        load("s.toml")


def test_a_stranger_s_results_name_no_file_of_ours(ran, tmp_path, monkeypatch):
    """A manifest that names a file where a kept one holds its content."""
    aqmlab.run({"scenario": tomllib.loads(carried("red")), "sweep": {"seeds": 1}}, out="theirs")
    Path("evil.py").write_text(EVIL)
    manifest = Path("theirs/manifest.json")
    content = files.read_sealed(manifest)
    content["scenario"]["link"][0]["forward"] = "evil.py"
    content["sweep"] = {"link.0.forward": ["evil.py"]}
    content["runs"][0]["values"] = {"link.0.forward": "evil.py"}
    files.write_json(manifest, files.sealed(content))
    for look in (
        lambda: aqmlab.load("theirs"),
        lambda: run_folder.read(Store.existing(Path("theirs"))),
    ):
        with contextlib.suppress(AqmlabError):
            look()
        assert not ran.exists()


def test_one_s_own_discipline_needs_no_word(ran, monkeypatch):
    """Named in a command, a program or by `aqmlab new`: its file is one's own, edited or not."""
    Path("mine.py").write_text(EVIL)
    Path("s.toml").write_text(carried({"aqm": "mine.py"}))
    with pytest.raises(AqmlabError, match="--trust"):
        load("s.toml")
    aqmlab.run(tomllib.loads(carried("red")), aqm="mine.py")
    forgotten(monkeypatch)
    aqmlab.run("s.toml")
    Path("mine.py").write_text(EVIL + "# edited\n")
    forgotten(monkeypatch)
    aqmlab.run("s.toml")
    Path("mine.py").write_text(EVIL + "# edited by somebody else\n")
    Path("mine.py").chmod(0o666)
    forgotten(monkeypatch)
    with pytest.raises(AqmlabError, match="--trust"):
        load("s.toml")
    starting.write("begun", "python", Path("begun"))
    Path("s.toml").write_text(carried({"aqm": "begun/begun.py"}))
    load("s.toml")


def test_what_others_may_write_is_not_believed(ran, monkeypatch):
    Path("mine.py").write_text(EVIL)
    source.table("mine.py")
    Path(os.environ["XDG_DATA_HOME"], trust.FOLDER).chmod(0o777)
    forgotten(monkeypatch)
    with pytest.raises(AqmlabError, match="--trust"):
        source.table("mine.py", by_user=False)


def test_a_control_of_a_stranger_is_refused_as_a_queue_is(ran):
    control = "import aqmlab\nopen('ran', 'w')\nclass Evil(aqmlab.CongestionControl):\n"
    Path("evil.py").write_text(control + "    def on_ack(self, window, ack): pass\n")
    named = carried("red").replace(
        'app = "bulk"', 'app = "bulk"\ntcp = { profile = "linux", congestion = "evil.py" }'
    )
    Path("s.toml").write_text(named)
    with pytest.raises(AqmlabError, match=r"it names the program evil.py.*--trust"):
        load("s.toml")
    assert not Path("ran").exists()


def test_export_says_that_it_packs_programs(ran, tmp_path):
    from hostile.oracle import command as given

    shared(tmp_path / "theirs")
    answer = given("export", tmp_path / "theirs")
    assert answer.code == 0
    assert "the file carries the program evil.py" in answer.err and "--trust" in answer.err


def child_with(monkeypatch, **changes: float) -> None:
    """Processes whose watch is less patient."""
    set_ = "; ".join(f"child.{name} = {value}" for name, value in changes.items())
    code = f"from aqmlab.simulator.plugin import child; {set_}; child.main()"
    monkeypatch.setattr(process, "COMMAND", (sys.executable, "-P", "-c", code))


def own(body: str) -> dict:
    """A scenario with a discipline of which this is the text, named by a program of one's own."""
    Path("own.py").write_text(dedent(body))
    return tomllib.loads(carried({"aqm": "own.py"}))


BENIGN = "\nclass Own(aqmlab.Discipline):\n    def admit(self, packet, queue): pass\n"


def test_loading_that_does_not_return_is_ended(ran, monkeypatch):
    child_with(monkeypatch, PATIENCE_S=0.5)
    with pytest.raises(AqmlabError, match=r"own\.py: loading it has not come back for 0\.5 s"):
        aqmlab.run(own("import time, aqmlab\nwhile True: time.sleep(1)"))


def test_a_call_that_keeps_the_interpreter_s_lock_is_ended(ran, monkeypatch):
    child_with(monkeypatch, BUSY_S=1)
    endless = "import aqmlab\nsum(iter(int, 1))"  # never leaves the interpreter's C
    with pytest.raises(AqmlabError, match="lets nothing else run"):
        aqmlab.run(own(endless))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="files by number")
@pytest.mark.parametrize(
    "answer",
    [
        "import pickle\nclass P:\n"
        "    def __reduce__(self): return (open, (os.environ['RAN'], 'w'))\n"
        "message = pickle.dumps(('done', P()))",
        "message = b'[0, [\"done\", 7]]'",
        'message = b\'[0, ["failed", "scenario"]]\'',
        "message = b'[1000000000, [\"done\", 7]]'",
        "message = b'[\"x\"'",
        'message = b\'[0, ["done", {"summary": "[]", "groups": [], "tables": {}}]]\'',
        "message = b'[' * 100000",
    ],
)
def test_what_a_plugin_s_process_sends_is_data(ran, monkeypatch, answer):
    text = (
        "import os, sys, aqmlab\nfrom multiprocessing.connection import Connection\n"
        "class Own(aqmlab.Discipline):\n"
        "    def admit(self, packet, queue):\n"
        "        Connection(int(sys.argv[1])).send_bytes(message)\n        os._exit(0)\n"
    )
    with pytest.raises(AqmlabError, match=r"own\.py"):
        aqmlab.run(own(text + answer))
    assert not ran.exists()


def test_what_a_plugin_prints_does_nothing_to_the_terminal(ran, capfd):
    text = "import aqmlab, sys, os\nprint('\\x1b]0;owned\\x07 printed', flush=True)\n"
    text += "os.write(2, b'\\x9b31m\\xff raw\\n')\n"
    aqmlab.run(own(text + BENIGN))
    out, err = capfd.readouterr()
    assert out == ""
    assert "printed" in err and "raw" in err
    assert all(c.isprintable() or c in "\n\t" for c in err), err
