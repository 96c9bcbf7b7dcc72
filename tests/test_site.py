"""No page of the site makes a request to others; `make site` holds what it built to it."""

import importlib.util
from pathlib import Path

import pytest

FILE = Path(__file__).parents[1] / "docs" / "site" / "fetched.py"
SPEC = importlib.util.spec_from_file_location("fetched", FILE)
assert SPEC is not None and SPEC.loader is not None
fetched = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(fetched)


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ('<script src="https://cdn.example/a.js"></script>', ["https://cdn.example/a.js"]),
        ('<img alt="a" src="//pictures.example/a.png">', ["//pictures.example/a.png"]),
        ('<link rel="stylesheet" href="https://fonts.example/css">', ["https://fonts.example/css"]),
        (
            "@font-face { src: url(https://fonts.example/a.woff2) }",
            ["https://fonts.example/a.woff2"],
        ),
        ('@import "https://fonts.example/css";', ["https://fonts.example/css"]),
        ('<a href="x" data-md-component="source">', ['data-md-component="source"']),
        ('<link rel="canonical" href="https://aqmlab.github.io/aqmlab/">', []),
        ('<a href="https://www.rfc-editor.org/rfc/rfc9332">RFC 9332</a>', []),
        ('<script src="../assets/a.js"></script><img src="data:,">', []),
    ],
)
def test_what_a_page_would_fetch_elsewhere_is_found(text, addresses):
    assert fetched.third_party(text) == addresses


def test_the_laboratory_in_a_tab_fetches_nothing_elsewhere():
    page = Path(__file__).parents[1] / "web"
    texts = [path.read_text("utf-8") for path in (page / "index.html", page / "style.css")]
    assert [address for text in texts for address in fetched.third_party(text)] == []
