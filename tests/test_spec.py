import copy
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqmlab.errors import SpecError
from aqmlab.experiment import inlining, spec
from aqmlab.experiment.experiment import load
from aqmlab.io import documents, files
from conftest import SCENARIO_TOML, base_scenario, planned

PLAIN = st.recursive(
    st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1), inner, max_size=3)
    ),
    max_leaves=8,
)


def one_line(error) -> str:
    text = str(error.value)
    assert "\n" not in text
    return text


def test_a_bare_scenario_takes_its_name_from_the_file(toml_file):
    experiment = load(toml_file)
    assert experiment.name == "small"
    assert experiment.setting(False).seeds == (1,)
    assert experiment.group[0].axes == ()
    assert experiment.scenario["link"][0]["rate"] == "10 Mbit/s"


def test_an_experiment(tmp_path):
    path = tmp_path / "x.toml"
    body = SCENARIO_TOML.replace("[[", "[[scenario.")
    path.write_text(
        'question = "?"\n[calibration]\nduration = "1 min"\nseeds = 2\n'
        + '[sweep]\n"link.0.forward.limit" = [60, 120]\n'
        + '"link.0.reverse" = [{ label = "short", aqm = "droptail", limit = 5 }]\nseeds = 3\n'
        + "[scenario]"
        + body
    )
    experiment = load(path)
    limit, reverse = experiment.group[0].axes
    path = "link.0.forward.limit"
    assert limit.name == path
    assert list(limit.settings()) == [
        (60, "limit=60", {path: 60}, {}),
        (120, "limit=120", {path: 120}, {}),
    ]
    short = {"aqm": "droptail", "limit": 5}
    assert list(reverse.settings()) == [("short", "short", {"link.0.reverse": short}, {})]
    assert experiment.setting(False).seeds == (1, 2, 3)
    assert experiment.loads == {"duration": "1 min", "seeds": (1, 2)}


def test_the_command_line_decides_about_seeds(scenario):
    def seeds(source, **given):
        return load(source, **given).setting(False).seeds

    scenario["seed"] = 5
    assert seeds(scenario) == (5,)
    assert seeds(scenario, seeds=3) == (5, 6, 7)
    assert seeds(scenario, seed=9) == (9,)
    swept = {"scenario": scenario, "sweep": {"seeds": [4, 2]}}
    assert seeds(swept) == (4, 2)
    assert seeds(swept, seed=9) == (9,)
    assert seeds(swept, seeds=2) == (5, 6)


@pytest.mark.parametrize("seeds", [0, -1, True, "3", [], [1, 1], [1.5], 2.5, [-1], 2**60])
def test_wrong_seeds(scenario, seeds):
    with pytest.raises(SpecError, match="seeds = 10"):
        load({"scenario": scenario, "sweep": {"seeds": seeds}})


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True, 2**60])
def test_wrong_seed(scenario, seed):
    scenario["seed"] = seed
    with pytest.raises(SpecError, match="write for example 1"):
        load(scenario)


def test_a_missing_file_names_the_nearest(toml_file):
    with pytest.raises(SpecError) as error:
        load(toml_file.with_name("smal.toml"))
    assert one_line(error).endswith('smal.toml: no such file; did you mean "small.toml"?')
    with pytest.raises(SpecError, match="no such file; give the path"):
        load(toml_file.parent / "nowhere" / "x.toml")


def test_a_missing_file_names_no_other_that_merely_ends_alike(toml_file):
    with pytest.raises(SpecError, match="no such file; give the path"):
        load(toml_file.with_name("tall.toml"))


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "2020-01-01", "12:00:00"])
def test_values_that_no_scenario_has(tmp_path, value):
    path = tmp_path / "x.toml"
    path.write_text(f"[[link]]\nforward = {{ limit = {value} }}\n")
    with pytest.raises(SpecError, match=r"x\.toml: link\.0\.forward\.limit: .*: write "):
        load(path)


@pytest.mark.parametrize(
    ("axis", "path"),
    [
        ("link.0.forward.limit", "link.0.forward.limit"),
        ("link.0.forward", "link.0.forward.limit"),
        ("traffic.0.load", "traffic.0.users"),
    ],
)
def test_a_swept_field_cannot_be_set(scenario, axis, path):
    values = {"link.0.forward": [{"aqm": "red"}], "traffic.0.load": ["50%"]}.get(axis, [1, 2])
    with pytest.raises(SpecError, match=f'axis "{axis}"'):
        load({"scenario": scenario, "sweep": {axis: values}}, overrides={path: 3})


def test_equal_labels_get_a_number(scenario):
    red = {"label": "RED", "aqm": "red"}
    swept = {"scenario": scenario, "sweep": {"link.0.forward": [red, {**red, "limit": 9}]}}
    assert [cell.label for cell in planned(swept).cells] == ["RED (1)", "RED (2)"]


def test_a_bare_scenario_may_say_how_it_is_calibrated(scenario):
    experiment = load({**scenario, "calibration": {"duration": "2 h"}})
    assert experiment.loads == {"duration": "2 h"}
    assert "calibration" not in experiment.scenario


