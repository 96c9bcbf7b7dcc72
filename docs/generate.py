"""Writes docs/algorithms.md, its pictures, docs/figures.md and the measures of docs/results.md.

Part of `make docs`. The text is the registry's own; each picture is a run of the same dumbbell (600
web users on 2 Mbit/s, half a minute of it shown) with the discipline at its defaults, beside
drop-tail.
A test holds the text to the registry; pictures change only when a discipline does.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections.abc import Mapping
from functools import cache
from inspect import cleandoc
from itertools import groupby
from pathlib import Path
from typing import Any

from aqmlab import figures
from aqmlab.cli import reference
from aqmlab.experiment import shapes
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.grammar import (
    Axis,
    CalibrationRule,
    Deviation,
    Difference,
    Figure,
    Group,
    Metric,
    Part,
    Settings,
    Setup,
    Table,
    Variant,
)
from aqmlab.experiment.rules import Claim, Condition
from aqmlab.experiment.shapes import Key, said
from aqmlab.simulator import engine, measures

sys.path.insert(0, str(Path(__file__).parent))
import archive

DOCS = Path(__file__).parent
REFERENCE = "droptail"
RATE = 2_000_000
"""The line of the portraits, bit/s."""


def scenario(name: str) -> dict[str, Any]:
    """The dumbbell of the pictures."""
    return {
        "name": name,
        "duration": "150 s",
        "warmup": "30 s",
        "link": [{"rate": f"{RATE} bit/s", "framing": "ethernet", "forward": name}],
        "traffic": [{"app": "web", "users": 600, "start": "stationary", "tcp": "freebsd-2.2.8"}],
        "record": {"queue_every": "50 ms", "responses": False},
    }


def measured(name: str) -> dict[str, Any]:
    """What a portrait of this discipline shows."""
    outcome = engine.simulate(scenario(name))
    queue, histogram = outcome.tables["queue"], outcome.tables["response_histogram"]
    shown = slice(60 * 20, 90 * 20)
    return {
        "time_s": queue["time_s"].to_numpy()[shown],
        "packets": queue[queue.column_names[-1]].to_numpy()[shown],
        "upper_ms": histogram["upper_ms"].to_numpy()[:-1],
        "count": histogram["count"].to_numpy()[:-1],
        "packet_bytes": outcome.summary["queue_mean_bytes"] / outcome.summary["queue_mean_packets"],
    }


def field_row(field: dict[str, Any]) -> str:
    """One parameter as a row of a table."""
    if field["choices"]:
        allowed = ", ".join(f"`{c}`" for c in field["choices"])
    elif field["type"] == "switch":
        allowed = "`true`, `false`"
    else:
        low, high = field["min"], field["max"]
        above = "above " if field.get("min_excluded") else ""
        low, high = (v if v is None else reference.quantity(v, field) for v in (low, high))
        allowed = f"{above}{low} to {high}" if high is not None else f"{above or 'from '}{low}"
    default = "–" if field["default"] is None else f"`{reference.default(field)}`"
    cells = [
        f"`{field['name']}`",
        field["meaning"],
        field["unit"],
        allowed,
        default,
        field["source"],
    ]
    return "| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ") for c in cells) + " |"


@cache
def characterisation() -> dict[tuple[str, str, str, str], str]:
    """Means of the quick study `rfc7928` by discipline, table, situation and metric."""
    with gzip.open(DOCS / "characterisation.csv.gz", "rt", newline="", encoding="utf-8") as file:
        return {
            (r["discipline"], r["table"], r["situation"], r["metric"]): r["mean"]
            for r in csv.DictReader(file)
        }


SITUATIONS = (
    ("mild congestion", "congestion", "mild"),
    ("medium", "congestion", "medium"),
    ("heavy", "congestion", "heavy"),
    ("one after the other", "changing-load", ""),
    ("line of 10 and 1 Mbit/s, 20 s each", "capacity", "every 20 s"),
    ("0.1 s each", "capacity", "every 0.1 s"),
)
METRICS = ("goodput", "queue_delay_ms", "queue_delay_p95_ms", "drop_pct")
SENTENCE = (
    ("flows of 20 ms get {} times as much as flows of 100 ms", "rtt", "20 ms", "rtt_ratio"),
    ("those of 560 ms {} times", "rtt", "560 ms", "rtt_ratio"),
    ("CUBIC takes {} % beside NewReno", "transports", "CUBIC", "other_share_pct"),
    ("BBRv3 {} %", "transports", "BBRv3", "other_share_pct"),
    (
        "a stream of 80 % of the line that does not listen {} %",
        "transports",
        "UDP at 80 %",
        "other_share_pct",
    ),
    ("in a mix calls are rated R = {}", "mix", "", "call_r"),
    ("a page takes {} s", "mix", "", "page_load_s"),
)


def rounded(number: str, digits: int = 2) -> str:
    """Two significant digits, three above 100; a dash for what is undefined."""
    if not number:
        return "–"
    value = float(number)
    return f"{value:.{digits}g}" if abs(value) < 100 else f"{value:,.0f}"


def characterised(name: str) -> str:
    """What the guidelines of RFC 7928 show of a discipline."""
    found = characterisation()
    if not any(discipline == name for discipline, *_ in found):
        return (
            "The study `rfc7928` does not have it yet: list it in its `disciplines.toml`, and "
            "`make docs` writes its numbers here."
        )
    rows = "\n".join(
        f"| {title} | "
        + " | ".join(
            rounded(found[name, table, situation, metric], 3 if metric == "goodput" else 2)
            for metric in METRICS
        )
        + " |"
        for title, table, situation in SITUATIONS
    )
    parts = (
        text.format(rounded(found[name, table, situation, metric]))
        for text, table, situation, metric in SENTENCE
    )
    described = "; ".join(parts)
    return f"""![{name}: delay against goodput](images/rfc7928/{name}.svg)

