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
    "studies": "studies",
}


def everything() -> dict[str, list[dict[str, Any]]]:
    """All kinds, each a list of entries with at least `name` and `summary`."""
    from aqmlab.studies import registry

    return {**engine.catalogue(), "studies": registry.names()}


def select(kind: str | None) -> dict[str, list[dict[str, Any]]]:
    """One kind, or all."""
    if kind is None:
        return everything()
    if kind not in KINDS:
        hint = nearest(kind, list(KINDS))
        raise AqmlabError(f'no kind "{kind}"{hint} (known: {", ".join(KINDS)})')
    return {kind: everything()[kind]}


def find(name: str) -> dict[str, Any]:
    """The entry of that name, with its `kind`; the same name in two kinds is written `tcp/plain`."""
    wanted, slash, bare = name.partition("/")
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


def show_list(found: dict[str, list[dict[str, Any]]], console: Console) -> None:
    """One table per kind."""
    from rich.table import Table

    for kind, entries in found.items():
        table = Table(title=KINDS.get(kind, kind), title_justify="left", box=None, pad_edge=False)
        table.add_column("name", style="bold", no_wrap=True)
        table.add_column("what it is")
        for entry in entries:
            table.add_row(entry["name"], entry.get("summary", ""))
        console.print(table)
        console.print()


def show_entry(entry: dict[str, Any], console: Console) -> None:
    """Everything that is known about one entry."""
    from rich.markup import escape
    from rich.table import Table

    console.print(f"[bold]{escape(entry['name'])}[/]  ({KINDS.get(entry['kind'], entry['kind'])})")
    console.print(escape(entry.get("summary", "")))
    for key, value in entry.items():
        if key not in ("name", "kind", "summary", "fields") and value not in (None, "", []):
            console.print(f"[bold]{escape(key)}[/]: {escape(_words(value))}")
    fields = entry.get("fields") or []
    if fields:
        table = Table(title="fields", title_justify="left")
        for column in ("name", "default", "allowed", "meaning", "source"):
            table.add_column(column, no_wrap=column == "name")
        for field in fields:
            default = field.get("default")
            table.add_row(
                field["name"],
                "-" if default is None else escape(_words(default)),
                escape(allowed(field)),
                escape(field.get("meaning", "")),
                escape(field.get("source", "")),
            )
        console.print(table)


def allowed(field: dict[str, Any]) -> str:
    """The values a field may take, in words."""
    kind = field.get("type")
    if kind == "switch":
        return "true or false"
    if kind == "choice":
        return ", ".join(field.get("choices") or [])
    unit = f" ({field['unit']})" if field.get("unit") else ""
    low, high = field.get("min"), field.get("max")
    noun = "whole number" if kind == "whole" else "number"
    if low is not None and high is not None:
        return f"{noun} {low:g} to {high:g}{unit}"
    return f"{noun} from {low:g} on{unit}" if low is not None else f"{noun}{unit}"


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "; ".join(_words(v) for v in value)
    return str(value)
