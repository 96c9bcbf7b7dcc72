"""What there is: the catalogue of the simulator and the studies, for `list` and `describe`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aqmlab import engine
from aqmlab.errors import AqmlabError, nearest

if TYPE_CHECKING:
    from rich.console import Console

KINDS = {
    "aqm": "queue disciplines",
    "tcp": "TCP profiles",
    "traffic": "traffic models",
    "scenario": "sections of a scenario",
    "studies": "studies",
}
_SECTIONS = {
    "": ("scenario", "The top level of a scenario."),
    "network": ("network", "The machines on both sides, written [network]."),
    "network.rtt": ("rtt", 'Round-trip times, written network.rtt = "100 ms" or as a table.'),
    "link": ("link", "A link and its two queues, written [[link]], from the servers on."),
    "traffic": ("traffic", "A group of users or flows, written [[traffic]]."),
    "distribution": (
        "distribution",
        'What a size, a count or a time is drawn from: a value, or { dist = "<name>", … }.',
    ),
    "record": ("record", "What is recorded, written [record]."),
}


def everything() -> dict[str, list[dict[str, Any]]]:
    """All kinds, each a list of entries with at least `name` and `summary`."""
    from aqmlab.studies import registry

    known = engine.catalogue()
    sections = []
    for path, fields in known.pop("scenario", {}).items():
        name, summary = _SECTIONS.get(path, (path, f"Written [{path}]."))
        sections.append({"name": name, "summary": summary, "fields": fields})
    return {**known, "scenario": sections, "studies": registry.names()}


def select(kind: str | None) -> dict[str, list[dict[str, Any]]]:
    """One kind, or all."""
    if kind is None:
        return everything()
    if kind not in KINDS:
        hint = nearest(kind, list(KINDS))
        raise AqmlabError(f'no kind "{kind}"{hint} (known: {", ".join(KINDS)})')
    return {kind: everything()[kind]}


def find(name: str) -> dict[str, Any]:
    """The entry of that name, with its `kind`; write `tcp/plain` if two kinds have the name."""
    wanted, slash, bare = name.partition("/")
    name_of_app = _app_of_model(name)
    if name_of_app is not None:
        wanted, slash, bare = "traffic", "/", name_of_app
    entries = [
        {"kind": kind, **entry}
        for kind, members in everything().items()
        for entry in members
        if entry["name"] == (bare if slash else name) and (not slash or kind == wanted)
    ]
    if not entries:
        names = [entry["name"] for members in everything().values() for entry in members]
        hint = nearest(name, names)
        raise AqmlabError(f'nothing is called "{name}"{hint} (`aqmlab list` shows all names)')
    if len(entries) > 1:
        ways = " or ".join(f"{entry['kind']}/{entry['name']}" for entry in entries)
        raise AqmlabError(f'"{name}" is the name of several things: write {ways}')
    return entries[0]


def _app_of_model(name: str) -> str | None:
    """The traffic application that draws from the model of that name, where nothing else has it."""
    for entry in engine.catalogue().get("traffic", []):
        if name in entry.get("models", []) and name != entry["name"]:
            return entry["name"]
    return None


def show_list(found: dict[str, list[dict[str, Any]]], console: Console) -> None:
    """One table per kind."""
    from rich.table import Table
    from rich.text import Text

    for kind, entries in found.items():
        table = Table(title=KINDS.get(kind, kind), title_justify="left", box=None, pad_edge=False)
        table.add_column("name", style="bold", no_wrap=True)
        table.add_column("what it is")
        for entry in entries:
            table.add_row(entry["name"], Text(entry.get("summary", "")))
        console.print(table)
        console.print()


def show_entry(entry: dict[str, Any], console: Console) -> None:
    """Everything that is known about one entry."""
    from rich.table import Table
    from rich.text import Text

    kind = KINDS.get(entry["kind"], entry["kind"])
    console.print(Text.assemble((entry["name"], "bold"), f"  ({kind})"))
    console.print(Text(entry.get("summary", "")))
    for key, value in entry.items():
        if key not in ("name", "kind", "summary", "fields", "open_loop") and value not in (
            None,
            "",
            [],
        ):
            console.print(Text.assemble((key, "bold"), f": {_words(value).strip()}"))
    fields = entry.get("fields") or []
    if fields:
        table = Table(title="fields", title_justify="left")
        for column in ("name", "default", "allowed", "meaning", "source"):
            table.add_column(column, no_wrap=column == "name")
        for field in fields:
            words = (_default(field), allowed(field), field.get("meaning"), field.get("source"))
            table.add_row(field["name"], *(Text(word or "") for word in words))
        console.print(table)


def allowed(field: dict[str, Any]) -> str:
    """The values a field may take, in words."""
    kind = field.get("type")
    if kind == "switch":
        return "true or false"
    if kind not in ("choice", "whole", "real", "distribution"):
        return kind or ""
    if kind == "distribution":
        noun = {"time": "times", "bytes": "sizes", "count": "counts"}.get(field.get("unit", ""))
        return f"distribution of {noun or 'numbers'}"
    if kind == "choice":
        return ", ".join(field.get("choices") or [])
    low, high = field.get("min"), field.get("max")
    noun = {"time": "time", "rate": "rate"}.get(field.get("unit", ""))
    if noun is None:
        noun = "whole number" if kind == "whole" else "number"
        noun += f" of {field['unit']}" if field.get("unit") not in (None, "", "count") else ""
    above = "above" if field.get("min_excluded") else "from"
    if low is not None and high is not None:
        return f"{noun} {above} {_quantity(low, field)} to {_quantity(high, field)}"
    return noun if low is None else f"{noun} {above} {_quantity(low, field)}"


def _quantity(value: float, field: dict[str, Any]) -> str:
    base = {"time": " s", "rate": " bit/s"}.get(field.get("unit", ""), "")
    return f"{value:.12g}{base}" if value != 2**53 else f"2^53{base}"


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    if value is None:
        return "-"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return _quantity(value, field) if number else _words(value)


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "; ".join(_words(v) for v in value)
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_entries(inner)}" for key, inner in value.items())
    return str(value)


def _entries(value: Any) -> str:
    """A table inside a table: `duration 40 min, seeds 3`."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_words(inner)}" for key, inner in value.items())
    return _words(value)
