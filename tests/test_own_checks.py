"""`check-aqm` over disciplines of one's own, libraries in runs, and the folders of `new aqm`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from test_own_discipline import FIFO, JUDGE, scenario

import aqmlab
from aqmlab.errors import AqmlabError
from aqmlab.simulator.plugin import checking, starting

HERE = Path(__file__).parent


@pytest.fixture
def beside(tmp_path, monkeypatch, real_core):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def broken(report: dict) -> dict[str, str]:
    return {check["name"]: check["broken"]["why"] for check in report["checks"] if check["broken"]}


def checked(text: str) -> dict[str, str]:
    Path("own.py").write_text(text)
    return broken(checking.check("own.py"))


def library(name: str, *flags: str) -> Path:
    """A discipline in C of the Rust tests, compiled."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    source = HERE.parent / "crates" / "plugin"
    out, file = Path(f"lib{name}.so").resolve(), source / "tests" / f"{name}.c"
    subprocess.run(
        ["cc", "-O1", "-shared", "-fPIC", f"-I{source}/include", *flags, "-o", out, file],
        check=True,
    )
    return out


def test_what_keeps_the_laws_passes_and_gives_vectors(beside):
    Path("own.py").write_text(JUDGE)
    received: list[str] = []
    report = checking.check("own.py", received.append)
    assert broken(report) == {}
    assert received[0] == "conservation"
    assert report["happened"]["marked"] > 0
    checking.write_vectors(report, Path("vectors.json"))
    assert '"discipline": "threshold"' in Path("vectors.json").read_text()


@pytest.mark.parametrize(
    ("change", "law", "why"),
    [
        (("popleft()", "pop()"), "conservation", "out of order"),
        (("queue.drop(packet", "self.waiting.pop(); queue.drop(packet"), "conservation", ""),
        (("if self.waiting else", "if queue.now_s < 1 and self.waiting else"), "drain", "rest"),
    ],
)
def test_what_breaks_a_law_is_told(beside, change, law, why):
    described = checked(FIFO.replace(*change))
    assert law in described
    assert why in described[law]


def test_chance_that_is_not_the_queues_is_found(beside):
    own = JUDGE.replace("queue.uniform()", "random.random()").replace(
        "import aqmlab", "import random\nimport aqmlab", 1
    )
    assert "seed" in checked(own)


def test_a_library_runs_as_ours_and_its_crash_is_a_sentence(beside):
    path = str(library("fifo"))
    ours = aqmlab.run(scenario({"aqm": "droptail", "limit": 83}))
    theirs = aqmlab.run(scenario({"aqm": path}))
    assert theirs.summary["fingerprint"] == ours.summary["fingerprint"]
    with pytest.raises(AqmlabError, match=r"libfifo.so crashed \(SIGSEGV"):
        aqmlab.run(scenario({"aqm": path, "wrong": "crash"}))
    with pytest.raises(AqmlabError, match="each packet leaves once"):
        aqmlab.run(scenario({"aqm": path, "wrong": "twice"}))
    with pytest.raises(AqmlabError, match=r"crashed \(SIGSEGV.*in the check: [a-z]+\)"):
        checking.check(path)


def test_a_library_that_has_changed_is_another(beside):
    path = library("fifo")
    first = aqmlab.run(scenario({"aqm": str(path)}), out="r")
    library("fifo", "-O2", "-g")
    again = aqmlab.run(scenario({"aqm": str(path)}), out="r")
    assert [first.runs[0].cached, again.runs[0].cached] == [False, False]


@pytest.mark.parametrize("language", starting.LANGUAGES)
def test_a_new_folder_builds_and_passes(beside, language):
    starting.write("calm_queue", language, Path("calm"))
    with pytest.raises(AqmlabError, match="is there already"):
        starting.write("calm_queue", language, Path("calm"))
    found = Path("calm") / "calm_queue.py"
    if language != "python":
        if shutil.which({"c": "cc", "rust": "cargo"}[language]) is None:
            pytest.skip(f"there is no compiler of {language}")
        built = {"c": "libcalm_queue.so", "rust": "target/release/libcalm_queue.so"}[language]
        subprocess.run(["make", "--silent", "-C", "calm", built], check=True)
        found = Path("calm") / built
    report = checking.check(str(found))
    assert (report["name"], broken(report)) == ("calm_queue", {})
    with pytest.raises(AqmlabError, match="min_th must be smaller"):
        aqmlab.run(scenario({"aqm": str(found), "min_th": 70}))


def test_all_three_templates_are_one_discipline(beside):
    fingerprints = set()
    for language in ("python", "c"):
        starting.write("calm", language, Path(language))
    found = ["python/calm.py"]
    if shutil.which("cc"):
        subprocess.run(["make", "--silent", "-C", "c"], check=True)
        found.append("c/libcalm.so")
    for name in found:
        fingerprints.add(aqmlab.run(scenario({"aqm": name})).summary["fingerprint"])
    assert len(fingerprints) == 1


def test_a_wrong_name_is_one_sentence(beside):
    for name in ("My-Aqm", "1st", ""):
        with pytest.raises(AqmlabError, match="is no name for a discipline"):
            starting.write(name, "c", Path("x"))
    with pytest.raises(AqmlabError, match="choose one of python, c, rust"):
        starting.write("x", "perl", Path("x"))
