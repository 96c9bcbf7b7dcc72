"""Entries written once for several: what they stand for, and what is said of a wrong one."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from aqmlab.errors import SpecError
from aqmlab.experiment.paths import alternatives
from aqmlab.experiment.shared_forms import expand

FILE = Path("experiment.toml")


def read(*texts: str) -> dict:
    """The files of these texts as one document."""
    return expand({Path(f"{n}.toml"): tomllib.loads(text) for n, text in enumerate(texts)}).data


def test_what_is_written_in_full_stays_as_it_is():
    text = """
    name = "plain"
    [scenario]
    traffic = [{ name = "a" }]
    [[group]]
    name = "g"
    part = "p"
    axis = [{ name = "load", values = ["80%"] }]
    [[claim]]
    id = "C1"
    rule = "Less than {n}."
    condition = [{ text = "{n}", each = { n = [1, 2] }, value = "a", below = 1 }]
    """
    assert read(text) == tomllib.loads(text)


def test_entries_by_name_are_those_of_a_list():
    by_name = """
    [part]
    one = "The first"
    two = { title = "The second", text = "More." }
    [metric]
    ratio = { statistic = "burst_ratio", unit = "" }
    [deviation]
    "Run length" = "Shorter."
    [table.t-1]
    group = "g"
    part = "one"
    [[claim.C1.condition]]
    value = "a"
    """
    assert read(by_name) == {
        "part": [
            {"name": "one", "title": "The first"},
            {"name": "two", "title": "The second", "text": "More."},
        ],
        "metric": [{"name": "ratio", "statistic": "burst_ratio", "unit": ""}],
        "deviation": [{"what": "Run length", "text": "Shorter."}],
        "table": [{"id": "t-1", "group": "g", "part": "one"}],
        "claim": [{"id": "C1", "condition": [{"value": "a"}]}],
    }


def test_defaults_are_for_the_file_that_has_them_and_yield_to_the_entry():
    ours = """
    [defaults]
    part = "today"
    [defaults.claim]
    version = 1
    kind = "ours"
    [claim.A]
    [claim.B]
    version = 2
    part = "then"
    [metric.m]
    unit = "s"
    """
    found = read(ours, '[claim.C]\nkind = "headline"')
    assert found["claim"] == [
        {"part": "today", "version": 1, "kind": "ours", "id": "A"},
        {"part": "then", "version": 2, "kind": "ours", "id": "B"},
        {"kind": "headline", "id": "C"},
    ]
    assert found["metric"] == [{"name": "m", "unit": "s"}]


def test_an_entry_for_rows_is_as_many_entries():
    text = """
    [figure."S{slide}"]
    for = [{ slide = 29, load = "80%" }, { slide = 31, load = "90%" }]
    title = "{load} load, {other}"
    "at_{slide}" = true
    curves = [
        { for = { q = [24, 240] }, group = "drops", where = { load = "$load", target = "$q" } },
        { group = "calm" },
    ]
    """
    first, second = read(text)["figure"]
    assert (first["id"], first["title"]) == ("S29", "80 % load, {other}")
    assert (second["id"], second["title"]) == ("S31", "90 % load, {other}")
    assert first["at_29"] and second["at_31"]
    assert second["curves"] == [
        {"group": "drops", "where": {"load": "90%", "target": 24}},
        {"group": "drops", "where": {"load": "90%", "target": 240}},
        {"group": "calm"},
    ]


def test_an_entry_like_another_has_its_own_and_joins_tables():
    text = """
    [figure.a]
    kind = "cdf"
    where = { load = "90%", queue = "RED" }
    on = ["x"]
    [figure.c]
    like = "b"
    title = "C"
    [figure.b]
    like = "a"
    where = { load = "98%" }
    on = ["y"]
    """
    _, c, b = read(text)["figure"]
    where = {"load": "98%", "queue": "RED"}
    assert b == {"id": "b", "kind": "cdf", "where": where, "on": ["y"]}
    assert c == b | {"id": "c", "title": "C"}


def test_a_metric_leaves_to_the_registry_what_it_does_not_say():
    text = """
    [metric]
    busy_pct = { summary = "utilisation", title = "Line busy" }
    response_s = { summary = "response_p50_s", title = "Median", unit = "s" }
    losses = { summary = "drops", digits = 3 }
    ours = { statistic = "burst_ratio", unit = "" }
    """
    busy, response, losses, ours = read(text)["metric"]
    shown = {"unit": "%", "scale": 100.0, "digits": 1}
    assert busy == {"name": "busy_pct", "summary": "utilisation", "title": "Line busy"} | shown
    assert response["unit"] == "s" and "scale" not in response and "digits" in response
    assert losses["title"] == "Drops" and losses["unit"] == "packets" and losses["digits"] == 3
    assert "scale" not in losses
    assert ours == {"name": "ours", "statistic": "burst_ratio", "unit": ""}


def test_a_table_belongs_to_the_part_of_its_group_unless_it_says_otherwise():
    text = """
    [group.g]
    part = "p"
    [table.t]
    group = "g"
    [figure.f]
    group = "g"
    part = "q"
    [figure.law]
    kind = "curve"
    """
    found = read(text)
    assert found["table"][0]["part"] == "p"
    assert [figure.get("part") for figure in found["figure"]] == ["q", None]


def test_a_base_like_another_changes_some_fields():
    text = """
    [scenario]
    duration = "10 s"
    link = [{ rate = "1 Mbit/s", forward = "droptail", reverse = "droptail" }]
    [base.fast]
    like = "scenario"
    set = { "link.0.rate" = "9 Mbit/s", "link.0.{forward,reverse}" = "red" }
    [base.long]
    like = "fast"
    duration = "90 s"
    """
    found = read(text)
    link = [{"rate": "9 Mbit/s", "forward": "red", "reverse": "red"}]
    assert found["base"]["fast"] == {"duration": "10 s", "link": link}
    assert found["base"]["long"] == {"duration": "90 s", "link": link}
    assert found["scenario"]["link"][0]["rate"] == "1 Mbit/s"


VARIANTS = """
[axis.queue]
name = "queue"
paths = ["link.0.forward"]
variant = [
    { name = "FIFO", value = { aqm = "droptail" } },
    { for = { limit = [30, 60] }, name = "RED {limit}", value = { aqm = "red", limit = "$limit" } },
    { name = "RED 60, ECN", like = "RED 60", value = { ecn = true }, set = { "traffic.{0,1}.ecn" = true } },
]
"""  # noqa: E501


def variants(group: str) -> dict:
    """Name and what is set by the variants of the first axis of this group."""
    axis = read(VARIANTS, group)["group"][0]["axis"][0]
    assert "paths" not in axis
    return {variant["name"]: variant["set"] for variant in axis["variant"]}


def test_the_value_of_a_variant_goes_to_the_paths_of_its_axis():
    red = {"aqm": "red", "limit": 60}
    assert variants('[group.g]\naxis = [{ like = "queue" }]') == {
        "FIFO": {"link.0.forward": {"aqm": "droptail"}},
        "RED 30": {"link.0.forward": red | {"limit": 30}},
        "RED 60": {"link.0.forward": red},
        "RED 60, ECN": {
            "link.0.forward": red | {"ecn": True},
            "traffic.0.ecn": True,
            "traffic.1.ecn": True,
        },
    }


def test_an_axis_like_another_may_go_to_other_paths():
    group = """
    [[group.g.axis]]
    like = "queue"
    keep = ["FIFO"]
    paths = ["link.0.{forward,reverse}"]
    """
    droptail = {"aqm": "droptail"}
    assert variants(group) == {"FIFO": {"link.0.forward": droptail, "link.0.reverse": droptail}}


def test_variants_may_be_taken_from_another_axis():
    group = """
    [[group.g.axis]]
    name = "today"
    paths = ["link.0.forward"]
    variant = [{ from = "queue", keep = ["FIFO", "RED 30"] }, { name = "PIE", value = "pie" }]
    """
    assert list(variants(group)) == ["FIFO", "RED 30", "PIE"]


def test_braces_are_every_choice():
    assert alternatives("a.{x,y}.b.{1, 2}") == ["a.x.b.1", "a.x.b.2", "a.y.b.1", "a.y.b.2"]
    assert alternatives("link.0.forward") == ["link.0.forward"]
    group = '[group.g]\nset = { "traffic.{0,1}.users" = 3 }'
    assert read(group)["group"][0]["set"] == {"traffic.0.users": 3, "traffic.1.users": 3}


ASKED = """
[claim.C1]
rule = "Shorter."
known = "Only of the first."
[[claim.C1.condition]]
any = [{ let = { a = { group = "red", metric = "m" } }, value = "a", below = 1 }]
"""


def test_a_claim_that_revisits_another_has_its_conditions_of_other_groups():
    again = """
    [claim.T1]
    revisits = "C1"
    rule = "As C1, today: {rule}"
    groups = "today-{group}"
    """
    _, found = read(ASKED, again)["claim"]
    let = {"a": {"group": "today-red", "metric": "m"}}
    condition = {"any": [{"let": let, "value": "a", "below": 1}]}
    assert found == {
        "id": "T1",
        "revisits": "C1",
        "rule": "As C1, today: Shorter.",
        "condition": [condition],
    }
    own = again + "condition = [{ value = 'b' }]"
    assert read(ASKED, own)["claim"][1]["condition"] == [{"value": "b"}]


def test_every_entry_knows_its_file():
    documents = {
        Path("a.toml"): tomllib.loads("[claim.A]\n[claim.B]"),
        Path("b.toml"): tomllib.loads('[[claim]]\nfor = { n = [1, 2] }\nid = "C{n}"'),
    }
    files = expand(documents).files["claim"]
    assert [path.name for path in files] == ["a.toml", "a.toml", "b.toml", "b.toml"]


MISTAKES = {
    "defaults of what": ("[defaults.claims]", '0.toml: defaults: no kind of entry "claims"; did'),
    "an entry that is none": ("[metric]\ndrops = 3", "0.toml: metric drops: 3 is no entry"),
    "no list of entries": ('table = "t"', "0.toml: table is no list of entries"),
    "rows of other names": (
        "[[figure]]\nfor = [{ a = 1, b = 2 }, { a = 1 }]",
        '0.toml: figure: for: not every row has "b"',
    ),
    "rows that are none": ("[[figure]]\nfor = 3", "0.toml: figure: for: give a list of rows"),
    "values that are no list": (
        "[[figure]]\nfor = { load = '90%' }",
        "0.toml: figure: for: give a list of rows",
    ),
    "a value inside a text": (
        '[[figure]]\nfor = { host = ["a", "b"] }\ntitle = "codel, $host"',
        '0.toml: figure: "codel, [$]host": a text shows a value as {host}, not as [$]host',
    ),
    "like what": (
        '[table.one]\n[table.two]\nlike = "ones"',
        '0.toml: table two: no table "ones" to be like; did you mean "one"',
    ),
    "like itself": (
        '[table.one]\nlike = "two"\n[table.two]\nlike = "one"',
        '0.toml: table one: table "one" is in the end like itself',
    ),
    "a base like what": ('[base.a]\nlike = "b"', 'base a: no base "b" to be like'),
    "a base like itself": ('[base.a]\nlike = "a"', "base a: .* is in the end like itself"),
    "an axis like itself": (
        '[axis.x]\nlike = "x"\n[group.g]',
        'axis "x" is in the end like itself',
    ),
    "variants from themselves": (
        '[axis.x]\nvariant = [{ from = "x" }]\n[group.g]',
        'axis "x" is in the end like itself',
    ),
    "variants from what": (
        '[group.g]\naxis = [{ name = "x", variant = [{ from = "y" }] }]',
        '0.toml: group g: no axis "y" to be like',
    ),
    "a variant like what": (
        '[group.g]\naxis = [{ name = "x", variant = [{ name = "y", like = "z" }] }]',
        'no variant "z" to be like',
    ),
    "a value without paths": (
        '[group.g]\naxis = [{ name = "x", variant = [{ name = "y", value = 1 }] }]',
        "axis x: variant y: its value is not one for each of the 0 paths",
    ),
    "a value too many": (
        '[group.g]\naxis = [{ name = "x", paths = ["a", "b"], variant = [{ name = "y", value = [1, 2, 3] }] }]',  # noqa: E501
        "axis x: variant y: its value is not one for each of the 2 paths",
    ),
}


@pytest.mark.parametrize(("text", "described"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_sentence(text, described):
    with pytest.raises(SpecError, match=described):
        read(text)
