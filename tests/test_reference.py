import io

import pytest

from aqmlab import reference
from aqmlab.errors import AqmlabError


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

    for kind, entries in reference.everything().items():
        assert entries, kind
        for entry in entries:
            assert entry["summary"], entry["name"]
            console = Console(record=True, width=160, file=io.StringIO())
            reference.show_entry(reference.find(f"{kind}/{entry['name']}"), console)
            assert entry["name"] in console.export_text()
