"""A kind of figure: what it collects of a study, how it draws that, and the keys that it takes.

A kind is one file in `kinds/` with two functions. `collect` takes what it draws of (`Cells`,
`Rows` or the whole `Material`) and gives a `Drawing`, or None where no run has anything to draw;
`draw` makes a picture of a `Drawing`'s data. A `[[figure]]` of the kind takes what their
signatures name: the fields of the first argument of `collect`, and the keywords of both.
"""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from aqmlab.errors import nearest

from .sources import Cells, Drawing, Material

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class _Needed(TypedDict):
    id: str
    part: str
    kind: str
    title: str
    caption: str


class Entry(_Needed, total=False):
    """What every `[[figure]]` may say."""

    paper: str
    """Its name in the paper."""
    wide: bool
    """Whether it takes the whole width of a page."""
    note: str


@dataclass(frozen=True)
class Key:
    """A key of an entry, from a signature."""

    name: str
    type: Any
    default: Any = inspect.Parameter.empty

    @property
    def needed(self) -> bool:
        """Whether an entry must have it."""
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True)
class Kind:
    """One kind of figure."""

    name: str
    about: str
    """What it draws, in a sentence."""
    draw: Callable[..., Figure]
    collect: Callable[..., Drawing | None] | None
    """None: no figure of a study."""
    wide: bool
    """Whether it needs the whole width of a page."""

    @cached_property
    def source(self) -> type:
        """What it is drawn of."""
        assert self.collect is not None
        return next(iter(_hints(self.collect).values()))

    @cached_property
    def keys(self) -> dict[str, Key]:
        """The keys of its entries, beside those of every figure."""
        assert self.collect is not None
        of_source = _fields(self.source) if self.source is not Material else []
        found = [*of_source, *_keywords(self.collect), *_keywords(self.draw)]
        return {key.name: key for key in found if key.name != "title"}

    def problem(self, entry: Mapping[str, Any]) -> str | None:
        """What is wrong with an entry's keys and their values, if anything."""
        every = _members(Entry)
        return _problem(entry, every | self.keys)

    def drawing(self, entry: Mapping[str, Any], material: Material, **more: Any) -> Drawing | None:
        """What is drawn of these runs, if there is anything."""
        assert self.collect is not None
        given = dict(entry) | more
        source = material
        if self.source is not Material:
            named = {f.name for f in fields(self.source)}
            mine = {k: v for k, v in given.items() if k in named}
            source = self.source(material=material, **mine)
        drawn = self.collect(source, **_asked(self.collect, given))
        if drawn is not None and isinstance(source, Cells):
            drawn.data["known"] = source.known()
        return drawn

    def picture(self, entry: Mapping[str, Any], data: dict) -> Figure:
        """The figure of what was collected."""
        from .style import plain, styled

        with styled():
            return self.draw(plain(data), **plain(_asked(self.draw, entry)))


@cache
def load(name: str) -> Kind:
    """The kind of this name, from its file."""
    module = importlib.import_module(f"{__package__}.kinds.{name.replace('-', '_')}")
    about = inspect.cleandoc(module.__doc__ or name).split("\n\n")[0].replace("\n", " ")
    collect = getattr(module, "collect", None)
    return Kind(name, about, module.draw, collect, getattr(module, "WIDE", False))


def _hints(function: Any) -> dict[str, Any]:
    return get_type_hints(function, localns={"Figure": object})


def _keywords(function: Callable) -> list[Key]:
    """The keywords of a function, with their types and defaults."""
    hints = _hints(function)
    return [
        Key(p.name, hints[p.name], p.default)
        for p in inspect.signature(function).parameters.values()
        if p.kind is p.KEYWORD_ONLY
    ]


def _asked(function: Callable, given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a function's keywords that an entry has."""
    names = (key.name for key in _keywords(function))
    return {name: given[name] for name in names if name in given}


def _fields(source: type) -> list[Key]:
    """The keys of a source: its public fields but the material."""
    assert is_dataclass(source)
    hints = get_type_hints(source)
    signature = inspect.signature(source).parameters
    return [
        Key(f.name, hints[f.name], signature[f.name].default)
        for f in fields(source)
        if f.metadata.get("key", True)
    ]


def _members(shape: Any) -> dict[str, Key]:
    """The keys of a table within an entry."""
    hints = get_type_hints(shape)
    empty = inspect.Parameter.empty
    return {
        name: Key(name, hint, empty if name in shape.__required_keys__ else None)
        for name, hint in hints.items()
    }


def _problem(entry: Mapping[str, Any], known: Mapping[str, Key]) -> str | None:
    for name in entry:
        if name not in known:
            words = sorted(known)
            hint = nearest(name, words) or f" (known: {', '.join(words)})"
            return f'unknown key "{name}"{hint}'
    missing = sorted(name for name, key in known.items() if key.needed and name not in entry)
    if missing:
        return f'has no "{missing[0]}": add it'
    found = (misfit(name, value, known[name].type) for name, value in entry.items())
    return next((problem for problem in found if problem), None)


def misfit(name: str, value: Any, wanted: Any) -> str | None:
    """What is wrong with a value of this type, if anything."""
    if wanted is Any or wanted is object:
        return None
    origin, inner = get_origin(wanted), get_args(wanted)
    if origin in (Union, types.UnionType):
        problems = [misfit(name, value, one) for one in inner if one is not type(None)]
        return None if None in problems else problems[0]
    if origin is Literal:
        words = " or ".join(f'"{word}"' for word in inner)
        return None if value in inner else f'{name} is {words}, not "{value}"'
    if is_typeddict(wanted):
        if not isinstance(value, Mapping):
            return f"{name}: {value} is no table"
        problem = _problem(value, _members(wanted))
        return f"{name}: {problem}" if problem else None
    if origin in (list, dict) or wanted in (list, dict):
        outer = origin or wanted
        if not isinstance(value, outer):
            return f"{name} is a {'list' if outer is list else 'table'}, not {value!r}"
        members = value.values() if isinstance(value, dict) else value
        each = (misfit(name, one, inner[-1]) for one in members) if inner else ()
        return next((problem for problem in each if problem), None)
    numbers = {float: (int, float), int: int}.get(wanted, wanted)
    fits = isinstance(value, numbers) and (wanted is bool or not isinstance(value, bool))
    return None if fits else f"{name} is {said(wanted)}, not {value!r}"


def said(wanted: Any) -> str:
    """A type in words."""
    origin, inner = get_origin(wanted), get_args(wanted)
    if origin in (Union, types.UnionType):
        return " or ".join(said(one) for one in inner if one is not type(None))
    if origin is Literal:
        return " or ".join(f'"{word}"' for word in inner)
    if origin is list:
        return f"a list ({said(inner[0])} each)"
    if is_typeddict(wanted):
        names = _members(wanted).values()
        keys = ", ".join(key.name if key.needed else f"{key.name}?" for key in names)
        return f"a table ({keys})"
    words = {str: "a text", float: "a number", int: "a whole number", bool: "true or false"}
    return words.get(wanted, "a table" if origin is dict or wanted is dict else "any value")