def test_files_that_are_no_toml(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text('duration = "1 s"\nwarmup = = 3\n')
    with pytest.raises(SpecError) as error:
        load(path)
    assert "not valid TOML" in one_line(error)
    assert "line 2" in one_line(error)
    path.write_text("part = []\ninclude = 3\n")
    with pytest.raises(SpecError, match="include: must be a list of files") as error:
        load(path)
    assert "x.toml" in one_line(error)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SpecError, match="not UTF-8"):
        load(path)
    with pytest.raises(SpecError, match="holds no experiment"):
        load(tmp_path)


def test_a_model_that_aqmlab_learn_did_not_write_is_named(scenario):
    scenario["traffic"] = [{"app": "replay", "model": "day.toml"}]
    with pytest.raises(SpecError, match=r'"day.toml" is no learned model: `aqmlab learn` writes'):
        load(scenario)


def test_the_mark_of_windows_editors_is_no_content(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text('\ufeffduration = "1 s"\n', "utf-8")
    assert documents.read_toml(path) == {"duration": "1 s"}


def test_loads_are_checked(scenario, tmp_path):
    web = scenario["traffic"][0]
    users = web.pop("users")
    scenario["traffic"] = [{**web, "load": "50%"}, {**web, "load": "20%", "users": users}]
    with pytest.raises(SpecError, match=r"traffic\.1 has both a load and users: keep one"):
        load(scenario)
    scenario["traffic"] = [{**web, "load": "50%", "users": users}]
    with pytest.raises(SpecError, match=r"traffic\.0 has both a load and users: keep one"):
        load(scenario)
    scenario["traffic"] = [{**web, "load": 98}]
    with pytest.raises(SpecError, match=r"traffic\.0\.load: .*98 %"):
        load(scenario)
    scenario["traffic"] = {"app": "web"}
    with pytest.raises(SpecError, match=r"\[\[traffic\]\]"):
        load(scenario)
    swept = {"scenario": base_scenario(), "sweep": {"traffic.0.load": ["98%", "9800%"]}}
    with pytest.raises(SpecError, match="9800%"):
        load(swept)


def test_unknown_entries_of_an_experiment(scenario):
    with pytest.raises(SpecError, match='"sweeep"; did you mean "sweep"'):
        load({"scenario": scenario, "sweeep": {}})
    with pytest.raises(SpecError, match='calibration: unknown entry "warm"'):
        load({"scenario": scenario, "calibration": {"warm": "1 s"}})
    with pytest.raises(SpecError, match="scenario is missing"):
        load({"sweep": {}})
    with pytest.raises(SpecError, match="a list of at least one value"):
        load({"scenario": scenario, "sweep": {"duration": "1 s"}})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=3", 3),
        ("a=0.5", 0.5),
        ("a=true", True),
        ('a="3"', "3"),
        ("a=10 Mbit/s", "10 Mbit/s"),
        ("a=1/512", "1/512"),
        ("a=98%", "98%"),
        ("a=", ""),
        ("a=x=y", "x=y"),
        ("a={ aqm = 'red', limit = 3 }", {"aqm": "red", "limit": 3}),
        ("a=[1, 2]", [1, 2]),
        ("a=2020-01-01", "2020-01-01"),
        ("a=inf", "inf"),
        ("a=1\nb=2", "1\nb=2"),
    ],
)
def test_override_values(text, value):
    assert spec.parse_override(text) == ("a", value)


@pytest.mark.parametrize("text", ["a", "=3", "", " = 1"])
def test_an_override_without_path(text):
    with pytest.raises(SpecError, match="--set link"):
        spec.parse_override(text)


@given(st.text())
def test_any_override_value_is_json(text):
    _, value = spec.parse_override(f"a={text}")
    json.dumps(value, allow_nan=False)


@pytest.mark.parametrize(
    ("path", "value", "becomes"),
    [
        ("link.0.forward.max_p", 0.2, {"aqm": "red", "max_p": 0.2}),
        ("link.0.forward.aqm", "codel", {"aqm": "codel"}),
        ("traffic.0.tcp.window", 4, {"profile": "linux", "window": 4}),
        ("traffic.0.tcp.congestion.beta", 0.8, {"profile": "linux", "congestion": {"beta": 0.8}}),
    ],
)
def test_a_field_of_what_is_written_as_a_name_makes_it_a_table(path, value, becomes):
    scenario = {"link": [{"forward": "red"}], "traffic": [{"tcp": "linux"}]}
    part, _, key = path.partition(".0.")
    assert spec.set_path(scenario, path, value)[part][0][key.split(".")[0]] == becomes
    assert scenario == {"link": [{"forward": "red"}], "traffic": [{"tcp": "linux"}]}


@given(PLAIN)
def test_set_path_sets_and_changes_nothing_else(value):
    before = base_scenario()
    copied = copy.deepcopy(before)
    after = spec.set_path(before, "link.0.forward.limit", value)
    assert before == copied
    assert after["link"][0]["forward"].pop("limit") == value
    del copied["link"][0]["forward"]["limit"]
    assert after == copied


