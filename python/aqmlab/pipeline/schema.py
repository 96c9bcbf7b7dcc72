"""The JSON schema of experiment files, made from the classes of their entries.

Editors use it to complete keys and to underline errors. A scenario's own schema is the simulator's.
"""

from __future__ import annotations

from collections.abc import Mapping

from aqmlab import figures
from aqmlab.experiment import shapes
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.grammar import KINDS, Axis, Figure, Variant
from aqmlab.experiment.rules import Condition, Several
from aqmlab.simulator import engine
from aqmlab.simulator.forms import Schema

ANY: Schema = {}
TEXT = {"type": "string"}
TABLE = {"type": "object"}

#: Keys that entries may have in addition to their own, to say something once for several
#: (docs/studies.md, "Said once").
FORMS = {
    "like": TEXT | {"description": "the entry of this kind whose keys it has where it has none"},
    "for": {"description": "rows of values, or lists of values by name: an entry for each"},
}
AXIS = FORMS | {"keep": {"type": "array", "description": "of the axis that it is like only these"}}
VARIANT = FORMS | {
    "value": {"description": "what every path of the axis gets"},
    "from": TEXT | {"description": "a shared axis whose variants stand here"},
    "keep": AXIS["keep"],
}
#: The bounds of a condition; each may be a name of a row (`$name`), and a key with braces gives
#: several bounds.
BOUNDS = ("at_least", "at_most", "above", "below")
OF_A_ROW = TEXT | {"pattern": r"^\$"}
SEVERAL_KEYS = {r"\{": ANY}
CLAIM = FORMS | {
    "groups": TEXT | {"description": "how the groups of the claim that it revisits are called here"}
}


def experiment() -> Schema:
    """The schema of `experiment.toml` and of the files that it includes."""
    shared: Schema = {}
    tables = [shape for shape in KINDS.values() if shape is not Figure]
    for shape in tables:
        shapes.schema(shape, shared)
    for shape, more in (*((shape, FORMS) for shape in tables), (Axis, AXIS)):
        _open(shared[shape.__name__], more)
    before = set(shared)
    shared[Figure.__name__] = _figures(shared)
    for name in shared.keys() - before - {Figure.__name__}:
        _open(shared[name], {"for": FORMS["for"]})
    _open(shared[Variant.__name__], VARIANT)
    _open(shared[KINDS["claim"].__name__], CLAIM)
    for shape in (Condition, Several):
        _open(shared[shape.__name__], FORMS)
        shared[shape.__name__]["patternProperties"] = SEVERAL_KEYS
    bounds = shared[Condition.__name__]["properties"]
    bounds |= {name: {"anyOf": [bounds[name], OF_A_ROW]} for name in BOUNDS}
    scenario = engine.schema()["$defs"]
    known = shapes.keys(Experiment)
    top = shapes.table_schema((k for name, k in known.items() if name not in KINDS), shared)
    properties = top["properties"] | {
        kind: _listed(shape, known[kind].about) for kind, shape in KINDS.items()
    }
    of_base = {"$ref": "#/$defs/scenario"}
    properties["scenario"] = of_base
    properties["base"] = TABLE | {"additionalProperties": ANY}
    properties["axis"] = TABLE | {"additionalProperties": {"$ref": "#/$defs/Axis"}}
    properties["sweep"] = TABLE | {"description": "paths and their values, of a scenario alone"}
    properties["defaults"] = TABLE | {
        "description": "what every entry of a kind has in this file, and `part` of all"
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An experiment of aqmlab",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "$defs": scenario | shared,
    }


def _listed(shape: type, about: str) -> Schema:
    """Entries of a kind: a list of them, or `[kind.NAME]` for each."""
    entry = {"$ref": f"#/$defs/{shape.__name__}"}
    by_name = TABLE | {"additionalProperties": {"anyOf": [entry, TEXT]}}
    return {"description": about, "anyOf": [{"type": "array", "items": entry}, by_name]}


def _open(entry: Schema, more: Schema) -> None:
    """Makes an entry's schema that of a written entry: it may have the keys of `more`, and no key
    is required, since values may be inherited."""
    entry["properties"] = entry["properties"] | more
    entry.pop("required", None)


def _figures(shared: Schema) -> Schema:
    """The schema of a figure: one for each kind, with that kind's keys, and one for a figure that
    inherits its kind by `like`."""
    common = shapes.keys(Figure)
    kinds = [figures.kind(name) for name in figures.of_studies()]

    def entry(known: Mapping[str, shapes.Key], about: str) -> Schema:
        made = shapes.table_schema((common | dict(known)).values(), shared, about)
        _open(made, FORMS)
        return made

    of_kinds = []
    for kind in kinds:
        made = entry(kind.keys, kind.about)
        made["properties"]["kind"] = {"const": kind.name}
        of_kinds.append(made | {"required": ["kind"]})
    # A key may have different types in different kinds.
    of_another = entry({}, Figure.__doc__ or "")
    del of_another["properties"]["kind"]
    of_another["properties"] |= {name: ANY for kind in kinds for name in kind.keys}
    return {"oneOf": [*of_kinds, of_another]}
