"""The simulator in WebAssembly against the native one: byte for byte, sentence for sentence."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import aqmlab
from aqmlab import _core
from aqmlab.adversary import finding, promise, search
from aqmlab.lab import PAGE
from aqmlab.simulator.engine import version

WEB = Path(__file__).parents[1] / "web"
MODULE = PAGE / "aqmlab.wasm"

pytestmark = [
    pytest.mark.skipif(not MODULE.is_file(), reason="no module: `make web` builds it"),
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
]

Scenario = dict[str, Any]
CATALOGUE = json.loads(_core.catalogue())
BULK = [{"app": "bulk", "users": 4, "start_within": "0.2 s"}]
# What an application cannot do without; those that need a recording are left out.
NEEDED: dict[str, Scenario | None] = {
    "replay": None,
    "requests": {"requests": [{"reply": 20000}]},
    "packmime": {"connections_per_s": 20, "users": None},
    "cbr": {"rate": "200 kbit/s", "packet": 200},
}


def scenario(**changes: Any) -> Scenario:
    """Two seconds of four flows over a narrow line."""
    link = {"rate": "3 Mbit/s", "delay": "3 ms", **changes.pop("link", {})}
    return {"duration": "2 s", "link": [link], "traffic": BULK, **changes}


def choices(fields: list[Scenario]) -> Iterator[Scenario]:
    """The defaults, and every choice that a variant's profile, flavour or preset offers."""
    yield {}
    for field in fields:
        if field["name"] in ("profile", "flavour", "preset", "mode") and field["choices"]:
            yield from ({field["name"]: name} for name in field["choices"])


def good() -> Iterator[Scenario]:
    for aqm in CATALOGUE["aqm"]:
        for engine in ("folded", "explicit"):
            for own in choices(aqm["fields"]):
                queue = {"aqm": aqm["name"], **own}
                yield scenario(link={"forward": queue}, engine=engine)
    for profile in CATALOGUE["tcp"]:
        tcp = {"profile": profile["name"]}
        yield scenario(traffic=[{**BULK[0], "tcp": tcp}])
        for ecn in (True, False):
            red = {"aqm": "red", "ecn": True}
            yield scenario(traffic=[{**BULK[0], "tcp": {**tcp, "ecn": ecn}}], link={"forward": red})
    for control in CATALOGUE["congestion"]:
        for aqm in ("dualpi2", "codel"):
            tcp = {"profile": "linux", "congestion": control["name"]}
            yield scenario(traffic=[{**BULK[0], "tcp": tcp}], link={"forward": {"aqm": aqm}})
    for access in CATALOGUE["access"]:
        line = {"access": access["name"]}
        yield {"duration": "2 s", "link": [line], "traffic": BULK}
    pages = {"app": "http", "users": 6, "http": "http3", "tcp": "quic"}
    yield scenario(
        duration="4 s", traffic=[pages], link={"effects": [{"kind": "loss", "share": 0.02}]}
    )
    for framing in ("none", "ethernet"):
        yield scenario(link={"framing": framing})
    yield scenario(link={"rate_steps": [["0 s", "3 Mbit/s"], ["1 s", "1 Mbit/s"]]})
    yield scenario(link={"rate_trace": {"model": "sprout"}})
    for app in CATALOGUE["traffic"]:
        needed = NEEDED.get(app["name"], {})
        if needed is None:
            continue
        group = {"app": app["name"], "users": 6, **needed}
        yield scenario(duration="4 s", traffic=[{k: v for k, v in group.items() if v is not None}])


def bad() -> Iterator[Scenario]:
    for aqm in CATALOGUE["aqm"]:
        yield scenario(link={"forward": {"aqm": aqm["name"], "no_such_field": 1}})
        for field in aqm["fields"]:
            wrong = {"switch": "perhaps", "choice": "none of them"}.get(field["type"], -1)
            yield scenario(link={"forward": {"aqm": aqm["name"], field["name"]: wrong}})
    yield scenario(link={"rate": "3 apples"})
    yield scenario(link={"forward": "rred"})
    yield scenario(traffic=[])
    yield scenario(duration="0 s")
    yield scenario(warmup="3 s")
    yield scenario(seed=-1)
    yield scenario(traffic=[{"app": "web", "load": 0.9}])


