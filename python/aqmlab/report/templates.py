"""What the pages of this folder share: templates, style, and how a page is written down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from aqmlab.figures import colours
from aqmlab.io import numbers
from aqmlab.io.files import whole
from aqmlab.io.terminal import printable


def environment(**filters: Callable) -> Environment:
    """The templates, with numbers as filters and these; what is undefined in one is an error."""
    made = Environment(
        loader=PackageLoader("aqmlab", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    usual = (numbers.fixed, numbers.signed, numbers.significant, numbers.counted)
    made.filters |= {one.__name__: one for one in usual} | filters
    return made


def _seen(value: object) -> object:
    """What has no picture is shown by its number, as on a terminal."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value, keep="\n\t")
    return value


def style() -> Markup:
    """The style of every page; on a dark one the dark pens of figures are lighter."""
    dark = ", ".join(f'[style*="{colour}"]' for colour in colours.DARK)
    rule = f"figure svg :is({dark}) {{ filter: brightness(1.9); }}"
    return _beside("page.css") + Markup(
        "@media screen and (prefers-color-scheme: dark) { %s }\n"
    ) % Markup(rule)


def script() -> Markup:
    """What a report's tables do if a browser lets them."""
    return _beside("page.js")


def _beside(name: str) -> Markup:
    return Markup((Path(__file__).parent / name).read_text("utf-8"))


def write_page(path: Path, page: str) -> Path:
    """Writes a page all at once."""
    with whole(path) as draft:
        draft.write_text(page, encoding="utf-8")
    return path
