"""`check-aqm` over disciplines of one's own, libraries in runs, and the folders of `new aqm`."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from test_own_discipline import FIFO, JUDGE, RENO, behind, scenario

import aqmlab
from aqmlab.adversary import attack, finding, promise, recovery, search
from aqmlab.errors import AqmlabError
from aqmlab.evaluate import evaluation, situations
from aqmlab.simulator.plugin import checking, control_laws, starting

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


@pytest.mark.parametrize("language", starting.LANGUAGES)
def test_a_new_control_builds_passes_and_is_reno(beside, language):
    starting.write("calm", language, Path("calm"), "cc")
    found = Path("calm") / "calm.py"
    if language != "python":
        if shutil.which({"c": "cc", "rust": "cargo"}[language]) is None:
            pytest.skip(f"there is no compiler of {language}")
        built = {"c": "libcalm.so", "rust": "target/release/libcalm.so"}[language]
        subprocess.run(["make", "--silent", "-C", "calm", built], check=True)
        found = Path("calm") / built
    ours, own = (aqmlab.run(behind(control)).summary for control in ("reno", str(found)))
    assert own["fingerprint"] == ours["fingerprint"]
    with pytest.raises(AqmlabError, match="out of range"):
        aqmlab.run(behind({"name": str(found), "beta": 0.95}))
    if language == "c":
        report = checking.check_control(str(found))
        assert (report["name"], broken(report)) == ("calm", {})
        windows = {row["name"]: row["value"] / row["reno"] for row in report["information"][:-1]}
        assert all(0.85 < share < 1.15 for share in windows.values()), windows
        with pytest.raises(AqmlabError, match="check it with aqmlab check-cc"):
            checking.check(str(found))


@pytest.mark.parametrize(
    ("change", "laws"),
    [
        (
            ("def on_loss(self, window):", "def on_loss(self, window):\n        return"),
            {"response"},
        ),
        (("if not ack.may_grow", "if True"), {"line"}),
    ],
)
def test_a_control_that_breaks_a_law_is_reported(beside, change, laws, monkeypatch):
    Path("own.py").write_text(RENO.replace(*change))
    monkeypatch.setattr(control_laws, "LAWS", control_laws.LAWS[:1])
    monkeypatch.setattr(control_laws, "informed", lambda *_: [])
    assert laws <= set(broken(checking.check_control("own.py")))


def test_a_score_card_pairs_a_queue_with_ours_and_finds_a_clock(beside):
    Path("own.py").write_text(JUDGE)
    how = {"sets": ["held-out"], "seed": 7, "size": 2, "checked": False, "jobs": 1}
    card = evaluation.evaluate("own.py", **how)
    assert (card["name"], card["valid"]) == ("threshold", True)
    found = card["sets"]["held-out"]
    assert 0 < found["score"][0] < 1
    assert set(found["beside"]) == set(evaluation.RIVALS["aqm"])
    assert evaluation.evaluate("own.py", **how) == card
    for stolen, why in (
        ("import time", "not within reach"),
        ("open('/dev/null')", "files are out of reach"),
    ):
        Path("own.py").write_text(f"{stolen}\n{JUDGE}")
        with pytest.raises(AqmlabError, match=why):
            evaluation.evaluate("own.py", **how)
    with pytest.raises(AqmlabError, match="--seed"):
        evaluation.evaluate("own.py", sets=["held-out"])


def test_scenarios_of_an_evaluation_are_those_of_their_version():
    drawn = [situations.of_queues("train", size=30), situations.of_controls("public", size=30)]
    text = json.dumps([[one.scenario for one in each] for each in drawn], sort_keys=True)
    assert hashlib.blake2b(text.encode(), digest_size=8).hexdigest() == "5b32444f7ebebfff"
    assert {one.family for one in drawn[0]} == set(situations.FAMILIES)
    assert sum(situations.SIZES[name] for name in ("train", "public")) == 1_000


def test_an_adversary_finds_shrinks_explains_and_writes_what_breaks_a_promise(beside):
    fixed = ["outage", "pulse", "slot", "loss", "jitter", "later", "spread"]
    (found,) = attack.attack("pie", ["p99 delay < 100 ms"], 96, 1, fixed=fixed)
    assert isinstance(found, finding.Finding)
    assert found.genome["drop_to"] < 0.7
    assert ("drop_to", True) in {(name, kept) for name, _, kept in found.without}
    finding.write(found, Path("pie.toml"))
    replayed = aqmlab.run("pie.toml").summary
    assert replayed["queue_delay_p99_s"] > 0.1
    assert replayed["fingerprint"] == found.document()["fingerprint"]
    (kept,) = attack.attack("fq_codel", ["starvation > 0.001"], 24, 1, fixed=fixed)
    assert kept == ("starvation > 0.001", 24)


def test_an_adversary_places_losses():
    line, placed = {"rate": 33, "rtt": 300, "flows": 1}, {"lost_at": 48, "lost_again": 4}
    target = search.Target("congestion", "bbr", "bbr", line)
    (group,) = target.scenario(placed)["traffic"]
    assert group["script"] == [{"drop": [48]}, {"drop": [48], "sent": [2, 3, 4, 5]}]
    stalled = search.tried(target, promise.parse("use > 0.6"), [placed, {}], 1)
    assert [one.excess > 0 for one in stalled] == [True, False]


def test_a_recovery_lasts_from_the_loss_until_half_of_the_rate_is_back(real_core):
    line = {"rate": 2.56, "flows": 1, "lost_at": 248, "lost_run": 30}
    target = search.Target("congestion", "bbr", "bbr", line)
    words = promise.parse("recovery < 100 round trips")
    # Four lost retransmissions cost timers of 0.2 s, doubled each time; without, nothing waits.
    slow, fast = search.tried(target, words, [{"lost_again": 4}, {"lost_again": 0}], 1)
    assert (slow.excess > 0, fast.excess > 0) == (True, False)
    assert slow.value is not None and fast.value is not None
    assert 100 < slow.value < 250
    assert fast.value < 20
    half, most = (promise.parse(f"recovery{to} < 5 round trips") for to in ("", " to 90%"))
    assert (half.share, most.share, most.at_most) == (0.5, 0.9, True)


def test_recovery_is_counted_in_intervals_of_what_passes_the_line():
    # 1 Mbit/s and 120 ms: ten packets an interval. From 2.4 s on nothing passes, until 3.6 s.
    line = recovery.Line(6.0, 0.12, ((0.0, 1e6),))
    sent = [n * 0.012 for n in range(500) if not 2.4 <= n * 0.012 < 3.6]
    rows = [(at, recovery.STARTED, recovery.DATA, 0, 1500) for at in sent]

    def counted(*more, share=0.5, over=line):
        columns = zip(*sorted([*rows, *more]), strict=True)
        at, *others = map(list, columns)
        times = [round(1e9 * one) for one in at]
        names = ("time_ns", "event", "kind", "again", "bytes")
        return recovery.round_trips(dict(zip(names, [times, *others], strict=True)), over, share)

    dropped = (2.39, recovery.DROPPED, recovery.DATA, 0, 1500)
    assert counted() == 0, "nothing is lost"
    assert counted(dropped) == pytest.approx((3.6 - 2.39) / 0.12)
    # A script's losses are seen by the retransmission, and count from where the rate fell.
    again = (3.61, 0, recovery.DATA, 1, 1500)
    assert counted(again) < 1, "it came when the rate was back"
    again = (3.5, 0, recovery.DATA, 1, 1500)
    assert counted(again) == pytest.approx((3.6 - 2.4) / 0.12)
    # What datagrams take, and what the line no longer has, are not the senders' to regain.
    pulse = [
        (at / 1e3, recovery.STARTED, recovery.DATAGRAM, 0, 1500) for at in range(2400, 3600, 12)
    ]
    assert counted(dropped, *pulse) == pytest.approx((2.4 - 2.39) / 0.12, abs=0.01)
    slow = recovery.Line(6.0, 1.2, ((0.0, 1e6),))
    assert counted(dropped, over=slow) == 0, "ten intervals come before the first"


@pytest.mark.parametrize(
    ("words", "fixed", "why"),
    [
        ("use > 3", [], "is a share"),
        ("recovery to 120% < 5 round trips", [], "a share below 100 %"),
        ("calls ok", [], "is no promise"),
        ("use > 0.3", ["outages"], 'did you mean "outage"'),
        ("use > 0.3", ["control=cubicc"], "choose from cubic"),
        ("use > 0.3", ["rtt=1"], "from 5 to 300"),
    ],
)
def test_a_wrong_attack_is_one_sentence(words, fixed, why):
    with pytest.raises(AqmlabError, match=why):
        list(attack.attack("pie", [words], 24, 1, fixed=fixed))


@pytest.mark.parametrize("kind", ["aqm", "cc"])
def test_what_pip_compiles_of_a_template_is_no_part_of_it(beside, kind, monkeypatch, tmp_path):
    copied = tmp_path / "templates"
    shutil.copytree(starting.TEMPLATES, copied, ignore=shutil.ignore_patterns("__pycache__"))
    for source in list(copied.rglob("*.py")):
        (source.parent / "__pycache__").mkdir()
        (source.parent / "__pycache__" / f"{source.stem}.cpython-311.pyc").write_bytes(
            b"\xa7\r\r\n"
        )
    monkeypatch.setattr(starting, "TEMPLATES", copied)
    written = starting.write("mine", "python", Path("mine"), kind)
    assert {path.name for path in written} == {"README.md", "mine.py"}
