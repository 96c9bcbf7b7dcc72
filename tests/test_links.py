"""Changing links and kinds of access, from the file to the results folder."""

from __future__ import annotations

import json

import pyarrow
import pytest

import aqmlab
from aqmlab.cli import reference, traces
from aqmlab.errors import SpecError
from aqmlab.experiment import inlining, spec
from aqmlab.experiment.experiment import load
from aqmlab.report import setup, wording
from aqmlab.runs import calibrate
from aqmlab.simulator import engine
from conftest import base_scenario, planned

TRACE = "# mine\n1\n1\n5\n\n10\n"
"""Four opportunities in 10 ms: 4.8 Mbit/s."""
SCENARIO = """
duration = "4 s"
warmup = "1 s"
[[link]]
rate_trace = { file = "my.trace" }
[[traffic]]
app = "bulk"
flows = 3
"""


def one_line(error) -> None:
    assert "\n" not in str(error.value)


@pytest.fixture
def traced(tmp_path):
    (tmp_path / "my.trace").write_text(TRACE)
    path = tmp_path / "traced.toml"
    path.write_text(SCENARIO)
    return path


def test_a_trace_is_read_from_beside_the_scenario(traced):
    link = load(traced).scenario["link"][0]
    assert link["rate_trace"] == {"file": "my.trace", "text": TRACE}


def test_a_trace_of_an_override_and_of_an_axis(traced):
    (traced.parent / "b.trace").write_text("7")
    loaded = load(traced, overrides=["link.0.rate_trace={file='b.trace'}"])
    assert loaded.scenario["link"][0]["rate_trace"] == {"file": "b.trace", "text": "7"}
    sweep = {"link.0.rate_trace": [{"file": "my.trace"}, {"label": "two", "file": "b.trace"}]}
    folded = inlining.inline_tables({"scenario": base_scenario(), "sweep": sweep}, traced.parent)
    plan = planned(folded)
    traces = [plan.scenarios[cell.key]["link"][0]["rate_trace"] for cell in plan.cells]
    assert [trace["text"] for trace in traces] == [TRACE, "7"]
    assert [cell.label for cell in plan.cells] == ["file=my.trace", "two"]


def test_a_file_alone_cannot_take_the_place_of_another(traced):
    with pytest.raises(SpecError, match="set the whole trace") as error:
        load(traced, overrides=["link.0.rate_trace.file=b.trace"])
    one_line(error)


def test_a_trace_that_is_missing_or_wrong_is_one_sentence(traced, real_core):
    (traced.parent / "my.trace").write_text("1\nfast\n")
    with pytest.raises(SpecError, match='line 2, "fast", is not a whole number') as error:
        engine.check(load(traced).scenario)
    one_line(error)
    (traced.parent / "my.trace").unlink()
    with pytest.raises(
        SpecError, match=r"my\.trace: no such file; give the path of a trace"
    ) as error:
        load(traced)
    one_line(error)


def test_a_results_folder_can_be_run_again_without_the_file(traced, real_core, tmp_path):
    first = aqmlab.run(traced, out=tmp_path / "first")
    manifest = json.loads((first.runs[0].folder / "manifest.json").read_text())
    (traced.parent / "my.trace").unlink()
    again = aqmlab.run(manifest["scenario"], out=tmp_path / "again")
    assert again.summary["fingerprint"] == first.summary["fingerprint"]
    assert again.runs[0].folder.name == first.runs[0].folder.name, "the same run"
    assert first.summary["capacity_mean_bits_per_s"] == pytest.approx(4.8e6, rel=1e-3)
    assert first.summary["utilisation"] > 0.9
    trace = {"file": "my.trace", "text": TRACE + "12\n"}
    other = spec.set_path(manifest["scenario"], "link.0.rate_trace", trace)
    changed = aqmlab.run(other, out=tmp_path / "changed")
    assert changed.runs[0].folder.name != first.runs[0].folder.name, "the content is what counts"


def changing(**fields) -> dict:
    scenario = base_scenario()
    scenario["traffic"] = [{"app": "web", "load": "50 %"}]
    scenario["link"] = [{"rate_steps": [["0 s", "2 Mbit/s"], ["10 s", "8 Mbit/s"]], **fields}]
    return scenario