def native(text: str) -> tuple[str | None, str | None]:
    try:
        _core.check(text)
        return _core.run(text)["summary"], None
    except _core.ScenarioError as error:
        return None, str(error)


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Runs texts in the module."""
    folder = tmp_path_factory.mktemp("tab")

    def run(texts: list[str]) -> list[list[str | None]]:
        (folder / "in.json").write_text(json.dumps(texts))
        script = [WEB / "tests" / "sweep.mjs", MODULE, folder / "in.json", folder / "out.json"]
        subprocess.run(["node", *map(str, script)], check=True, timeout=600)
        return json.loads((folder / "out.json").read_text())

    return run


def test_every_variant_gives_the_bytes_of_the_native_simulator(tab: Any) -> None:
    texts = [json.dumps(of) for of in good()]
    answers = tab(texts)
    assert len(texts) > 150
    for text, (summary, refused) in zip(texts, answers, strict=True):
        assert (summary, refused) == native(text), text
    ran = [summary for summary, _ in answers if summary]
    assert len(ran) > 0.9 * len(texts), "most of them are scenarios that run"


def test_what_is_refused_is_refused_with_the_same_sentence(tab: Any) -> None:
    texts = ["{", *(json.dumps(of) for of in bad())]
    answers = tab(texts)
    refused = [sentence for _, sentence in answers if sentence]
    assert len(refused) > 60
    for text, answer in zip(texts, answers, strict=True):
        assert tuple(answer) == native(text), text


FINDINGS = [
    ("aqm", "pie", {"pulse": 1.4, "slot": 8, "jitter": 3, "outage": 0.4, "loss": 0.01}),
    ("congestion", "bbr", {"rate": 5, "lost_at": 48, "lost_run": 12, "lost_again": 3}),
    ("congestion", "scream", {"rate": 4, "buffer": 0.4, "rival": 1, "spread": 3, "ecn": 1}),
    ("aqm", "docsis_lld", {"control": 4, "second": 2, "drop_to": 0.3, "later": 0.2, "flows": 5}),
]
"""Kinds of what `aqmlab break` finds: effects, pulses and an outage; lost packets and lost
retransmissions; a rival behind a short buffer; a queue of two queues for Prague and BBR, whose rate
falls."""


def findings(folder: Path) -> list[Path]:
    """These as `aqmlab break --out` writes them."""
    written = []
    for number, (kind, name, genome) in enumerate(FINDINGS):
        target, words = search.Target(kind, name, name), promise.parse("use > 0.4")
        found = finding.Finding(target, words, target.whole(genome), 0.3, 0.25, 5, ())
        finding.write(found, folder / f"finding-{number}.toml")
        written.append(folder / f"finding-{number}.toml")
    return written


def test_a_finding_opens_in_the_page_and_gives_its_fingerprint(tmp_path: Path) -> None:
    files = findings(tmp_path)
    words = ["node", WEB / "tests" / "findings.mjs", MODULE, *files]
    answers = json.loads(subprocess.check_output([str(word) for word in words], timeout=120))
    for file, answer in zip(files, answers, strict=True):
        print = aqmlab.run(file).summary["fingerprint"]
        assert answer["ran"] == [print, print], file.read_text()
        assert answer["named"] == [print, print]
        assert answer["build"] == version().build
    assert len({answer["ran"][0] for answer in answers}) == len(FINDINGS)


def test_the_page_reads_toml_as_python_does(tmp_path: Path) -> None:
    """All files of the studies, which have every kind of value that TOML has but dates; and what
    is none, with its line."""
    shipped = Path(aqmlab.__file__).parent / "experiments"
    texts = [file.read_text(encoding="utf-8") for file in sorted(shipped.rglob("*.toml"))]
    assert len(texts) > 40
    wrong = [
        "a = ",
        "a = 1 b = 2",
        "[a",
        "a = 1\na = 2",
        "\n\na = [1, 2",
        "a = {b = 1",
        'a = "\\q"',
    ]
    (tmp_path / "texts.json").write_text(json.dumps(texts + wrong))
    script = (
        f"import {{ read }} from {json.dumps((WEB / 'toml.js').as_uri())};"
        "import { readFileSync } from 'node:fs';"
        "const tried = (text) => { try { return [read(text)] } catch (e) { return e.message } };"
        "const texts = JSON.parse(readFileSync(process.argv[1], 'utf8'));"
        "console.log(JSON.stringify(texts.map(tried)))"
    )
    words = ["node", "--input-type=module", "-e", script, str(tmp_path / "texts.json")]
    answers = json.loads(subprocess.check_output(words))
    for text, answer in zip(texts, answers, strict=False):
        assert answer == [tomllib.loads(text)], text[:200]
    for text, answer in zip(wrong, answers[len(texts) :], strict=True):
        assert answer.startswith(f"line {text.count(chr(10)) + 1}: "), (text, answer)


def test_the_presets_are_scenarios_that_the_engine_takes(tab: Any) -> None:
    presets = json.loads((WEB / "presets.json").read_text())
    assert len(presets) == 13
    script = (
        f"import {{ scenario }} from {json.dumps((WEB / 'scenario.js').as_uri())};"
        "const presets = JSON.parse(process.argv[1]);"
        "console.log(JSON.stringify(presets.flatMap(({ state }) =>"
        " [0, 1].map((s) => JSON.stringify(scenario(state, s))))))"
    )
    made = subprocess.run(
        ["node", "--input-type=module", "-e", script, json.dumps(presets)],
        check=True,
        capture_output=True,
        text=True,
    )
    for text in json.loads(made.stdout):
        _core.check(text)
