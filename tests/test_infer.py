"""`aqmlab infer`: unknowns, targets, history matching on stand-ins of the simulator, files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from aqmlab.errors import SpecError, StoreError
from aqmlab.experiment import experiment as experiments
from aqmlab.experiment import plan, shapes
from aqmlab.experiment.folders import SHIPPED
from aqmlab.infer import (
    bench,
    command,
    files,
    pictures,
    sets,
    spec,
)
from aqmlab.infer.predictions import Prediction
from aqmlab.infer.targets import Target, Targets
from aqmlab.infer.unknowns import Unknown, Unknowns
from aqmlab.pipeline import calibrating, outcome
from aqmlab.pipeline import command as pipeline
from aqmlab.runs.laboratory import Laboratory, checked

STUDIES = ("tuning-red", "not-deploy-red", "harsh-red")
PING = SHIPPED / "examples" / "ping"

# --- unknowns -----------------------------------------------------------------------------------


def unknown(name: str = "x", **keys) -> Unknown:
    usual = {"title": name, "reason": "?", "source": "constructed"}
    return shapes.read(Unknown, {"name": name, **usual, **keys})


def test_a_value_may_take_fields_out_or_leave_all_as_it_is():
    limits = unknown(paths=["link.*.forward.limit"], values=["kept", "out"], removed_with="out")
    assert limits.applied(SCENARIO, "kept") == SCENARIO
    assert limits.applied(SCENARIO, "out")["link"][0]["forward"] == {"aqm": "red"}
    assert limits.applied({"link": [{"forward": {"aqm": "red"}}]}, "out")["link"] == [
        {"forward": {"aqm": "red"}}
    ]
    rates = unknown(paths=["link.*.rate"], values=["kept", "1 Mbit/s"], kept_with="kept")
    assert rates.applied(SCENARIO, "kept") == SCENARIO
    assert rates.applied(SCENARIO, "1 Mbit/s")["link"][0]["rate"] == "1 Mbit/s"
    for keys in ({"removed_with": "x"}, {"kept_with": "x"}):
        with pytest.raises(shapes.Mistake, match="none of its values"):
            unknown(paths=["a"], values=[1, 2], **keys)


def test_what_an_unknown_changes_may_depend_on_another():
    kind = unknown("kind", paths=["link.*.forward.aqm"], values=["red", "pi"])
    mine = {"paths": ["link.*.forward.q_ref"], "values": [5, 50], "only": {"aqm": "pi"}}
    later = unknown("target", **mine)
    assert Unknowns([kind, later]).untouched([SCENARIO]) == []
    assert Unknowns([later]).untouched([SCENARIO]) == ["target"]
    # Of scenarios of which no row trains it need not be found.
    assert Unknowns([unknown("target", **mine, untrained=True)]).untouched([SCENARIO]) == []


@pytest.mark.parametrize(
    ("only", "changes"),
    [
        ({"forward.aqm": "red"}, True),
        ({"forward.aqm": ["ared", "red"]}, True),
        ({"forward.aqm": "ared"}, False),
        ({"network": {"rtt": "10 ms"}}, True),
    ],
)
def test_only_looks_at_fields_within_the_tables_above(only, changes):
    ring = unknown(paths=["link.*.ring"], values=[1, 4], only=only)
    assert ("ring" in ring.applied(SCENARIO, 4)["link"][0]) == changes


SCENARIO = {
    "network": {"rtt": "10 ms"},
    "link": [{"name": "line", "rate": "10 Mbit/s", "forward": {"aqm": "red", "limit": 50}}],
    "traffic": [
        {"name": "web", "app": "web", "users": 700, "tcp": "freebsd-2.2.8"},
        {"name": "call", "app": "cbr", "rate": "64 kbit/s"},
    ],
}


@pytest.mark.parametrize(
    ("keys", "place", "value"),
    [
        ({"paths": ["a"], "range": ["1 s", "100 s"], "scale": "log"}, 0.5, "10.0 s"),
        ({"paths": ["a"], "range": ["1 s", "3 s"]}, 0.25, "1.5 s"),
        ({"paths": ["a"], "range": [5, 500], "scale": "log", "whole": True}, 0.5, 50),
        ({"paths": ["a"], "values": [1, 2, 4]}, 0.99, 4),
        ({"paths": ["a"], "values": [1, 2, 4]}, 1.0, 4),
        ({"variant": [{"name": "no", "set": {}}, {"name": "yes", "set": {"a": 1}}]}, 0.2, "no"),
    ],
)
def test_a_place_of_the_cube_is_a_value_and_the_value_is_that_place(keys, place, value):
    one = unknown(**keys)
    assert one.at(place) == value
    assert one.at(one.place(value)) == value


@pytest.mark.parametrize(
    ("keys", "described"),
    [
        ({"paths": ["a"]}, "give one of range, values and variant"),
        ({"range": [1, 2]}, "has no paths"),
        ({"paths": ["a"], "range": ["1 s", "2 ms"]}, "two units"),
        ({"paths": ["a"], "range": [2, 1]}, "does not rise"),
        ({"paths": ["a"], "range": [0, 1], "scale": "log"}, "begins at 0"),
        ({"paths": ["a"], "values": [1]}, "one value only"),
        ({"paths": ["a"], "range": [1, 2], "calibrates": True}, "cannot calibrate"),
    ],
)
def test_a_wrong_unknown_is_told_in_a_sentence(keys, described):
    with pytest.raises(SpecError, match=described):
        unknown(**keys)


@pytest.mark.parametrize(
    ("keys", "value", "path", "found"),
    [
        ({"paths": ["link.line.rate"], "values": ["1 Mbit/s", "2 Mbit/s"]}, "2 Mbit/s",
         ("link", 0, "rate"), "2 Mbit/s"),
        ({"paths": ["link.*.ring"], "values": [1, 8]}, 8, ("link", 0, "ring"), 8),
        ({"paths": ["traffic.web.tcp.mss"], "values": [536, 1460]}, 536,
         ("traffic", 0, "tcp"), {"profile": "freebsd-2.2.8", "mss": 536}),
        ({"paths": ["traffic.*.users"], "only": {"app": "web"}, "range": [0.5, 2], "factor": True},
         1.1, ("traffic", 0, "users"), 770),
        ({"paths": ["traffic.call.rate"], "range": [0.5, 2], "factor": True}, 0.5,
         ("traffic", 1, "rate"), "32 kbit/s"),
        ({"paths": ["link.*.forward.w_q"], "only": {"aqm": "red"}, "values": [0.1, 0.2]}, 0.1,
         ("link", 0, "forward"), {"aqm": "red", "limit": 50, "w_q": 0.1}),
    ],
)  # fmt: skip
def test_a_value_goes_where_the_paths_say(keys, value, path, found):
    node = unknown(**keys).applied(SCENARIO, value)
    for part in path:
        node = node[part]
    assert node == found


def test_what_a_scenario_has_not_is_passed_over_and_told():
    absent = unknown("absent", paths=["traffic.video.rate"], values=["1 bit/s", "2 bit/s"])
    other = unknown("other", paths=["link.*.forward.mpd"], only={"aqm": "wred"}, values=[1, 2])
    assert absent.applied(SCENARIO, "1 bit/s") == SCENARIO
    assert other.applied(SCENARIO, 1) == SCENARIO
    assert Unknowns([absent, other]).untouched([SCENARIO]) == ["absent", "other"]


def test_choices_without_an_order_are_coordinates_of_their_own():
    names = [{"name": n, "set": {}} for n in "abc"]
    places = np.array([0.1, 0.5, 0.9])
    apart = unknown(variant=names, ordered=False).features(places)
    assert apart.tolist() == np.eye(3).tolist()
    assert unknown(variant=names).features(places)[:, 0].tolist() == [-1, 0, 1]


# --- targets ------------------------------------------------------------------------------------


def test_bounds_cost_only_what_lies_beyond_them_and_logarithms_are_relative():
    targets = Targets(
        [
            Target("a", "m", 5.0, np.inf, discrepancy=1.0),
            Target("b", "m", 1.0, 3.0, discrepancy=1.0),
            Target("c", "n", 100.0, 100.0, discrepancy=10.0, log=True),
        ]
    )
    missed = targets.missed(targets.scaled(np.array([[7.0, 0.5, 110.0], [4.0, 4.0, 100.0]])))
    assert missed[0] == pytest.approx([0.0, -0.5, np.log(1.1)])
    assert missed[1] == pytest.approx([-1.0, 1.0, 0.0])
    assert targets.discrepancy[2] == pytest.approx(0.1)
    covariance = targets.covariance()
    assert covariance[0, 1] == pytest.approx(0.5)
    assert covariance[0, 2] == 0.0


# --- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STUDIES)
def test_every_inference_of_a_study_can_be_read_and_says_where_its_ranges_come_from(name):
    found = spec.load(experiments.load(name))
    assert all(one.reason and one.source for one in found.unknown)
    assert all(noise.reason for noise in found.noise)


@pytest.mark.parametrize(
    ("change", "described"),
    [
        ("[quick]\npoints", "[quick]\nponts"),
        ("[unknown.rate]", "[unknown.rate]\nfoo = 1"),
        ('table = "ping"', 'table = "pong"'),
        ('["link.line.reverse_rate"]', '["link.lane.reverse_rate"]'),
    ],
)
def test_a_wrong_file_is_told_in_a_sentence(tmp_path, change, described):
    folder = small(tmp_path)
    path = folder / spec.FILE
    path.write_text(path.read_text("utf-8").replace(change, described, 1), "utf-8")
    with pytest.raises(SpecError) as error:
        command.carry_out(str(folder), quick=True, out=tmp_path / "out")
    assert spec.FILE in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("file", "change", "told", "sentence"),
    [
        (spec.FILE, "published_s = 300.0", "published_s = 0", "published_s: give the measured"),
        (spec.FILE, "published_s = 300.0", "published_s = -1", "published_s: give the measured"),
        (spec.FILE, "published_s = 300.0", "published_s = nan", "published_s: give the measured"),
        (spec.FILE, "sd = 0.5", "sd = -0.5", "sd: give a number from 0 on"),
        (spec.FILE, "sd = 0.5", "sd = inf", "sd: give a number from 0 on"),
        (spec.FILE, "waves = 2", "waves = 0", "waves: give one or more"),
        (spec.FILE, "[quick]", "[quick]\ncheck = -1\n#", "check: give a number from 0 on"),
        ("reference/ping.csv", "311.3", "", '"" in the column of'),
        ("reference/ping.csv", "311.3", "fast", '"fast" in the column of'),
        ("reference/ping.csv", "311.3", "1e999", '"1e999" in the column of'),
        ("reference/ping.csv", "9.4,9.4,0.0", "n/a,n/a,n/a", "has no number in the rows"),
    ],
)
def test_what_cannot_be_met_is_refused_before_the_runs(tmp_path, file, change, told, sentence):
    folder = small(tmp_path)
    text = (folder / file).read_text("utf-8")
    assert change in text
    text = text.replace(change, told, 1)
    if "n/a" in told:
        text = "\n".join(text.splitlines()[:2]) + "\n"
    (folder / file).write_text(text, "utf-8")
    with pytest.raises(SpecError) as error:
        command.carry_out(str(folder), quick=True, out=tmp_path / "out")
    assert sentence in str(error.value)
    assert not list((tmp_path / "out").glob("runs/*"))


def test_a_number_that_there_is_not_is_no_target(real_core, tmp_path):
    folder = small(tmp_path)
    table = folder / "reference" / "ping.csv"
    table.write_text(table.read_text("utf-8").replace("311.3", "n/a"), "utf-8")
    experiment = experiments.load(str(folder))
    made = bench.Bench(experiment, spec.load(experiment), True, Laboratory(None))
    assert len(bench.Training(made).targets) == 8


def small(tmp_path: Path) -> Path:
    """The example about a ping with fewer and shorter runs."""
    folder = tmp_path / "ping"
    (folder / "reference").mkdir(parents=True)
    for name in ("experiment.toml", spec.FILE, "reference/ping.csv"):
        text = (PING / name).read_text("utf-8")
        text = text.replace('duration = "130 s"', 'duration = "20 s"').replace(
            "points = 32", "points = 8"
        )
        (folder / name).write_text(text.replace("more = 16", "more = 4"), "utf-8")
    return folder


def test_a_trace_of_ones_own_is_inferred_kept_and_run_again(tmp_path):
    folder = small(tmp_path)
    with (folder / spec.FILE).open("a", encoding="utf-8") as file:
        file.write('\n[predict]\ntables = ["ping"]\ntotals = ["ping_lost_pct"]\n')
    described = command.carry_out(str(folder), quick=True, out=tmp_path / "out", keep=True)
    assert {u["name"] for u in described["unknowns"]} == {"rate", "buffer", "delay"}
    assert len(described["rows"]) == 9
    assert Path(described["report"]).read_text("utf-8").count("<svg") == 3
    assert files.check(folder) == files.check(tmp_path / "out") == []
    with (folder / files.FOLDER / "ping.csv").open() as file:
        predicted = {(row["uploads"], row["metric"]): row for row in csv.DictReader(file)}
    known = {(row["row"], row["metric"]): row["plain"] for row in described["rows"]}
    # 10 s are measured here, 300 s were in the trace.
    for metric, longer in {"ping_p50_ms": 1, "ping_lost_pct": 30}.items():
        plain = float(predicted["4", metric]["plain"])
        assert plain == pytest.approx(longer * known["ping, 4", metric], rel=1e-4)
    assert files.read_set(folder / files.SET) == described["set"]
    again = command.carry_out(str(folder), quick=True, out=tmp_path / "out", keep=True)
    assert again["set"] == described["set"]
    with pytest.raises(StoreError, match="holds predictions already"):
        command.carry_out(str(folder), quick=True, out=tmp_path / "out", keep=True)


def test_predictions_that_were_changed_are_told(tmp_path):
    row = {"load": 90, "metric": "m", "unit": "%", "predicted": 1.0, "low": 0.5, "high": 2.0}
    one = Prediction("table-3", "Table 3", [row | {"plain": 1.5, "runs": 4}])
    files.keep(tmp_path, files.documents([one], {"x": 1}, "aqmlab infer x"))
    assert files.check(tmp_path) == []
    path = tmp_path / files.FOLDER / "table-3.csv"
    path.write_text(path.read_text("utf-8").replace("0.5", "0.4"), "utf-8")
    assert files.check(tmp_path) == ["table-3.csv"]
    assert json.loads((tmp_path / files.FOLDER / files.LIST).read_text("utf-8"))["set"] == {"x": 1}


def test_later_predictions_stand_beside_earlier_ones_which_stay(tmp_path):
    row = {"load": 90, "metric": "m", "unit": "%", "predicted": 1.0, "low": 0.5, "high": 2.0}
    for plain in (1.5, 1.6):
        one = Prediction("table-3", "Table 3", [row | {"plain": plain, "runs": 4}])
        files.keep(tmp_path, files.documents([one], {"x": plain}, "aqmlab infer x"))
    first, later = sorted(
        (tmp_path / files.FOLDER).rglob("table-3.csv"), key=lambda p: len(p.parts)
    )
    assert "1.5" in first.read_text("utf-8")
    assert "1.6" in later.read_text("utf-8")
    assert files.read_set(tmp_path / files.SET) == {"x": 1.6}
    later.unlink()
    assert files.check(tmp_path) == [f"{later.parent.name}/table-3.csv"]
    with pytest.raises(StoreError, match="holds predictions already"):
        files.place(tmp_path)


def test_a_bound_that_is_kept_is_drawn_near_and_a_run_that_failed_far():
    rows = [{"plain": -50.0}, {"plain": 0.0}, {"plain": None}, {"plain": -2.0}]
    assert pictures.in_order(rows, "plain") == [0.0, 2.0, pictures.FAR, pictures.FAR]


@pytest.mark.parametrize("name", STUDIES)
def test_predictions_that_are_shipped_are_what_was_written(name):
    folder = SHIPPED / name
    if not (folder / files.FOLDER).is_dir():
        pytest.skip(f"{name} has no predictions")
    assert files.check(folder) == []
    assert not list((folder / files.FOLDER).rglob("*table-1*"))


def test_a_set_is_a_study_beside_its_own(tmp_path):
    folder = small(tmp_path)
    (folder / files.SET).write_text('[set]\nrate = "2 Mbit/s"\nbuffer = 60\n', "utf-8")
    plain = experiments.load(str(folder))
    other = sets.named(plain, "inferred")
    assert (plain.name, other.name) == ("ping", "ping-inferred")
    loads = calibrating.placeholders(plain)
    made = plan.make(other, other.setting(True), loads, list(other.group))
    for scenario in made.scenarios.values():
        assert scenario["link"][0]["reverse_rate"] == "2 Mbit/s"
        assert scenario["link"][0]["reverse"]["limit"] == 60
        assert scenario["link"][0]["delay"] == "10 ms"
    done = pipeline.carry_out(
        str(folder),
        quick=True,
        report=True,
        out=tmp_path / "out",
        alter=lambda experiment: sets.named(experiment, "inferred"),
    )
    assert done.page is not None
    assert "aqmlab study ping --quick --assume inferred" in done.page.read_text("utf-8")


def test_a_set_is_what_its_study_draws_as_its_set_up():
    plain = experiments.load("tuning-red")
    drawn = [
        outcome._setup(experiment, plain.setup[0])["scenario"]["network"]["rtt"]
        for experiment in (plain, sets.named(plain, "inferred"))
    ]
    assert (drawn[0]["min"], drawn[1]["min"]) == ("14 ms", "7 ms")


@pytest.mark.parametrize(
    ("study", "name"),
    [
        *((study, "inferred") for study in STUDIES),
        *((study, "reconstructed") for study in (*STUDIES, "web-aqm")),
        ("tuning-red", "by-hand"),
    ],
)
def test_sets_that_are_shipped_fit_every_scenario_of_their_study(real_core, study, name):
    chosen = sets.named(experiments.load(study), name)
    assert chosen.set == name
    groups = chosen.groups(chosen.check_parts(None))
    made = plan.make(chosen, chosen.setting(True), calibrating.placeholders(chosen), groups)
    for run in {run.key: run for run in made.runs()}.values():
        checked(run, chosen.where)


@pytest.mark.parametrize(
    ("text", "described"),
    [("[set]\nspeed = 1\n", "no unknown"), ('[set]\nbuffer = "x"\n', "buffer"), (None, "no such")],
)
def test_a_wrong_set_is_told_in_a_sentence(tmp_path, text, described):
    folder = small(tmp_path)
    if text is not None:
        (folder / files.SET).write_text(text, "utf-8")
    with pytest.raises(SpecError, match=described):
        sets.named(experiments.load(str(folder)), "inferred")


def test_an_inference_begins_with_the_sets_that_it_names(tmp_path):
    folder = small(tmp_path)
    path = folder / spec.FILE
    path.write_text('begin = ["guess"]\n' + path.read_text("utf-8"), "utf-8")
    guess = folder / "guess.toml"
    guess.write_text('[set]\nrate = "2 Mbit/s"\nbuffer = 50\n', "utf-8")
    experiment = experiments.load(str(folder))
    inference = spec.load(experiment)
    with pytest.raises(SpecError, match=r"guess\.toml has no delay"):
        sets.places(experiment, inference)
    guess.write_text(guess.read_text("utf-8") + 'delay = "9 ms"\n', "utf-8")
    (point,) = sets.places(experiment, inference)
    assert inference.unknowns.values(point) == {
        "rate": "2.0 Mbit/s",
        "buffer": 50,
        "delay": "9.0 ms",
    }


@pytest.mark.slow
def test_the_ping_example_finds_the_line_that_made_it(tmp_path):
    described = command.carry_out(str(PING), quick=True, out=tmp_path / "out")
    known = {u["name"]: u for u in described["unknowns"]}
    assert described["fits"]
    for name, truth in {"rate": 2.0, "buffer": 60.0, "delay": 9.0}.items():
        low, high = (float(str(known[name][end]).split()[0]) for end in ("low", "high"))
        assert low <= truth <= high
