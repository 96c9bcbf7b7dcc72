"""Mistakes in an experiment's files: found before anything runs, told in one sentence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from small_study import SMALL, Double

from aqmlab import figures
from aqmlab.errors import SpecError
from aqmlab.experiment.experiment import load
from aqmlab.experiment.folders import shipped
from aqmlab.figures import kinds
from aqmlab.pipeline import checks
from aqmlab.pipeline.study import Study
from aqmlab.simulator import engine

#: What is changed in which file, into what, and what must be said.
MISTAKES = {
    "an unknown figure to begin with": (
        "experiment",
        "question = ",
        'lead = "9z"\nquestion = ',
        'lead: no figure "9z" (known: 3, 4,',
    ),
    "an unknown claim as an answer": (
        "experiment",
        "question = ",
        'answer = ["C00"]\nquestion = ',
        'answer: no claim "C00"',
    ),
    "advice that needs an unknown claim": (
        "experiment",
        "question = ",
        'advice = { text = "Wait.", needs = ["C00"] }\nquestion = ',
        'advice.needs: no claim "C00"',
    ),
    "a misspelt list": ("experiment", "[[figure]]", "[[figures]]", '"figures"; did you mean "fig'),
    "a misspelt setting": (
        "experiment",
        'warmup = "20 min"',
        'warm_up = "20 min"',
        "settings.full",
    ),
    "a misspelt key": (
        "experiment",
        'legend = "queue limit"\ntitle = "FIFO at 80 %',
        'legnd = "queue limit"\ntitle = "FIFO at 80 %',
        'figure 9a: unknown key "legnd"; did you mean "legend"',
    ),
    "a key of another kind": (
        "experiment",
        'title = "FIFO at 80 %',
        'sorted = true\ntitle = "FIFO at 80 %',
        'figure 9a: unknown key "sorted"',
    ),
    "a missing key": (
        "experiment",
        'title = "FIFO at 80 % load"\n',
        "",
        'figure 9a: has no "title": add it',
    ),
    "an unknown kind": (
        "experiment",
        'id = "9a"\nkind = "cdf"',
        'id = "9a"\nkind = "cfd"',
        'figure 9a: no kind of figures "cfd"; did you mean "cdf"',
    ),
    "an unknown part": (
        "experiment",
        'part = "fifo"\ngroup = "fifo"\nwhere = { load = "80%" }',
        'part = "fife"\ngroup = "fifo"\nwhere = { load = "80%" }',
        'figure 9a: no part "fife"; did you mean "fifo"',
    ),
    "an unknown group": (
        "experiment",
        'group = "fifo"\nwhere = { load = "80%" }',
        'group = "fifi"\nwhere = { load = "80%" }',
        'figure 9a: no group "fifi"',
    ),
    "an unknown axis": (
        "experiment",
        'where = { load = "80%" }',
        'where = { lode = "80%" }',
        'figure 9a: no axis of group "fifo" "lode"; did you mean "load"',
    ),
    "an unknown value": (
        "experiment",
        'where = { load = "80%" }',
        'where = { load = "81%" }',
        'figure 9a: no load in group "fifo" "81%"',
    ),
    "an unknown curve": (
        "experiment",
        'curve = "thresholds"',
        'curve = "threshold"',
        'figure 12a: no axis of group "red-thresholds" "threshold"',
    ),
    "an unknown table": ("experiment", 'table = "table-1"', 'table = "table-2"', "figure table-1"),
    "an unknown metric in a table": (
        "experiment",
        'headline = ["pct_le_1s", "median_response_ms"]',
        'headline = ["pct_le_1s", "median"]',
        'table table-1: no metric "median"',
    ),
    "a row that is no axis": (
        "experiment",
        'keys = { load = "load_pct", limit = "queue_limit_pkts" }',
        'keys = { load = "load_pct", length = "queue_limit_pkts" }',
        'table table-1: no axis of group "fifo" "length"',
    ),
    "an unpaired axis": (
        "experiment",
        'on = ["load"]',
        'on = ["thresholds"]',
        "difference red-minus-fifo: no axis",
    ),
    "an axis without values": (
        "experiment",
        "values = [30, 60, 120, 190, 240]",
        "values = []",
        "group fifo: axis limit: has no values: give values or variants",
    ),
    "an axis without paths": (
        "experiment",
        'paths = ["link.0.forward.limit"]\n',
        "",
        "group fifo: axis limit: has no paths",
    ),
    "too many values for the paths": (
        "experiment",
        "[90, 270]]  ",
        "[90, 270, 1]]  ",
        "axis thresholds",
    ),
    "a load without calibration": (
        "experiment",
        "[[calibration]]",
        "[[deviation]]\nwhat = '-'\ntext = '-'\n[calibrated]",
        '"calibrated"; did you mean "calibration"',
    ),
    "two of a name": (
        "experiment",
        'id = "9b"',
        'id = "9a"',
        "figure 9a: there are 2 of this name: rename one",
    ),
    "a claim about an unknown group": (
        "claims",
        'group = "fifo", where = { load = "98%", limit = "$short" }',
        'group = "fif", where = { load = "98%", limit = "$short" }',
        'claim C08: n: no group "fif"; did you mean "fifo"',
    ),
    "a claim about an unknown value": (
        "claims",
        "short = [30, 60]",
        "short = [30, 61]",
        'claim C08: n: no limit in group "fifo" "61"',
    ),
    "a claim with an unknown metric": (
        "claims",
        'metric = "pct_gt_3s"',
        'metric = "pct_gt_4s"',
        'claim C06: a: no metric "pct_gt_4s"; did you mean "pct_gt_3s"',
    ),
    "a claim with an unknown statistic": (
        "claims",
        'pair = "crossings"',
        'pair = "crosings"',
        'no statistic "crosings"; did you mean "crossings"',
    ),
    "wrong arguments": ("claims", "to_ms = 1500", "upto_ms = 1500", "claim C08: n: args of cross"),
    "a claim of several cells": (
        "claims",
        'where = { load = "98%" }, metric = "median_response_ms"',
        'metric = "median_response_ms"',
        "claim C06: b: fifo-load {} is 6 cells: say which",
    ),
    "an unknown letter": ("claims", 'value = "a / b"', 'value = "a / c"', "c is not known here"),
    "a rule without bound": ("claims", "at_most = 3.0", "", 'claim C05: "a" has no bound'),
    "a misspelt bound": (
        "claims",
        "at_most = 3.0",
        "atmost = 3.0",
        'claim C05: unknown key "atmos',
    ),
    "a claim that revisits none": (
        "claims",
        'revisits = "C05"',
        'revisits = "C50"',
        'claim T-C05: no claim to revisit "C50"',
    ),
    "a claim of the paper that revisits another": (
        "claims",
        'kind = "ours"\nrevisits',
        'kind = "headline"\nrevisits',
        'claim T-C05: revisits a claim, so it is of kind "ours"',
    ),
    "a claim that revisits itself": (
        "claims",
        'revisits = "C05"',
        'revisits = "T-C05"',
        'revisits "T-C05", which is not of the paper',
    ),
    "an unknown name in a text": ("claims", "limits {short}", "limits {sort}", "`each` or `some`"),
}


@pytest.fixture
def folder(tmp_path) -> Path:
    """A copy of the small study."""
    return shutil.copytree(SMALL, tmp_path / "small")


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence_before_anything_runs(folder, mistake, monkeypatch):
    core = Double()
    monkeypatch.setattr(engine, "_core", lambda: core)
    file, before, after, said = MISTAKES[mistake]
    path = folder / f"{file}.toml"
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after, 1))
    with pytest.raises(SpecError) as found:
        Study(load(folder)).run(quick=True, out=folder / "out")
    assert str(found.value).startswith(f"{path}: ") and said in str(found.value)
    assert core.runs == [] and not (folder / "out").exists()


def test_one_figure_is_not_drawn_of_a_faulty_experiment(folder):
    path = folder / "claims.toml"
    path.write_text(path.read_text().replace("at_most = 3.0", "atmost = 3.0", 1))
    with pytest.raises(SpecError, match="atmost"):
        Study(load(folder)).draw("8", quick=True, out=folder / "out")


def test_the_right_experiment_has_no_mistakes(folder):
    checks.check(load(folder))


@pytest.mark.parametrize("name", shipped())
def test_the_studies_that_come_along_have_no_mistakes(name):
    checks.check(load(name))


def test_every_file_of_a_kind_is_listed_and_every_kind_has_one():
    files = {file.stem for file in Path(kinds.__path__[0]).glob("*.py")} - {"__init__"}
    assert {name.replace("-", "_") for name in figures.KINDS} == files
    assert list(figures.KINDS) == sorted(figures.KINDS)


@pytest.mark.parametrize("name", figures.of_studies())
def test_a_kind_takes_what_its_signatures_name(name):
    kind = figures.kind(name)
    needed = {key.name: "" for key in kind.keys.values() if key.needed}
    entry = dict.fromkeys(("id", "part", "title", "caption"), "") | {"kind": name}
    for missing in (needed, entry):
        for key in missing:
            rest = {k: v for k, v in (entry | needed).items() if k != key}
            assert kind.problem(rest) == f'has no "{key}": add it'
    assert "dataset" not in kind.keys and "title" not in kind.keys
    assert kind.about.endswith(("?", ".")) or ":" in kind.about
    assert "unknown key" in str(kind.problem(entry | needed | {"nonsense": 1}))


@pytest.mark.parametrize(
    ("name", "entry", "said"),
    [
        ("cdf", {"upto_ms": "2 s"}, "upto_ms is a number, not '2 s'"),
        ("cdf", {"traffic": [0, "web"]}, "traffic is a whole number, not 'web'"),
        ("cdf", {"traffic": 1}, "traffic is a list, not 1"),
        ("lines", {"x": "a", "metric": "m", "log": 1}, "log is true or false, not 1"),
        ("sizes", {"weight": "kg"}, 'weight is "responses" or "bytes", not "kg"'),
        ("cdf", {"curves": [{"lable": "a"}]}, 'curves: unknown key "lable"; did you mean "label"'),
        ("cdf", {"curves": ["red"]}, "curves: red is no table"),
        ("curve", {"laws": [{"label": "RED", "min_th": 5}]}, 'laws: has no "max_p": add it'),
        (
            "effects",
            {"table": "t", "rows": [], "on": [], "better": {"drops": "fewer"}},
            'better is "less" or "more", not "fewer"',
        ),
        ("trace", {"where": "all"}, "where is a table, not 'all'"),
        ("loss-distances", {"upto": 2.5}, "upto is a whole number, not 2.5"),
    ],
)
def test_a_value_of_another_type_is_one_sentence(name, entry, said):
    usual = dict.fromkeys(("id", "part", "title", "caption"), "") | {"kind": name}
    assert said in str(figures.kind(name).problem(usual | entry))


def test_a_file_may_add_a_base_and_a_shared_axis_but_not_one_that_is_there(folder):
    main, more = folder / "experiment.toml", folder / "more.toml"
    text = main.read_text().replace('["claims.toml"]', '["claims.toml", "more.toml"]')
    main.write_text(text + '\n[axis.limit]\nname = "limit"\n\n[base.first]\nname = "first"\n')
    more.write_text('[axis.load]\nname = "load"\n\n[base.second]\nname = "second"\n')
    study = load(folder)
    assert list(study.bases) == ["first", "second"] and list(study.axes) == ["limit", "load"]
    for again, named in (
        ('[base.first]\nname = "other"\n', '"base.first"'),
        ('title = "Another"\n', '"title"'),
        ("[settings.full]\nseeds = 1\n", '"settings"'),
    ):
        more.write_text(again)
        with pytest.raises(SpecError, match=f"more.toml: {named} is already in another file"):
            load(folder)


def test_an_unknown_value_to_keep_of_a_shared_axis(folder):
    path = folder / "experiment.toml"
    shared = '[axis.lengths]\nname = "limit"\npaths = ["link.0.forward.limit"]\nvalues = [30, 60]\n'
    own = '[[group.axis]]\nname = "limit"\npaths = ["link.0.forward.limit"]\n'
    own += "values = [30, 60, 120, 190, 240]"
    assert own in path.read_text()
    like = '[[group.axis]]\nlike = "lengths"\nkeep = [30, 61]'
    path.write_text(path.read_text().replace(own, like, 1) + shared)
    with pytest.raises(SpecError, match='axis "lengths" has no "61" to keep'):
        load(folder)
