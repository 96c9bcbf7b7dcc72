"""A congestion control of one's own as a module of WebAssembly, beside the simulator's."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from test_own_discipline import behind

import aqmlab
from aqmlab.errors import AqmlabError
from aqmlab.lab import PAGE, link, server
from aqmlab.simulator.plugin import source, starting

SWEEP = Path(__file__).parents[1] / "web" / "tests" / "sweep.mjs"
MODULE = PAGE / "aqmlab.wasm"
CLANG = next(filter(shutil.which, ("clang", *(f"clang-{n}" for n in range(30, 12, -1)))), None)
"""Debian's packages of one version give it a name with a number."""
TARGET = "lib/rustlib/wasm32-unknown-unknown/lib"


def missing_compiler(language: str) -> str | None:
    """What is missing to build for WebAssembly."""
    if language == "c":
        return None if CLANG else "clang is not installed"
    if shutil.which("cargo") is None:
        return "cargo is not installed"
    asked = ["rustc", "--print", "sysroot"]
    root = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    return None if (Path(root) / TARGET).is_dir() else "Rust's target for WebAssembly is missing"


def written(language: str, *changes: tuple[str, str]) -> Path:
    """The module of `aqmlab new cc calm`, whose source is changed like this."""
    if why := missing_compiler(language):
        pytest.skip(why)
    folder = Path(f"{language}-{len(list(Path().iterdir()))}")
    starting.write("calm", language, folder, "cc")
    source = folder / {"c": "calm.c", "rust": "src/lib.rs"}[language]
    text = source.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    source.write_text(text)
    subprocess.run(["make", "--silent", "-C", folder, "wasm"], check=True)
    return folder / {"c": "calm.wasm", "rust": "target/release/calm.wasm"}[language]


@pytest.fixture
def beside(tmp_path, monkeypatch, real_core):
    del real_core
    if not MODULE.is_file():
        pytest.skip("no module: `make web` builds it")
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tab(own: list[Path], scenarios: list[dict[str, Any]]) -> list[tuple[Any, Any]]:
    """What the simulator's module answers, with these controls beside it."""
    Path("in.json").write_text(json.dumps([json.dumps(one) for one in scenarios]))
    subprocess.run(["node", SWEEP, MODULE, "in.json", "out.json", *own], check=True, timeout=300)
    answers = json.loads(Path("out.json").read_text())
    return [(summary and json.loads(summary), why) for summary, why in answers]


def lossy(control: object, **tcp: object) -> dict[str, Any]:
    made = behind(control)
    made["traffic"][0]["tcp"] |= tcp
    made["link"][0]["effects"] = [{"kind": "loss", "share": "1%"}]
    return made


@pytest.mark.parametrize("language", ["c", "rust"])
def test_a_control_in_the_tab_that_imitates_reno_gives_renos_fingerprints(beside, language):
    calm = {"name": "calm", "beta": 0.7}
    runs = [lossy(name, profile=of) for of in ("linux", "plain") for name in ("calm", "reno")]
    answers = tab([written(language)], [*runs, lossy(calm), lossy({"name": "calm", "beta": 0.95})])
    assert [why for _, why in answers[:5]] == [None] * 5
    prints = [summary["fingerprint"] for summary, _ in answers[:5]]
    assert prints[:4] == [
        aqmlab.run(lossy("reno", profile=of)).summary["fingerprint"]
        for of in ("linux", "linux", "plain", "plain")
    ]
    assert prints[4] not in prints[:4]
    assert answers[0][0]["marks"] > 0
    assert "out of range" in answers[5][1]


def test_the_tab_and_the_library_of_a_control_give_one_fingerprint(beside):
    """One that keeps state, computes with fractions, paces, and looks at every sample."""
    changes = (
        ("self.count = 0;\n        let left", "self.count = 3;\n        let left"),
        (
            "if ack.may_grow == 0 {",
            "window.pacing_bits_per_s = 8_000_000 + ack.srtt_ns.isqrt();\n"
            "        if ack.may_grow == 0 || ack.rtt_ns % 7 == 0 {",
        ),
        ("flags: 0,", "flags: AQMLAB_PACED | AQMLAB_RATES,"),
        ("on_app_limited: None,", "on_app_limited: Some(idle),"),
        (
            "const GAUGES",
            'unsafe extern "C" fn idle(_: *mut c_void, window: *mut ControlWindow, ns: u64) {\n'
            "    let more = (ns as f64).sqrt() as u64 % 4000;\n"
            "    unsafe { (*window).cwnd = 3000 + more };\n}\n\nconst GAUGES",
        ),
    )
    module = written("rust", *changes)
    folder = module.parents[2]
    subprocess.run(["make", "--silent", "-C", folder], check=True)
    library = folder / "target/release/libcalm.so"
    pages = [{"app": "web", "users": 4, "tcp": {"profile": "linux", "congestion": "calm"}}]
    runs = [lossy("calm"), {**lossy("calm"), "traffic": pages, "record": {"controls": True}}]
    native = json.loads(json.dumps(runs).replace('"calm"', json.dumps(str(library))))
    both = [aqmlab.run(one).summary["fingerprint"] for one in native]
    assert [summary["fingerprint"] for summary, _ in tab([module], runs)] == both
    assert both[0] != aqmlab.run(lossy("reno")).summary["fingerprint"]