def test_a_load_is_a_share_of_what_is_offered(real_core):
    # From 5 to 20 s: 5 s at 2 and 10 s at 8 Mbit/s.
    assert calibrate.rate_of(changing(), 0) == pytest.approx(6e6)
    behind = changing(reverse_rate="3 Mbit/s")
    behind["traffic"][0]["side"] = "servers"
    assert calibrate.rate_of(behind, 0) == 3e6
    scenario = base_scenario(link=[{"access": "dsl"}], traffic=changing()["traffic"])
    assert calibrate.rate_of(scenario, 0) == 50e6


def test_loads_are_calibrated_on_links_that_stay(real_core):
    fast, _ = calibrate.uncongested(changing(delay="3 ms"), 60, 10)
    (link,) = fast["link"]
    assert link["rate"] == "20000000 bit/s", "ten times the first"
    assert not any(name in link for name in calibrate.CHANGING)
    assert link["delay"] == "3 ms"
    scenario = base_scenario(link=[{"access": "lte"}], traffic=changing()["traffic"])
    fast, _ = calibrate.uncongested(scenario, 60, 10)
    assert fast["link"][0]["rate"] == "120000000 bit/s"
    engine.check(fast | {"traffic": [{"app": "web", "users": 1}]})


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"rate": "2 Mbit/s"}, "2 Mbit/s"),
        ({"rate_steps": [["0 s", "0.5 Mbit/s"], ["1 s", "0 bit/s"]]}, "0 bit/s to 500 kbit/s"),
        ({"rate": "5 Mbit/s", "rate_trace": {"text": "1"}}, "rate by trace"),
        ({"rate": "5 Mbit/s", "rate_trace": {"model": "sprout"}}, "about 5 Mbit/s"),
        ({"rate": "5 Mbit/s", "rate_trace": "none"}, "5 Mbit/s"),
    ],
)
def test_a_changing_rate_in_words(link, words):
    assert wording.line_rate(link) == words


RADIO = ("wifi", "5g", "lte-cell")
"""Kinds of access whose channel makes the rate."""


@pytest.mark.parametrize(
    "change", [{}, {"rate": "7 Mbit/s"}, {"rate_steps": [["0 s", "1 Mbit/s"]]}]
)
def test_every_access_is_drawn_as_what_it_is(real_core, change):
    for entry in engine.catalogue()["access"]:
        scenario = base_scenario(link=[{"access": entry["name"], **change}])
        if "rate" in change and entry["name"] in RADIO:
            with pytest.raises(SpecError, match=r"link\.0\.rate: what access .* follows from its"):
                engine.check(scenario)
            continue
        short, complete = setup.layout(scenario), setup.layout(engine.check(scenario))
        assert short["links"][0]["rates"] == complete["links"][0]["rates"], entry["name"]
        assert short["links"][0]["delay"] == complete["links"][0]["delay"], entry["name"]


def test_access_is_listed_and_described_with_sources(real_core):
    names = [entry["name"] for entry in reference.select("access")["access"]]
    assert {"cable", "dsl", "lte", "satellite", "leo"} <= set(names)
    cable = reference.find("cable")
    assert cable["kind"] == "access"
    complete = engine.check(base_scenario(link=[{"access": "cable"}]))["link"][0]
    for field in cable["fields"]:
        assert field["source"] and field["meaning"], field["name"]
        assert field["name"] in complete, field["name"]


# ---- requests from a file ------------------------------------------------------------------------

REQUESTS = "user,think_s,request_bytes,reply_bytes\n0,1,100,1000\n0,0.5,200,70000\n"
REPLAYED = """
name = "given"
duration = "6 s"
[[link]]
rate = "1 Mbit/s"
[[traffic]]
app = "requests"
users = 1
requests = "ours.csv"
"""


def test_given_requests_are_read_beside_the_scenario_and_are_part_of_the_run(real_core, tmp_path):
    (tmp_path / "ours.csv").write_text(REQUESTS)
    path = tmp_path / "given.toml"
    path.write_text(REPLAYED)
    loaded = load(path)
    assert loaded.scenario["traffic"][0]["requests"] == {"file": "ours.csv", "text": REQUESTS}
    tables = engine.simulate(loaded.scenario).tables
    assert tables["responses"]["reply_bytes"].to_pylist() == [1000, 70000]
    # The complete scenario has them, so that the run can be done again without the file.
    written = engine.check(loaded.scenario)["traffic"][0]["requests"]
    assert written == {"file": "ours.csv", "text": REQUESTS}
    (tmp_path / "ours.csv").write_text(REQUESTS.replace("70000", "7x"))
    with pytest.raises(SpecError, match=r'ours\.csv, line 3: reply_bytes is "7x"') as error:
        engine.check(load(path).scenario)
    one_line(error)
    (tmp_path / "ours.csv").unlink()
    with pytest.raises(SpecError, match=r"ours\.csv: no such file; give the path of a table"):
        load(path)