@given(PLAIN)
def test_what_was_set_is_not_shared(value):
    after = spec.set_path({"a": {}}, "a.b", value)
    if isinstance(value, dict):
        after["a"]["b"]["new"] = 1
        assert "new" not in value


def test_paths_that_lead_nowhere(scenario):
    with pytest.raises(SpecError, match=r'link has 1 entry, "1" is none of them: count from 0'):
        spec.set_path(scenario, "link.1.rate", 1)
    with pytest.raises(SpecError, match="none of them"):
        spec.set_path(scenario, "link.bottleneck.rate", 1)
    with pytest.raises(SpecError, match="single value"):
        spec.set_path(scenario, "duration.x", 1)
    with pytest.raises(SpecError, match="is not a path"):
        spec.set_path(scenario, "link..rate", 1)
    # An unknown name is created: the simulator answers with the nearest known one.
    assert spec.set_path(scenario, "durration.x", 1)["durration"] == {"x": 1}


def test_users_replace_a_load_and_the_reverse(scenario):
    loaded = load(scenario, overrides=["traffic.0.load=98%"]).scenario["traffic"][0]
    assert loaded["load"] == "98%"
    assert "users" not in loaded
    again = spec.set_path({"traffic": [loaded]}, "traffic.0.users", 7)["traffic"][0]
    assert again["users"] == 7
    assert "load" not in again


def test_overrides_reach_the_scenario_of_an_experiment(scenario):
    document = {"scenario": scenario, "sweep": {"link.0.forward.limit": [1, 2]}}
    experiment = load(document, overrides={"link.0.rate": "5 Mbit/s"})
    assert experiment.scenario["link"][0]["rate"] == "5 Mbit/s"
    assert document["scenario"]["link"][0]["rate"] == "10 Mbit/s"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seeds": 1099511627776}, "1099511627776 replications are too many"),
        ({f"a.{i}": list(range(10)) for i in range(9)}, "1000000000 variants and 1 seeds"),
        ({"a": list(range(101)), "seeds": 1000}, "101000 runs"),
    ],
)
def test_more_runs_than_fit_are_refused_before_they_are_listed(changes, said):
    with pytest.raises(SpecError, match=said):
        load({"scenario": {"duration": "1 s"}, "sweep": changes})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = " + "9" * 5000, "too many digits"),
        ("x = 0x" + "f" * 5000, "more than 64 bits"),
        ("x = " + "[" * 5000 + "]" * 5000, "nested more than"),
        ("x = " + "{a=" * 200 + "1" + "}" * 200, "nested more than"),
        (".".join("a" * 2000) + " = 1", "nested more than"),
        ("[" + ".".join("a" * 2000) + "]", "nested more than"),
        ('"' + "a" * 10**6 + '" = 1\n[scenario]', "unknown entry"),
        (
            'duration = "9 s"\n[sweep]\nseeds = 2',
            r"write \[scenario\] before it, and \[\[scenario.dur",
        ),
    ],
)
def test_toml_that_no_scenario_needs_is_one_sentence(tmp_path, text, sentence):
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(SpecError, match=sentence) as error:
        load(path)
    assert len(str(error.value)) <= 1200
    for value in (text.partition(" = ")[2],):
        if value:
            assert isinstance(spec.parse_override(f"seed={value}")[1], str | int | list | dict)
    with pytest.raises(SpecError, match="is not a path"):
        spec.set_path({}, ".".join("a" * 2000), 1)


def test_a_file_without_end_is_one_sentence():
    with pytest.raises(SpecError, match="longer than 64 MB"):
        load("/dev/zero")


DEVICES = {
    "a table": {"think": {"dist": "table", "file": "/dev/zero"}},
    "a model": {"model": "pipe.jsonl"},
    "requests": {"requests": "/dev/zero"},
}


@pytest.mark.parametrize("group", DEVICES.values(), ids=DEVICES)
def test_a_file_without_end_is_not_read(group, tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(SpecError, match=r"cannot be read \(no regular file\)"):
        inlining.inline_tables({"traffic": [group]}, tmp_path)
    with pytest.raises(SpecError, match=r"cannot be read \(no regular file\)"):
        inlining.inline_tables({"link": [{"rate_trace": {"file": "/dev/zero"}}]}, tmp_path)


def test_a_file_too_long_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LARGEST_GIVEN", 1 << 20)
    (tmp_path / "sizes.csv").write_bytes(b"0" * (1 << 20))
    table = {"dist": "table", "file": "sizes.csv"}
    assert len(inlining.inline_tables(table, tmp_path)["text"]) == 1 << 20
    with (tmp_path / "sizes.csv").open("ab") as file:
        file.write(b"0")
    with pytest.raises(
        SpecError, match=r"sizes\.csv: cannot be read \(longer than 1,048,576 bytes\)"
    ):
        inlining.inline_tables(table, tmp_path)