def test_a_run_begins_with_a_control_that_remembers_nothing(beside):
    """A static variable of a module lives as long as its instance, which is one run's."""
    change = (
        "self.count = 0;\n        let left",
        "static SEEN: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);\n"
        "        self.count = 2 * SEEN.fetch_add(1, std::sync::atomic::Ordering::Relaxed);\n"
        "        let left",
    )
    answers = tab([written("rust", change)], [lossy("calm")] * 3)
    assert [why for _, why in answers] == [None] * 3
    assert len({summary["fingerprint"] for summary, _ in answers}) == 1
    assert answers[0][0]["fingerprint"] != aqmlab.run(lossy("reno")).summary["fingerprint"]


HOSTILE = [
    (("window.ssthresh = left.max(2) * mss;", "window.cwnd = left * 0;"), "at least one segment"),
    (("let left =", "assert!(mss == 0);\n        let left ="), "on_loss has failed (unreachable"),
    (
        (
            "self.count = 0;\n        let left",
            "std::mem::forget(std::hint::black_box(vec![1u8; 99 << 20]));\n        let left",
        ),
        "more than 64 MiB of memory",
    ),
    (('name: c"calm"', 'name: c"reno"'), "congestion control reno already"),
    (("on_loss: Some(on_loss)", "on_loss: None"), "no function on_loss"),
    (("parameter_count: 1", "parameter_count: 1_000"), "or 100 parameters"),
]


@pytest.mark.parametrize(("change", "why"), HOSTILE)
def test_a_hostile_module_ends_with_one_sentence(beside, change, why):
    ((summary, said),) = tab([written("rust", change)], [lossy("calm")])
    assert summary is None
    assert why in said
    assert "\n" not in said


def test_a_module_may_import_nothing(beside):
    clock = 'unsafe extern "C" {\n    safe fn now() -> f64;\n}\n\nconst GAUGES'
    changes = (
        ("const GAUGES", clock),
        ("self.count = 0;\n        let left", "self.count = now() as u64;\n        let left"),
    )
    ((_, said),) = tab([written("rust", *changes)], [lossy("calm")])
    assert "imports env.now" in said
    Path("empty.wasm").write_bytes(b"\0asm\1\0\0\0")
    ((_, said),) = tab([Path("empty.wasm")], [lossy("calm")])
    assert "exports no aqmlab_control" in said
    ((_, said),) = tab([], [lossy("calm")])
    assert "calm" in said


ONE = """
duration = "2 s"
[[link]]
rate = "3 Mbit/s"
forward = "codel"
[[traffic]]
app = "bulk"
flows = 2
tcp = { profile = "linux", congestion = { name = "calm/libcalm.so", beta = 0.6 } }
"""


def test_a_control_of_ones_own_is_opened_in_the_page(beside, monkeypatch):
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    monkeypatch.setenv("XDG_DATA_HOME", str(beside / "data"))
    starting.write("calm", "c", Path("calm"), "cc")
    subprocess.run(["make", "--silent", "-C", "calm"], check=True)
    file = Path("one.toml")
    file.write_text(ONE)
    with pytest.raises(AqmlabError, match="--trust"):
        link.opened(file)
    source.table("calm/libcalm.so")  # the user names it
    with pytest.raises(AqmlabError, match=r"calm.wasm, which is not there: make wasm"):
        link.opened(file)
    module = Path("calm/calm.wasm").resolve()
    module.write_bytes(b"\0asm")
    opened = link.opened(file)
    assert opened.controls == [module]
    shared = json.loads(base64.urlsafe_b64decode(opened.fragment + "==="))
    tcp = shared["state"]["shared"]["traffic"][0]["tcp"]
    assert tcp["congestion"] == {"name": "calm", "beta": 0.6}
    assert str(beside) not in json.dumps(shared)
    page = beside / "page"
    page.mkdir()
    (page / "index.html").write_text("")
    with server.Laboratory(page, beside, 0, opened.controls) as made:
        found = made.answer("lab.json")
        assert found is not None
        (name,) = json.loads(found[1])["controls"]
        assert made.answer(name) == ("application/wasm", b"\0asm")
