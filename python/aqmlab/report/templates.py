"""Functions that all report pages use: templates, style, and writing a page's file."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from aqmlab.figures import colours
from aqmlab.io import numbers
from aqmlab.io.files import whole
from aqmlab.io.terminal import printable


def environment(**filters: Callable) -> Environment:
    """The environment of the templates, with filters for numbers and `filters`; an undefined value
    in a template is an error. Filters that were given before get their environment of then, whose
    templates are compiled."""
    return _made(tuple(filters.items()))


@lru_cache(maxsize=8)
def _made(filters: tuple[tuple[str, Callable], ...]) -> Environment:
    made = Environment(
        loader=PackageLoader("aqmlab", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    usual = (numbers.fixed, numbers.signed, numbers.significant, numbers.counted)
    made.filters |= {one.__name__: one for one in usual} | dict(filters)
    return made


def _seen(value: object) -> object:
    """A value for a template; in text, unprintable characters are replaced by their code points, as
    on a terminal."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value, keep="\n\t")
    return value


def style() -> Markup:
    """The style of every page; in dark mode the dark colours of figures are lightened."""
    dark = ", ".join(f'[style*="{colour}"]' for colour in colours.DARK)
    rule = f"figure svg :is({dark}) {{ filter: brightness(1.9); }}"
    return _beside("page.css") + Markup(
        "@media screen and (prefers-color-scheme: dark) { %s }\n"
    ) % Markup(rule)


def script() -> Markup:
    """The script for a report's tables, which works if the browser permits scripts."""
    return _beside("page.js")


def _beside(name: str) -> Markup:
    return Markup((Path(__file__).parent / name).read_text("utf-8"))


def write_page(path: Path, page: str) -> Path:
    """Writes a page atomically."""
    with whole(path) as draft:
        draft.write_text(page, encoding="utf-8")
    return path
