"""The set-up drawn from a scenario: all that is in it, at its side, and nothing else."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from aqmlab.experiment import inlining, plan
from aqmlab.experiment.experiment import load
from aqmlab.experiment.folders import SHIPPED
from aqmlab.experiment.grammar import Group
from aqmlab.experiment.shapes import read
from aqmlab.io import documents
from aqmlab.report import setup, wording
from conftest import base_scenario

EXAMPLES = sorted((SHIPPED / "examples").glob("*.toml"))
SVG = "{http://www.w3.org/2000/svg}"


def example(name: str) -> dict:
    document = documents.read_toml(SHIPPED / "examples" / f"{name}.toml")
    return document.get("scenario", document)


def texts(scenario: dict, varied=()) -> list[str]:
    return [e.text or "" for e in ET.fromstring(setup.drawing(scenario, varied)).iter(f"{SVG}text")]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_shipped_example_can_be_drawn(path: Path):
    document = documents.read_toml(path)
    scenario = inlining.inline_tables(document.get("scenario", document), path.parent)
    picture = setup.drawing(scenario)
    root = ET.fromstring(picture)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for element in root.iter(f"{SVG}text"):
        assert 0 < float(element.attrib["y"]) < height
        assert 0 < float(element.attrib["x"]) < width
    assert texts(scenario).count("router") == len(scenario["link"]) + 1
    assert setup.drawing(scenario) == picture


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_complete_scenario_is_drawn_as_the_file_it_came_from(path: Path, real_core):
    from aqmlab.simulator import engine

    document = documents.read_toml(path)
    scenario = inlining.inline_tables(document.get("scenario", document), path.parent)
    short, complete = setup.layout(scenario), setup.layout(engine.check(scenario))
    for lane, other in zip(short["lanes"], complete["lanes"], strict=True):
        assert {k: lane[k] for k in ("from", "to", "partly")} == {
            k: other[k] for k in ("from", "to", "partly")
        }
    for link, other in zip(short["links"], complete["links"], strict=True):
        assert (link["rates"], link["delay"]) == (other["rates"], other["delay"])
        marks = [[queue["marked"] for queue in one["queues"]] for one in (link, other)]
        assert marks[0] == marks[1]


def test_a_dumbbell():
    shown = texts(base_scenario())
    for text in ("7 servers", "7 clients", "10 Mbit/s", "drop-tail", "60 packets"):
        assert text in shown
    assert "700 users (web, mah-fit)" in shown and "back: drop-tail, 50 packets" in shown
    assert "round-trip time besides the links: 40 ms, the same for all" in shown


def test_two_links_with_cross_traffic_on_each():
    scenario = example("two-routers")
    drawn = setup.layout(scenario)
    first, middle, last = drawn["routers"]
    ends = [(lane["from"], lane["to"]) for lane in drawn["lanes"]]
    assert ends == [(setup.LEFT, setup.RIGHT)] * 2 + [(first, middle), (middle, last)]
    assert [lane["partly"] for lane in drawn["lanes"]] == [False, False, True, True]
    assert "first-cross: 20 loops of transfers (ftp), cross traffic" in texts(scenario)
    assert "end systems: windows-nt4" in texts(scenario)
    assert all(link["queues"][0]["marked"] for link in drawn["links"])


def test_a_delay_of_the_link_and_a_single_machine():
    shown = texts(example("hspa"))
    assert "1 server" in shown and "1 client" in shown and "62 ms each way" in shown
    assert "red, hspa-hred" in shown
    assert "voice: 1 constant-rate stream (hspa)" in shown


def test_the_studied_queue_is_that_of_the_first_groups_data():
    def marked(**group) -> list[bool]:
        scenario = base_scenario(traffic=[{"app": "web", "users": 1} | group])
        return [queue["marked"] for queue in setup.layout(scenario)["links"][0]["queues"]]

    assert marked() == [True, False]
    assert marked(side="servers") == [False, True]
    assert marked(app="bulk") == [True, False]
    assert marked(app="bulk", side="clients") == [False, True]


def test_data_in_both_directions():
    two_way = [{"app": "web", "users": 5}, {"app": "web", "users": 5, "side": "servers"}]
    there, back = setup.layout(base_scenario(traffic=two_way))["lanes"]
    assert (there["from"], there["to"]) == (back["to"], back["from"]) == (setup.LEFT, setup.RIGHT)


def test_what_a_study_varies_is_not_named():
    experiment = load("tuning-red")
    varied = plan.varied(experiment.of("group"), ["traffic.0.users"])
    assert {"link.0.forward", "traffic.0.users"} <= set(varied)
    shown = texts(dict(experiment.scenario), varied)
    assert "studied queue" in shown and "120 packets" not in shown
    assert "a varied number of users (web, mah-fit)" in shown
    assert "3,000" not in " ".join(shown)
    assert "back: drop-tail, 50 packets" in shown


def test_variants_vary_what_any_of_them_sets():
    axis = {"name": "queue", "variant": [{"name": "a", "set": {"link.1.forward.limit": 3}}]}
    load_ = {"name": "load", "values": ["90%"]}
    written = [{"set": {"traffic.0.tcp": "plain"}}, {"axis": [axis, load_]}]
    groups = [read(Group, {"name": "g", "part": "p"} | group) for group in written]
    assert plan.varied(groups, ["traffic.1.users"]) == [
        "link.1.forward",
        "traffic.0.tcp",
        "traffic.1.users",
    ]


def test_a_sentence_for_those_who_cannot_see_it():
    assert setup.described(base_scenario()) == (
        "7 servers and 7 clients, joined by a link of 10 Mbit/s"
    )
    assert setup.described(example("burst")) == (
        "1 server and 1 client, joined by 2 links in a row (100 Mbit/s, 200 kbit/s)"
    )


def test_more_machines_than_can_be_drawn_are_counted():
    scenario = base_scenario(network={"clients": 1000, "servers": 2})
    servers, clients = setup.layout(scenario)["sides"]
    assert (len(servers["machines"]), len(clients["machines"])) == (2, setup.MOST_MACHINES)
    assert clients["label"] == "1,000 clients"


class TestWords:
    @pytest.mark.parametrize(
        ("value", "words"),
        [
            ("10000000 bit/s", "10 Mbit/s"),
            ("0.2 Mbit/s", "200 kbit/s"),
            ("1 Gbps", "1 Gbit/s"),
            ("9.1 Mbit/s", "9.1 Mbit/s"),
            ("fast", "fast"),
        ],
    )
    def test_rates(self, value, words):
        assert wording.rate(value) == words

    @pytest.mark.parametrize(
        ("value", "words"),
        [("0.19 s", "190 ms"), ("0 s", "0 ms"), ("600 s", "10 min"), ("90 s", "90 s"), (3, "3")],
    )
    def test_times(self, value, words):
        assert wording.time(value) == words

    @pytest.mark.parametrize(
        ("value", "words"),
        [
            (None, []),
            ("codel", ["codel"]),
            ({"aqm": "droptail", "limit": 1200}, ["drop-tail", "1,200 packets"]),
            (
                {"aqm": "red", "profile": "altq", "min_th": 30, "max_th": 90, "limit": 480},
                ["red, altq", "(30, 90), 480 packets"],
            ),
            ({"aqm": "droptail", "limit_bytes": 20100}, ["drop-tail", "20.1 kB"]),
        ],
    )
    def test_queues(self, value, words):
        assert wording.queue(value) == words

    @pytest.mark.parametrize(
        ("group", "words"),
        [
            ({"app": "unc", "load": "98%"}, "users for 98 % load (unc)"),
            ({"app": "unc", "load": 0.98, "name": "unc0"}, "users for 98 % load (unc)"),
            ({"app": "burst", "flows": 6, "bytes": 60000}, "6 flows in a burst (60 kB each)"),
            ({"app": "bulk", "users": 1, "name": "ftp"}, "ftp: 1 long flow"),
            ({"app": "packmime", "connections_per_s": 40}, "40 connections/s (packmime)"),
        ],
    )
    def test_groups(self, group, words):
        assert wording.group(group) == words

    def test_end_systems(self):
        one = {"app": "web", "name": "a", "tcp": {"profile": "plain"}}
        other = {"app": "bulk", "name": "b", "tcp": "windows-nt4"}
        voice = {"app": "cbr", "name": "c", "tcp": {"profile": "linux"}}
        assert wording.end_systems([one, voice]) == "plain"
        assert wording.end_systems([one, other]) == "plain (a), windows-nt4 (b)"
        assert wording.end_systems([voice]) == ""
