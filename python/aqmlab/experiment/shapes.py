"""Reads tables of a file as frozen dataclasses, whose fields are described in one place only.

The dataclass of a kind of entry states its keys, their types and their meaning. The error messages,
the table in docs/studies.md and the JSON schema are made from it.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from typing import (
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from aqmlab.errors import SpecError, nearest
from aqmlab.simulator.forms import Schema

T = TypeVar("T")

_WORDS = {str: "a text", float: "a number", int: "a whole number", bool: "true or false"}
_JSON = {str: "string", float: "number", int: "integer", bool: "boolean"}

CHECKED_ELSEWHERE = {"Scenario": Mapping[str, object], "Calibrating": Mapping[str, object]}
"""Types of fields that are read as any table here, since their contents are checked elsewhere."""


class Mistake(SpecError):
    """An error in an entry; the code that reads the file adds the entry's file and name."""


@dataclass(frozen=True)
class Key:
    """A key of an entry."""

    name: str
    type: Any
    default: object = MISSING
    about: str = ""
    attribute: str = ""
    """Name of the dataclass's field for this key."""

    @property
    def needed(self) -> bool:
        """Whether an entry must have this key."""
        return self.default is MISSING


def key(about: str, *, name: str = "", **more: Any) -> Any:
    """A dataclass field that a file gives under the key `name`, by default the field's own name."""
    return field(metadata={"about": about, "name": name}, **more)


@cache
def keys(shape: Any) -> dict[str, Key]:
    """The keys of a dataclass, or of a table that a `TypedDict` describes."""
    hints = get_type_hints(shape, localns=CHECKED_ELSEWHERE)
    if is_typeddict(shape):
        empty = dict.fromkeys(shape.__required_keys__, MISSING)
        return {n: Key(n, hint, empty.get(n), attribute=n) for n, hint in hints.items()}
    found = {}
    for each in fields(shape):
        if "about" in each.metadata:
            name = each.metadata["name"] or each.name
            usual = each.default_factory() if each.default_factory is not MISSING else each.default
            found[name] = Key(name, hints[each.name], usual, each.metadata["about"], each.name)
    return found


def check_keys(entry: Mapping[str, object], known: Mapping[str, Key]) -> None:
    """Refuses an entry with an unknown key, or without a required one."""
    for name in entry:
        if name not in known:
            words = sorted(known)
            hint = nearest(name, words) or f" (known: {', '.join(words)})"
            raise Mistake(f'unknown key "{name}"{hint}')
    missing = sorted(name for name, key in known.items() if key.needed and name not in entry)
    if missing:
        raise Mistake(f'has no "{missing[0]}": add it')


def read(shape: type[T], entry: object) -> T:
    """An entry as an object of this class; an error in it raises a `Mistake`."""
    if not isinstance(entry, Mapping):
        raise Mistake(f"{entry!r} is no table: write {{ key = value }}")
    known = keys(shape)
    check_keys(entry, known)
    given = {
        known[name].attribute: convert(name, value, known[name].type)
        for name, value in entry.items()
    }
    made = shape(**given)
    mistake = getattr(made, "mistake", None)
    if mistake is not None and (problem := mistake()):
        raise Mistake(problem)
    return made


def convert(name: str, value: object, wanted: Any) -> Any:
    """The value converted to this type, with tables as objects of their classes; `name` is its
    key."""
    if wanted is Any or wanted is object:
        return value
    origin, inner = get_origin(wanted), get_args(wanted)
    if origin in (Union, types.UnionType):
        return _any_of(name, value, [one for one in inner if one is not type(None)])
    if origin is Literal:
        if value in inner:
            return value
        raise Mistake(f'{name} is {said(wanted)}, not "{value}"')
    if is_dataclass(wanted) or is_typeddict(wanted):
        return _nested(name, value, wanted)
    if origin in (tuple, list):
        if not isinstance(value, list | tuple):
            raise Mistake(f"{name} is a list, not {value!r}")
        return origin(convert(name, one, inner[0]) for one in value)
    if _is_table(wanted):
        if not isinstance(value, Mapping):
            raise Mistake(f"{name} is a table, not {value!r}")
        if not inner:
            return value
        described = f"{name}.{{}}" if is_dataclass(inner[1]) else name
        return {k: convert(described.format(k), v, inner[1]) for k, v in value.items()}
    number = isinstance(value, int | float) and not isinstance(value, bool)
    whole = number and isinstance(value, int)
    fits = {float: number, int: whole}.get(wanted, isinstance(value, wanted))
    if not fits:
        raise Mistake(f"{name} is {said(wanted)}, not {value!r}")
    return value