| 10 Mbit/s, 83 packets, 100 ms | goodput, Mbit/s | delay, ms | 95 % of the seconds | dropped, % |
| --- | --- | --- | --- | --- |
{rows}

{described[0].upper()}{described[1:]}."""


def entry_text(entry: dict[str, Any]) -> str:
    """One discipline's section."""
    rows = "\n".join(field_row(field) for field in entry["fields"])
    table = f"""| parameter | meaning | unit | allowed | default | source |
| --- | --- | --- | --- | --- | --- |
{rows}
"""
    return f"""## `{entry["name"]}`

{entry["summary"]}

![{entry["name"]}: queue over time, response times](images/aqm/{entry["name"]}.svg)

- **Source** ({entry["year"]}): {entry["source"]}
- **ECN**: {entry["ecn"]}
- **Counts in**: {entry["units"]}
- **Where it differs**: {entry["deviations"]}

{characterised(entry["name"])}

{table if entry["fields"] else "It has no parameters."}"""


def text() -> str:
    """The whole page."""
    entries = engine.catalogue()["aqm"]
    contents = "\n".join(
        f"| [`{e['name']}`](#{e['name']}) | {e['year']} | {e['summary']} |" for e in entries
    )
    return f"""<!-- Written by `make docs` from the registry. Do not edit. -->

# Queue disciplines

Each picture is the same dumbbell: 600 web users on a line of 2 Mbit/s, the discipline at its
defaults in its colour, drop-tail in grey. Left half a minute of the queue, in packets and in the
time that they take on the line, right the response times.
Defaults are the sources' own, not tuned to this line. The senders do not use ECN: `dctcp_step`,
which only marks, is seen as the drop-tail that it then is.

The second picture and the numbers are of the quick study `rfc7928` (`aqmlab study rfc7928`): every
discipline at its defaults, 10 Mbit/s, room for 83 packets, means of three seeds; the
ellipse is one standard deviation of stretches of 5 s under heavy congestion, all others in grey
behind, every one with its name.
The pictures stand in `images/aqm.tar.xz` and `images/rfc7928.tar.xz`: the site shows them, and
`python docs/archive.py unpack docs/images/aqm.tar.xz docs/images/aqm` puts the first beside this
page, and with the other name those of `rfc7928`.

| name | year | what it does |
| --- | --- | --- |
{contents}

{chr(10).join(entry_text(e) for e in entries)}
{(DOCS / "absent.md").read_text(encoding="utf-8")}"""


KEYS = ("<!-- keys:", "<!-- end of keys -->")
"""What stands between these in docs/studies.md is written here."""
ENTRIES = {
    "the file": Experiment,
    '`[part]` `NAME = { … }`, or `NAME = "title"`': Part,
    "`[settings.quick]`, `[settings.full]`": Settings,
    "`[[setup]]`": Setup,
    "`[[calibration]]`": CalibrationRule,
    "`[group.NAME]`": Group,
    "group: `axis`, and `[axis.NAME]`": Axis,
    "axis: `variant`": Variant,
    "`[metric]` `NAME = { … }`": Metric,
    "`[table.ID]`": Table,
    "`[difference.ID]`": Difference,
    "`[figure.ID]`": Figure,
    "`[claim.ID]`, see below": Claim,
    "claim: `condition`": Condition,
    '`[deviation]` `"What" = "text"`': Deviation,
}
"""Entries of an experiment, as they are written, and what they are."""


