import io

import pytest

from aqmlab.cli import reference
from aqmlab.errors import AqmlabError
from aqmlab.io import plain


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ({"type": "switch"}, "true or false"),
        ({"type": "choice", "choices": ["a", "b"]}, "a, b"),
        (
            {"type": "real", "unit": "time", "min": 0, "max": None, "min_excluded": True},
            "time above 0 s",
        ),
        (
            {"type": "real", "unit": "rate", "min": 1, "max": 1e9},
            "rate from 1 bit/s to 1000000000 bit/s",
        ),
        (
            {"type": "whole", "unit": "packets", "min": 1, "max": 9},
            "whole number of packets from 1 to 9",
        ),
        ({"type": "real", "unit": "", "min": None, "max": None}, "number"),
        (
            {"type": "whole", "unit": "count", "min": 0, "max": 2**53},
            "whole number from 0 to 2^53",
        ),
    ],
)
def test_what_is_allowed(field, words):
    assert reference.allowed(field) == words


def test_a_table_in_a_table_is_words():
    settings = {"full": {"duration": "90 min", "seeds": 10}, "quick": {"seeds": 3}}
    assert reference._words(settings) == "full: duration 90 min, seeds 10; quick: seeds 3"


def test_a_kind_or_all(fake):
    assert reference.select("aqm").keys() == {"aqm"}
    assert reference.select(None).keys() == set(reference.KINDS)
    assert [entry["name"] for entry in reference.select("scenario")["scenario"]] == [
        "scenario",
        "link",
    ]


def test_names_are_found_by_kind(fake):
    assert reference.find("traffic/plain")["summary"] == "Also called plain."
    assert reference.find("link")["kind"] == "scenario"
    with pytest.raises(AqmlabError, match="nothing is called"):
        reference.find("aqm/plain")


def test_everything_real_can_be_described(real_core):
    from rich.console import Console

    for kind, entries in reference.select(None).items():
        assert entries, kind
        for entry in entries:
            assert entry["summary"], entry["name"]
            console = Console(record=True, width=160, file=io.StringIO())
            reference.show_entry(reference.find(f"{kind}/{entry['name']}"), console)
            assert entry["name"] in console.export_text()


def listed(kind, capsys, width=100):
    reference.show_list(reference.select(kind), plain.Paper(width))
    return capsys.readouterr().out


def printed(show, content, width=100):
    from rich.console import Console

    console = Console(record=True, width=width, file=io.StringIO())
    show(content, console)
    return console.export_text()


def test_disciplines_are_listed_in_a_hundred_columns(real_core, capsys):
    text = listed("aqm", capsys)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100
    rows = {line.split()[0]: line.split() for line in lines if line and line[0].isalpha()}
    assert lines[1].split() == ["name", "what", "it", "is", "year", "ECN", "counts", "in"]
    assert rows["red"][-5:] == ["1993", "off", "packets", "or", "bytes"]
    assert rows["droptail"][-5:-3] == ["1969", "never"]
    assert "on" in rows["fq_codel"] and "always" in rows["dctcp_step"]
    assert rows["codel"][-1] == "time"
    for entry in reference.select("aqm")["aqm"]:
        assert rows[entry["name"]], "a name is never broken"


def test_other_kinds_show_what_they_have(real_core, capsys):
    text = listed("tcp", capsys)
    assert "year" in text and "ECN" not in text
    assert "year" not in listed("studies", capsys)


def shown(entry):
    """The second column of the table of fields, by field."""
    text = printed(reference.show_entry, entry, width=400)
    rows = [line.split("│") for line in text.splitlines() if line.startswith("│")]
    return {cells[1].strip(): cells[2].strip() for cells in rows}, text


def test_effective_values_are_shown_where_defaults_depend(real_core):
    values, text = shown(reference.described("red", [], "10 Mbit/s"))
    assert values["min_th"] == "5 *" and values["profile"] == "fj93"
    assert values["mark_p"] == "0.1" and values["limit_bytes"] == "-"
    assert "* follows from the other values and the line's 10 Mbit/s (--rate)" in text
    assert "counts in: packets or bytes" in text and "ECN: marks" in text

    values, text = shown(reference.described("red", ["profile=ns2"], "100 Mbit/s"))
    assert values["profile"] == "ns2" and values["min_th"] == "62.5 *"
    assert values["gentle"] == "true *" and values["mark_p"] == "0.1"
    assert values["max_packet_bytes"] == "-"
    assert values["ecn"] == "false"

    values, _ = shown(reference.described("red", ["profile=ns2", "min_th=30"], "100 Mbit/s"))
    assert (values["min_th"], values["max_th"]) == ("30", "90 *")

    values, text = shown(reference.described("avq", [], "10 Mbit/s"))
    assert "*" not in "".join(values.values()) and "follows" not in text


def test_times_are_shown_with_their_unit(real_core):
    values, _ = shown(reference.described("pie", ["profile=docsis"], "10 Mbit/s"))
    assert values["target"] == "0.01 s *" and values["t_update"] == "0.016 s *"
    values, _ = shown(reference.described("codel", ["target=3 ms"], "10 Mbit/s"))
    assert values["target"] == "0.003 s" and values["interval"] == "0.1 s"


@pytest.mark.parametrize(
    ("name", "settings", "rate", "words"),
    [
        ("red", ["min_th=9", "max_th=3"], "1 Mbit/s", "red: min_th: 9 is not below max_th = 3"),
        ("red", ["min_ht=9"], "1 Mbit/s", 'did you mean "min_th"'),
        ("red", ["limit"], "1 Mbit/s", '"limit" sets no field: write for example limit=60'),
        ("red", [], "1 ms", "rate: "),
        ("tcp/plain", ["x=1"], "1 Mbit/s", "is not a queue discipline"),
    ],
)
def test_mistakes_in_what_is_described(real_core, name, settings, rate, words):
    with pytest.raises(AqmlabError, match=words):
        reference.described(name, settings, rate)
