"""A kind of figure: the data that it collects from a study, its drawing, and the keys of its
entries.

A kind is one file in `kinds/` with two functions. `collect` takes a source (`Cells`, `Rows` or the
whole `Dataset`) and returns a `Drawing`, or None if no run has anything to draw; `draw` makes a
picture from a `Drawing`'s data. The keys of a `[[figure]]` of the kind are the fields of the
source, and the keywords of both functions.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, get_type_hints

from aqmlab.experiment.grammar import Figure
from aqmlab.experiment.shapes import Key, keys, problem

from .sources import Cells, Dataset, Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture


Entry = Mapping[str, Any]
"""An entry of a figure, with the keys of every figure and those of its kind."""


@dataclass(frozen=True)
class Kind:
    """A kind of figure, such as `cdf` or `heatmap`."""

    name: str
    about: str
    """One sentence on what the kind draws."""
    draw: Callable[..., Picture]
    collect: Callable[..., Drawing | None] | None
    """The function that collects the data; None if the kind cannot be used in a study."""
    wide: bool
    """Whether the figure needs the whole width of a page."""

    @cached_property
    def source(self) -> type:
        """The class of the source from which `collect` takes its data."""
        assert self.collect is not None
        return next(iter(_hints(self.collect).values()))

    @cached_property
    def keys(self) -> dict[str, Key]:
        """The keys of its entries, in addition to those of every figure."""
        assert self.collect is not None
        of_source = _fields(self.source) if self.source is not Dataset else []
        found = [*of_source, *_keywords(self.collect), *_keywords(self.draw)]
        return {key.name: key for key in found if key.name != "title"}

    def problem(self, entry: Entry) -> str | None:
        """The first error in an entry's keys and values; None if there is none."""
        return problem(entry, keys(Figure) | self.keys)

    def drawing(self, entry: Entry, dataset: Dataset, **more: object) -> Drawing | None:
        """The data that the figure draws from these runs; None if there is none."""
        assert self.collect is not None
        given = dict(entry) | more
        source = dataset
        if self.source is not Dataset:
            named = {f.name for f in fields(self.source)}
            mine = {k: v for k, v in given.items() if k in named}
            source = self.source(dataset=dataset, **mine)
        drawn = self.collect(source, **_requested(self.collect, given))
        if drawn is not None and isinstance(source, Cells):
            drawn.data["known"] = source.known()
        return drawn

    def picture(self, entry: Entry, data: dict) -> Picture:
        """Draws the figure of an entry from the data that were collected for it."""
        from .style import plain, styled

        with styled():
            return self.draw(plain(data), **plain(_requested(self.draw, entry)))


@cache
def load(name: str) -> Kind:
    """The kind of figure called `name`, made from its module."""
    module = importlib.import_module(f"{__package__}.kinds.{name.replace('-', '_')}")
    about = inspect.cleandoc(module.__doc__ or name).split("\n\n")[0].replace("\n", " ")
    collect = getattr(module, "collect", None)
    return Kind(name, about, module.draw, collect, getattr(module, "WIDE", False))


def _hints(function: Callable) -> dict[str, Any]:
    return get_type_hints(function, localns={"Figure": object})


def _keywords(function: Callable) -> list[Key]:
    """The keywords of a function, with their types and defaults."""
    hints = _hints(function)
    return [
        Key(p.name, hints[p.name], _usual(p.default))
        for p in inspect.signature(function).parameters.values()
        if p.kind is p.KEYWORD_ONLY
    ]


def _requested(function: Callable, given: Entry) -> dict[str, Any]:
    """The function's keywords that an entry sets."""
    names = (key.name for key in _keywords(function))
    return {name: given[name] for name in names if name in given}


def _fields(source: type) -> list[Key]:
    """The keys that a source adds: its fields, without those marked as no keys."""
    assert is_dataclass(source)
    hints = get_type_hints(source)
    signature = inspect.signature(source).parameters
    return [
        Key(f.name, hints[f.name], _usual(signature[f.name].default))
        for f in fields(source)
        if f.metadata.get("key", True)
    ]


def _usual(default: object) -> object:
    """The default of a parameter in the form that `Key` uses."""
    return MISSING if default is inspect.Parameter.empty else default
