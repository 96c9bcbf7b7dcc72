"""What there is: the catalogue of the simulator and the studies, for `list` and `describe`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aqmlab.errors import AqmlabError, SpecError, nearest
from aqmlab.experiment import examples, spec
from aqmlab.io.plain import Column, Paper
from aqmlab.io.terminal import printable
from aqmlab.simulator import engine, measures
from aqmlab.simulator.forms import Entry, Field
from aqmlab.simulator.plugin import source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

KINDS = {
    "aqm": "queue disciplines",
    "tcp": "TCP profiles",
    "congestion": "congestion controls",
    "traffic": "traffic models",
    "access": "kinds of access",
    "effects": "effects of a link",
    "measures": "measures",
    "scores": "scores",
    "scenario": "sections of a scenario",
    "studies": "studies",
    "examples": "examples",
}
RATE = "10 Mbit/s"
"""Rate of the line behind a queue that is described, unless another rate is given."""
_SECTIONS = {
    "": ("scenario", "The top level of a scenario."),
    "network": ("network", "The machines on both sides, written [network]."),
    "network.rtt": ("rtt", 'Round-trip times, written network.rtt = "100 ms" or as a table.'),
    "link": ("link", "A link and its two queues, written [[link]], from the servers on."),
    "effect": (
        "effect",
        "What a link does to packets apart from queueing them, written "
        'effects = [{ kind = "loss", share = 0.01 }, …] in a [[link]].',
    ),
    "trace": (
        "trace",
        'A model of a changing rate, written rate_trace = { model = "sprout", … } in a link.',
    ),
    "traffic": ("traffic", "A group of users or flows, written [[traffic]]."),
    "script": (
        "script",
        "Packets dropped or marked by their numbers, written script = [{ drop = [15, 17] }, …] "
        "in a [[traffic]].",
    ),
    "distribution": (
        "distribution",
        'What a size, a count or a time is drawn from: a value, or { dist = "<name>", … }.',
    ),
    "record": ("record", "What is recorded, written [record]."),
}


_LABELS = {
    "source": "source",
    "year": "year",
    "ecn": "ECN",
    "units": "counts in",
    "acts": "acts",
    "deviations": "where it differs",
    "title": "called",
    "unit": "unit",
    "shown": "shown in",
    "interval": "of the interval",
    "also": "also as",
    "weakness": "known weakness",
}


def marking(entry: Entry) -> str:
    """What a queue discipline does with ECN, in a word: `off` and `on` are defaults of `ecn`."""
    for field in entry.get("fields", []):
        if field["name"] == "ecn":
            return "on" if field.get("default") else "off"
    return "never" if entry.get("ecn", "").startswith("never") else "always"


_COLUMNS: dict[str, tuple[str, Callable[[Entry], str], bool]] = {
    "unit": ("unit", lambda entry: entry.get("unit", ""), False),
    "year": ("year", lambda entry: str(entry.get("year", "")), False),
    "ecn": ("ECN", marking, False),
    "units": ("counts in", lambda entry: entry.get("units", ""), True),
    "acts": ("acts", lambda entry: entry.get("acts", ""), True),
}
"""Columns after name and summary, where a kind has them: title, words, and whether they may
wrap."""


def members(kind: str) -> list[Entry]:
    """The entries of a kind, each with at least `name` and `summary`."""
    if kind == "studies":
        from aqmlab.pipeline import registry

        return [*registry.names()]
    if kind == "examples":
        return [{"name": f"example:{n}", "summary": shows} for n, shows in examples.SHOWN.items()]
    if kind == "scores":
        return _scores()
    if kind == "measures":
        return [Entry(**measure) for measure in measures.registered()]
    if kind != "scenario":
        return engine.catalogue().get(kind, [])
    sections = []
    for path, fields in engine.catalogue().get("scenario", {}).items():
        name, summary = _SECTIONS.get(path, (path, f"Written [{path}]."))
        sections.append({"name": name, "summary": summary, "fields": fields})
    return sections


def _scores() -> list[Entry]:
    from aqmlab.scores import SCORES

    return [
        {
            "name": score.name,
            "summary": score.meaning,
            "title": score.title,
            "unit": score.unit,
            "source": score.source,
            "weakness": score.weakness,
        }
        for score in SCORES.values()
    ]


def names(kind: str) -> list[str]:
    """The names of a kind's entries; those of studies without reading their files."""
    if kind == "studies":
        from aqmlab.experiment.folders import shipped

        return shipped()
    return [entry["name"] for entry in members(kind)]