def _is_table(wanted: object) -> bool:
    return (get_origin(wanted) or wanted) in (dict, Mapping)


def _any_of(name: str, value: Any, kinds: Sequence[Any]) -> Any:
    """The value converted to one of these types; a table becomes the class whose `MARK` keys it
    has, else the last class."""
    shapes = [kind for kind in kinds if is_dataclass(kind)]
    if shapes and (isinstance(value, Mapping) or len(shapes) == len(kinds)):
        marked = (kind for kind in shapes if {*getattr(kind, "MARK", ())} & {*value})
        return _nested(name, value, next(marked, shapes[-1]))
    mistakes = []
    for kind in kinds:
        try:
            return convert(name, value, kind)
        except Mistake as mistake:
            mistakes.append(mistake)
    raise mistakes[0]


def _nested(name: str, value: object, shape: Any) -> Any:
    """A table within an entry as an object; an error in it names the table and its kind."""
    called = getattr(shape, "CALLED", name)
    own = value.get("name", "?") if isinstance(value, Mapping) else "?"
    where = f"{called} {own}: " if called and called is not name else f"{called}: "
    try:
        if is_typeddict(shape):
            if not isinstance(value, Mapping):
                raise Mistake(f"{value} is no table")
            check_keys(value, keys(shape))
            return {k: convert(k, v, keys(shape)[k].type) for k, v in value.items()}
        return read(shape, value)
    except Mistake as mistake:
        raise Mistake(f"{where if called else ''}{mistake}") from mistake


def problem(entry: Mapping[str, object], known: Mapping[str, Key]) -> str | None:
    """The first error in the keys and values of an entry that stays a table; None if there is
    none."""
    try:
        check_keys(entry, known)
        for name, value in entry.items():
            convert(name, value, known[name].type)
    except Mistake as mistake:
        return str(mistake)
    return None


def written(made: Any) -> Any:
    """An object as the table that it was read from, without keys that have their defaults."""
    if is_dataclass(made):
        return {
            key.name: written(getattr(made, key.attribute))
            for key in keys(type(made)).values()
            if key.needed or getattr(made, key.attribute) != key.default
        }
    if isinstance(made, Mapping):
        return {name: written(value) for name, value in made.items()}
    return [written(one) for one in made] if isinstance(made, list | tuple) else made


def said(wanted: Any) -> str:
    """A type in words, for error messages."""
    origin, inner = get_origin(wanted), get_args(wanted)
    if origin in (Union, types.UnionType):
        return " or ".join(said(one) for one in inner if one is not type(None))
    if origin is Literal:
        return " or ".join(f'"{word}"' for word in inner)
    if origin in (tuple, list):
        return f"a list ({said(inner[0])} each)"
    if is_typeddict(wanted):
        parts = keys(wanted).values()
        return f"a table ({', '.join(k.name if k.needed else f'{k.name}?' for k in parts)})"
    return _WORDS.get(wanted, "a table" if _is_table(wanted) else "any value")


def schema(wanted: Any, shared: Schema) -> Schema:
    """The JSON schema of a type; schemas of classes are added to `shared`, by name."""
    origin, inner = get_origin(wanted), get_args(wanted)
    if origin in (Union, types.UnionType):
        kinds = [schema(one, shared) for one in inner if one is not type(None)]
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (tuple, list):
        return {"type": "array", "items": schema(inner[0], shared)}
    if is_dataclass(wanted) or is_typeddict(wanted):
        name = wanted.__name__  # pyright: ignore[reportAttributeAccessIssue]
        if name not in shared:
            shared[name] = {}
            shared[name] |= table_schema(keys(wanted).values(), shared, wanted.__doc__ or "")
        return {"$ref": f"#/$defs/{name}"}
    if _is_table(wanted):
        values = {"additionalProperties": schema(inner[1], shared)} if inner else {}
        return {"type": "object"} | values
    return {"type": _JSON[wanted]} if wanted in _JSON else {}


def table_schema(known: Iterable[Key], shared: Schema, about: str = "") -> Schema:
    """The JSON schema of a table with these keys."""
    known = list(known)
    properties = {
        k.name: schema(k.type, shared) | ({"description": k.about} if k.about else {})
        for k in known
    }
    needed = [k.name for k in known if k.needed]
    described = {"description": " ".join(about.split())} if about else {}
    made = {"type": "object", "properties": properties, "additionalProperties": False}
    return described | made | ({"required": needed} if needed else {})
