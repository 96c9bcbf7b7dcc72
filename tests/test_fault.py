"""A fault of the simulator (a Rust panic) is one sentence that asks for a report."""

from types import SimpleNamespace

import pytest

from aqmlab.cli import answering as cli
from aqmlab.errors import FaultError
from aqmlab.simulator import engine

core = engine._core()
SCENARIO = """
duration = "1 s"
link = [{ rate = "1 Mbit/s" }]
traffic = [{ app = "bulk", flows = 1 }]
"""


@pytest.fixture
def failing(monkeypatch):
    names = {name: getattr(core, name) for name in dir(core)}
    names["run"] = lambda *_: core.fail("attempt to add\n with overflow")
    monkeypatch.setattr(engine, "_core", lambda: SimpleNamespace(**names))


def test_a_fault_is_a_sentence_with_its_place_and_where_to_report(failing, capfd):
    with pytest.raises(FaultError) as caught:
        engine.simulate({})
    said = str(caught.value)
    assert "attempt to add with overflow, crates/binding/src/lib.rs:" in said
    assert "\n" not in said and said.split("please report it")[1].endswith("/issues")
    assert capfd.readouterr() == ("", ""), "the panic printed something of its own"


def test_the_command_ends_with_a_code_of_its_own(failing, tmp_path, capfd):
    scenario = tmp_path / "one.toml"
    scenario.write_text(SCENARIO)
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", str(scenario), "--out", str(tmp_path / "results")])
    error = capfd.readouterr().err
    assert ended.value.code == FaultError.exit_code == 70
    assert error.count("please report it") == 1 and "Traceback" not in error


def test_another_call_works_after_a_fault():
    with pytest.raises(core.Fault):
        core.fail("x")
    assert core.quantity("20 ms", "time") == 0.02