RECORDED = "time_s,rate_mbps,delay_ms,loss_pct\n0,8,5,0\n1,2,20,50\n2,8,5,0\n"
"""A recorded line whose middle second is slow, late and loses half."""


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
def test_a_recorded_line_is_read_packed_or_not(tmp_path, packed):
    path = tmp_path / f"line.csv{packed}"
    content = RECORDED.encode()
    if packed:
        kind = {".gz": "gzip", ".zst": "zstd"}[packed]
        sink = pyarrow.BufferOutputStream()
        with pyarrow.CompressedOutputStream(sink, kind) as stream:
            stream.write(content)
        content = sink.getvalue().to_pybytes()
    path.write_bytes(content)
    (tmp_path / "line.toml").write_text(SCENARIO.replace("my.trace", path.name))
    scenario = load(tmp_path / "line.toml").scenario
    link = engine.check(scenario)["link"][0]
    assert link["rate_steps"][1] == ["1 s", "2000000 bit/s"]
    assert link["rate_repeat"] == "3 s"
    kinds = {(effect["kind"], effect["direction"]) for effect in link["effects"]}
    assert kinds == {(k, d) for k in ("delay-steps", "loss-steps") for d in ("forward", "reverse")}
    done = engine.simulate({**scenario, "seed": 1})
    assert done.summary["effects"]["bottleneck.forward.loss-steps"]["lost"] > 0


def test_a_broken_packed_file_is_one_sentence(tmp_path):
    (tmp_path / "line.csv.gz").write_bytes(b"no gzip")
    (tmp_path / "line.toml").write_text(SCENARIO.replace("my.trace", "line.csv.gz"))
    with pytest.raises(SpecError, match=r"line.csv.gz: cannot be read") as error:
        load(tmp_path / "line.toml")
    one_line(error)


def test_effects_read_columns_of_files(tmp_path):
    (tmp_path / "path.csv").write_text(RECORDED)
    effect = {"kind": "delay-steps", "steps": {"file": "path.csv"}}
    inlined = inlining.inline_tables({"link": [{"effects": [effect]}]}, tmp_path)
    assert inlined["link"][0]["effects"][0]["steps"]["text"] == RECORDED
    checked = engine.check(base_scenario(link=[{"rate": "8 Mbit/s", **inlined["link"][0]}]))
    assert checked["link"][0]["effects"][0]["steps"][1] == ["1 s", "0.02 s"]


def test_a_recorded_line_is_drawn(tmp_path, capsys):
    (tmp_path / "line.csv").write_text(RECORDED)
    traces.answer(tmp_path / "line.csv", json=False)
    shown = capsys.readouterr().out.splitlines()
    assert "3 rows of a table, 3 s" in shown[0]
    assert "2 Mbit/s to 8 Mbit/s, mean 6 Mbit/s" in shown[1]
    assert [line.split()[0] for line in shown[1::2]] == ["rate", "delay", "loss"]
    (tmp_path / "my.trace").write_text(TRACE)
    traces.answer(tmp_path / "my.trace", json=True)
    assert json.loads(capsys.readouterr().out)["format"] == "opportunities"
    (tmp_path / "excel.csv").write_text("\ufeff" + RECORDED, "utf-8")
    traces.answer(tmp_path / "excel.csv", json=True)
    assert json.loads(capsys.readouterr().out)["rows"] == 3
    for text, why in (("time_s,rate\n0,1\n", "names no unit"), ("9\n3\n", "sort them by time")):
        (tmp_path / "bad.csv").write_text(text)
        with pytest.raises(SpecError, match=why) as error:
            traces.answer(tmp_path / "bad.csv", json=False)
        one_line(error)


def test_effects_are_listed_and_described():
    names = {entry["name"] for entry in reference.members("effects")}
    assert {"loss", "gilbert-elliott", "slots", "policer"} <= names
    fields = [field["name"] for field in reference.find("delay-steps")["fields"]]
    assert fields[0] == "steps" and "keep_order" in fields


def test_a_load_is_calibrated_without_effects():
    effects = [{"kind": "loss", "share": 0.5}]
    web = {"app": "web", "load": "50%"}
    scenario = base_scenario(link=[{"rate": "8 Mbit/s", "effects": effects}], traffic=[web])
    bare, _ = calibrate.uncongested(scenario, 100.0, 10.0)
    assert "effects" not in bare["link"][0]
