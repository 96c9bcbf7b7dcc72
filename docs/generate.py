"""Writes docs/algorithms.md and its pictures from the registry: `make docs`.

The text is the registry's own; each picture is a run of the same dumbbell (600 web users on
2 Mbit/s, half a minute of it shown) with the discipline at its defaults, beside drop-tail.
A test holds the text to the registry; pictures change only when a discipline does.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from aqmlab import engine, figures, reference

DOCS = Path(__file__).parent
REFERENCE = "droptail"


def scenario(name: str) -> dict[str, Any]:
    """The dumbbell of the pictures."""
    return {
        "name": name,
        "duration": "150 s",
        "warmup": "30 s",
        "link": [{"rate": "2 Mbit/s", "framing": "ethernet", "forward": name}],
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
defaults in blue, drop-tail in grey. Left half a minute of the queue, right the response times.
Defaults are the sources' own, not tuned to this line. The senders do not use ECN: `dctcp_step`,
which only marks, is seen as the drop-tail that it then is.

| name | year | what it does |
| --- | --- | --- |
{contents}

{chr(10).join(entry_text(e) for e in entries)}"""


def main() -> None:
    """Writes text and pictures; `--text` leaves the pictures alone."""
    (DOCS / "algorithms.md").write_text(text(), encoding="utf-8")
    if "--text" in sys.argv:
        return
    folder = DOCS / "images" / "aqm"
    folder.mkdir(parents=True, exist_ok=True)
    reference = measured(REFERENCE)
    for entry in engine.catalogue()["aqm"]:
        name = entry["name"]
        data = {"this": measured(name)}
        if name != REFERENCE:
            data["reference"] = reference
        figure = figures.draw("portrait", data, title=name, reference=REFERENCE)
        (folder / f"{name}.svg").write_text(figures.to_svg(figure), encoding="utf-8")


if __name__ == "__main__":
    main()