def select(kind: str | None, *, whole: bool = True) -> dict[str, list[Entry]]:
    """The entries of one kind, or of all kinds, by kind; unless `whole`, the entries of studies
    have names and summaries only."""
    if kind is not None and kind not in KINDS:
        hint = nearest(kind, list(KINDS))
        raise AqmlabError(f'no kind "{kind}"{hint} (known: {", ".join(KINDS)})')
    found = [each for each in KINDS if kind in (None, each)]
    return {each: members(each) if whole or each != "studies" else _brief() for each in found}


def _brief() -> list[Entry]:
    from aqmlab.pipeline import registry

    return registry.summaries()


def find(name: str) -> Entry:
    """The registry entry with this name, and its `kind`. If two kinds have the name, the kind goes
    before it, as in `tcp/plain`. The name of a file stands for the user's own discipline or
    congestion control in that file."""
    if source.names_file(name):
        return source.described(source.table(name))
    wanted, slash, bare = name.partition("/")
    name_of_app = _app_of_model(name)
    if name_of_app is not None:
        wanted, slash, bare = "traffic", "/", name_of_app
    sought = bare if slash else name
    entries: list[Entry] = [
        {"kind": kind, **entry}
        for kind in KINDS
        if (not slash or kind == wanted) and sought in names(kind)
        for entry in members(kind)
        if entry["name"] == sought
    ]
    if not entries and (measure := measures.find(bare if wanted == "measures" else name)):
        entries = [{"kind": "measures", **measure}]  # of a port or group of one's own
    if not entries:
        hint = nearest(name, [known for kind in KINDS for known in names(kind)])
        raise AqmlabError(f'nothing is called "{name}"{hint} (`aqmlab list` shows all names)')
    if len(entries) > 1:
        ways = " or ".join(f"{entry.get('kind')}/{entry['name']}" for entry in entries)
        raise AqmlabError(f'"{name}" is the name of several things: write {ways}')
    return entries[0]


def _app_of_model(name: str) -> str | None:
    """The traffic application that draws from the model of that name, where nothing else has it."""
    for entry in engine.catalogue().get("traffic", []):
        if name in entry.get("models", []) and name != entry["name"]:
            return entry["name"]
    return None


def described(name: str, settings: Sequence[str], rate: str) -> Entry:
    """The registry entry with this name. The entry of a queue discipline also has the value that
    the discipline uses for every field.

    `settings` are `"field=value"`; `rate` is the rate of the line behind the queue. Adds `rate`,
    `written` (the settings) and `effective`: a value that was not written and has no fixed default
    follows from the others and the rate; a field that is missing has no effect or is off.
    """
    entry = find(name)
    if entry.get("kind", "") != "aqm":
        if settings:
            raise AqmlabError(
                f'"{settings[0]}" has no effect: {entry["name"]} is not a queue discipline; '
                "give the name alone"
            )
        return entry
    for setting in settings:
        if not setting.partition("=")[0].strip() or "=" not in setting:
            raise AqmlabError(f'"{setting}" sets no field: write for example limit=60')
    written = dict(map(spec.parse_override, settings))
    return {
        **entry,
        "rate": rate,
        "written": written,
        "effective": _effective(entry, written, rate, name),
    }


def _effective(
    entry: Entry, written: dict[str, object], rate: str, given: str
) -> dict[str, object]:
    """What the simulator writes for this queue in a complete scenario."""
    name = entry["name"]
    aqm = source.table(given) if source.names_file(given) else name
    scenario = {
        "duration": "1 s",
        "link": [{"rate": rate, "forward": {**written, "aqm": aqm}}],
        "traffic": [{"app": "bulk", "flows": 1}],
    }
    try:
        forward = engine.check(scenario)["link"][0].get("forward")
        assert isinstance(forward, Mapping)
    except SpecError as error:
        mistake = str(error).removeprefix("link.0.")
        if mistake.startswith("rate: "):
            raise SpecError(mistake) from error
        raise SpecError(f"{name}: {mistake.removeprefix('forward.')}") from error
    return {field: value for field, value in forward.items() if field != "aqm"}


