"""What gets out: to a terminal, into TOML, JSON, HTML and drawings."""

from __future__ import annotations

import json
import tomllib
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqmlab import errors, figures
from aqmlab.cli import as_json
from aqmlab.errors import AqmlabError
from aqmlab.io.terminal import printable
from aqmlab.learn import scenario
from aqmlab.report.templates import environment

EVIL = 'a"b\n\x1b[31m\u202e $x$ $\\frac$ \\ \x7f\x9b </svg><script>\U0001f600\U000e0001 \ud800'
HEADER = {
    "duration_us": 2_000_000,
    "connections": 1,
    "bytes": [1000, 2000],
    "seen": {"sides": [{"connections": 0}, {"connections": 1}]},
}


def test_printable_text_has_pictures_only():
    assert printable("naïve – 90 %\xa0±") == "naïve – 90 %\xa0±"
    assert printable("a\x1b[0m\u202e\n\t\x9b") == "a\\x1b[0m\\u202e\\n\\t\\x9b"
    assert printable("a\nb\u2028", keep="\n") == "a\nb\\u2028"
    assert printable(EVIL).encode()


@given(st.text(st.characters()))
def test_every_text_becomes_printable(text):
    assert all(c.isprintable() or c in "\xa0\u3000" or ord(c) >= 0x1680 for c in printable(text))


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_json_says_the_same_without_what_a_terminal_obeys(monkeypatch, encoding):
    monkeypatch.setattr("aqmlab.io.terminal.is_unicode", lambda: encoding == "utf-8")
    text = as_json.to_json({EVIL: [EVIL, 1.5]})
    assert json.loads(text) == {EVIL: [EVIL, 1.5]}
    assert all(c.isprintable() or c == "\n" for c in text) and text.encode(encoding)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_model_s_name_stays_a_name_in_toml(model):
    text = scenario.text(model, HEADER)
    document = tomllib.loads(text)
    assert document.keys() == {"duration", "link", "traffic"}
    assert document["traffic"] == [{"app": "replay", "model": model}]
    assert "\u202e" not in text


def test_a_label_is_no_formula_and_no_tag():
    curve = {"x": [1, 2], "y": [1, 2], "low": [1, 2], "high": [1, 2]}
    data = {"curves": [curve | {"label": EVIL}], "places": None}
    svg = figures.to_svg(figures.draw("lines", data, title=EVIL, axis="$5 to $9"))
    texts = ["".join(each.itertext()) for each in ElementTree.fromstring(svg).iter()]
    assert any("$5 to $9" in text for text in texts)
    assert any("\\x1b[31m\\u202e $x$ $\\frac$" in text for text in texts)


def test_a_page_shows_what_has_no_picture():
    page = environment().from_string("<b>{{ name }}</b>").render(name=EVIL)
    assert "&lt;script&gt;" in page and "\\x1b[31m\\u202e" in page and page.encode()


def test_a_sentence_is_no_longer_than_a_screen():
    short = "x: no such file; give another"
    assert str(AqmlabError(short)) == short
    for long in (f'unknown entry "{"a" * 10**6}" (known: b): mend it', "word " * 10**5 + "mend it"):
        sentence = str(AqmlabError(long))
        assert len(sentence) <= errors.LONGEST and sentence.endswith("mend it")
        assert sentence[:14] == long[:14] and "..." in sentence