def keys() -> str:
    """The keys of every entry of an experiment."""
    lines = ["| entry | key | meaning |", "| --- | --- | --- |"]
    for written, shape in ENTRIES.items():
        lines.append(f"| {written} | | {shape.__doc__.strip()} |")
        lines += [
            f"| | `{key.name}`{'' if key.needed else ' (optional)'} | {key.about} |"
            for key in shapes.keys(shape).values()
            if key.name not in ("name", "id", "what", "mode")
        ]
    return "\n".join(lines)


def studies(page: str) -> str:
    """The page about studies with the keys as they are."""
    before, rest = page.split(KEYS[0])
    mark, rest = rest.split("\n", 1)
    after = rest.split(KEYS[1])[1]
    return f"{before}{KEYS[0]}{mark}\n{keys()}\n\n{KEYS[1]}{after}"


MEASURES = ("<!-- measures -->\n", "<!-- end of measures -->")
GROUPS = (
    ("by_group.<group>.", "only where more than one group sends requests"),
    ("voip_by_group.<group>.", "only where several have calls"),
    ("video_by_group.<group>.", "only where several have viewers"),
    ("rtc_by_group.<group>.", "only where several have video calls"),
)


def measure_rows() -> str:
    """The numbers of a summary, those of one unit and meaning in one row."""

    def described(entry: Mapping[str, Any]) -> tuple[str, str]:
        whole = entry["interval"] == "whole run"
        return entry["unit"], entry["summary"] + (", **whole run**" if whole else "")

    rows = [
        (", ".join(f"`{entry['name']}`" for entry in entries), *about)
        for about, entries in groupby(measures.registered(), described)
    ]
    for place, when in GROUPS:
        here = [name for m in measures.registered() for name in m.get("also", [])]
        names = [f"`{n.removeprefix(place)}`" for n in here if n.startswith(place)]
        rows.append((f"`{place}…`", "", f"{', '.join(names)} of one traffic group; {when}"))
    table = [("name", "unit", "meaning"), ("---",) * 3, *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in table)


def results() -> str:
    """The page of results with its table of measures as it is now."""
    page = (DOCS / "results.md").read_text(encoding="utf-8")
    before, rest = page.split(MEASURES[0])
    return before + MEASURES[0] + measure_rows() + MEASURES[1] + rest.split(MEASURES[1])[1]


def figure_kinds() -> str:
    """The page of the kinds of figures: what each collects, draws and takes."""
    sections = [_figure_kind(figures.kind(name)) for name in figures.of_studies()]
    every = ", ".join(f"`{name}`" for name in shapes.keys(Figure))
    return f"""<!-- Written by `make docs` from the kinds' own files. Do not edit. -->

# Kinds of figures

A `[[figure]]` of a study says of which kind it is and what it is drawn of. Every kind may have
{every};
`wide` is whether the figure takes the whole width of a page. What else a kind takes is said below;
a value of another type is refused before anything runs.

{chr(10).join(sections)}"""


def _figure_kind(kind: figures.Kind) -> str:
    """A kind's section: its sentence, what it collects, and its keys."""
    rows = [
        f"| `{key.name}` | {said(key.type)} | {_default(key)} |"
        for key in sorted(kind.keys.values(), key=lambda key: (not key.needed, key.name))
    ]
    table = "\n".join(["| key | is | default |", "| --- | --- | --- |", *rows])
    return (
        f"## `{kind.name}`\n\n{kind.about}\n\n{cleandoc(kind.collect.__doc__ or '')}\n\n{table}\n"
    )


def _default(key: Key) -> str:
    """What a key is if an entry does not say it."""
    if key.needed:
        return "needed"
    plain = isinstance(key.default, str | int | float) and key.default != ""
    return f"`{json.dumps(key.default)}`" if plain else ""


def main() -> None:
    """Writes text and pictures; `--text` leaves the pictures alone."""
    (DOCS / "figures.md").write_text(figure_kinds(), encoding="utf-8")
    (DOCS / "algorithms.md").write_text(text(), encoding="utf-8")
    page = DOCS / "studies.md"
    page.write_text(studies(page.read_text(encoding="utf-8")), encoding="utf-8")
    (DOCS / "results.md").write_text(results(), encoding="utf-8")
    if "--text" in sys.argv:
        return
    pictures = {}
    reference = measured(REFERENCE)
    for entry in engine.catalogue()["aqm"]:
        name = entry["name"]
        this = measured(name)
        data = {"this": this, "ms_per_packet": 8e3 * this["packet_bytes"] / RATE}
        if name != REFERENCE:
            data["reference"] = reference
        figure = figures.draw("portrait", data, title=name, reference=REFERENCE)
        pictures[f"{name}.svg"] = figures.to_svg(figure).encode()
    archive.write(archive.PORTRAITS, pictures)


if __name__ == "__main__":
    main()