def show_list(found: dict[str, list[Entry]], paper: Paper) -> None:
    """One table per kind."""
    for kind, entries in found.items():
        more = [column for column in _COLUMNS if any(column in entry for entry in entries)]
        columns = [Column("name"), Column("what it is")]
        for column in more:
            title, _, wraps = _COLUMNS[column]
            columns.append(Column(title, _MOST if wraps else None))
        rows = [
            [entry["name"], entry.get("summary", ""), *(_COLUMNS[c][1](entry) for c in more)]
            for entry in entries
        ]
        paper.heading(KINDS.get(kind, kind))
        paper.table(columns, rows, broken=1)
        if "ecn" in more:
            paper.line("ECN: whether it marks by default (on, off), always or never")
        paper.line()


_MOST = 18
"""Characters of a column that is broken besides the sentences."""


def show_entry(entry: Entry, console: Console) -> None:
    """Everything that is known about one entry."""
    from rich.table import Table
    from rich.text import Text

    kind = KINDS.get(entry.get("kind", ""), entry.get("kind", ""))
    console.print(Text.assemble((printable(entry["name"]), "bold"), f"  ({kind})"))
    console.print(Text(entry.get("summary", "")))
    for key in sorted(entry, key=lambda key: (*_LABELS, key).index(key)):
        value = entry[key]
        if key not in _APART and value not in (None, "", []):
            label = _LABELS.get(key, key)
            console.print(Text.assemble((label, "bold"), f": {_words(value).strip()}"))
    fields = entry.get("fields") or []
    if fields:
        table = Table(title="fields", title_justify="left")
        # What an access sets may be anything that a link takes.
        limits = entry.get("kind", "") != "access"
        columns = ("name", _heading(entry), *(["allowed"] * limits), "meaning", "source")
        for column in columns:
            table.add_column(column, no_wrap=column == "name")
        for field in fields:
            words = [_value(field, entry), *([allowed(field)] * limits)]
            words += [field.get("meaning"), field.get("source")]
            table.add_row(field["name"], *(Text(word or "") for word in words))
        console.print(table)
    if any(_follows(field, entry) for field in fields):
        console.print(
            f"* follows from the other values and the line's {entry.get('rate')} (--rate)"
        )


_APART = ("name", "kind", "summary", "fields", "rate", "written", "effective", "scale", "digits")


def _heading(entry: Entry) -> str:
    return "value" if entry.get("written") or entry.get("kind", "") == "access" else "default"


def _follows(field: Field, entry: Entry) -> bool:
    """Whether the field's value was not written and is no fixed default."""
    name, default = field["name"], field.get("default")
    value = entry.get("effective", {}).get(name)
    if value is None or name in entry.get("written", {}):
        return False
    return default is None or default not in (value, _seconds(value))


def _seconds(value: object) -> float | None:
    """A time as the simulator writes it, as a number."""
    if not isinstance(value, str) or not value.endswith(" s"):
        return None
    return float(value.removesuffix(" s"))


def _value(field: Field, entry: Entry) -> str:
    """The default, or what takes its place under the values that were set."""
    if "effective" not in entry or (not entry.get("written") and field.get("default") is not None):
        return default(field)
    value = entry.get("effective", {}).get(field["name"])
    seconds = _seconds(value)
    if seconds is not None:
        words = f"{seconds:.6g} s"
    elif isinstance(value, float):
        words = f"{value:.6g}"
    else:
        words = "-" if value is None else _words(value)
    return f"{words} *" if _follows(field, entry) else words


def allowed(field: Field) -> str:
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
        noun += f" of {field.get('unit')}" if field.get("unit") not in (None, "", "count") else ""
    above = "above" if field.get("min_excluded") else "from"
    if low is not None and high is not None:
        return f"{noun} {above} {quantity(low, field)} to {quantity(high, field)}"
    return noun if low is None else f"{noun} {above} {quantity(low, field)}"


def quantity(value: float, field: Field) -> str:
    """A number of this field with its unit, as in a scenario."""
    base = {"time": " s", "rate": " bit/s"}.get(field.get("unit", ""), "")
    return f"{value:.12g}{base}" if value != 2**53 else f"2^53{base}"


def default(field: Field) -> str:
    """The default as in a scenario; `-` where it follows from other values."""
    value = field.get("default")
    if value is None:
        return "-"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return quantity(value, field) if number else _words(value)


def _words(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "; ".join(_words(v) for v in value)
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_entries(inner)}" for key, inner in value.items())
    return str(value)


def _entries(value: object) -> str:
    """A table inside a table: `duration 40 min, seeds 3`."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_words(inner)}" for key, inner in value.items())
    return _words(value)
