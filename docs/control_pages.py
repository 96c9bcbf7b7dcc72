"""Writes docs/controls/NAME.md for every congestion control of a finished study rfc9743.

Usage: python docs/control_pages.py FOLDER   (as `aqmlab study rfc9743 --out FOLDER` left it)
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from aqmlab.errors import StoreError
from aqmlab.io.files import read_sealed
from aqmlab.runs.contents import Contents
from aqmlab.simulator import engine

PAGES = Path(__file__).with_name("controls")
REFERENCE = "cubic"
QUEUED = ("FQ-CoDel",)
"""Queues that keep flows apart: a control's share behind them says little of the control."""

Rows = list[dict[str, str]]


def number(row: dict[str, str], digits: int = 1) -> str:
    """A mean and half of its 95 % interval."""
    if not row["ours"]:
        return "-"
    mean = f"{float(row['ours']):,.{digits}f}"
    if not row["low"] or not row["high"]:
        return mean
    half = (float(row["high"]) - float(row["low"])) / 2
    return f"{mean} ± {half:,.{digits}f}"


class Found:
    """One table of the study."""

    def __init__(self, text: str) -> None:
        self.rows: Rows = list(csv.DictReader(io.StringIO(text)))

    def names(self, key: str) -> list[str]:
        """The values of a key, in the order of the study."""
        return list(dict.fromkeys(row[key] for row in self.rows))

    def one(self, metric: str, **where: str) -> dict[str, str]:
        """The row of a metric."""
        wanted = {"metric": metric, **where}
        return next(row for row in self.rows if wanted.items() <= row.items())


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of Markdown: the first column to the left, numbers to the right."""
    lines = [f"| {' | '.join(head)} |", f"| --- |{' ---: |' * (len(head) - 1)}"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows), ""]


def answer(name: str, alone: Found, beside: Found) -> str:
    """What the tables say in a sentence."""
    used = {s: alone.one("used_pct", situation=s, control=name) for s in alone.names("situation")}
    least = min(used, key=lambda one: float(used[one]["ours"]))
    most = max(float(row["ours"]) for row in used.values())
    shares = {
        q: float(beside.one("over_cubic", queue=q, control=name)["ours"])
        for q in beside.names("queue")
        if q not in QUEUED
    }
    low, high = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
    text = f"Two flows use {float(used[least]['ours']):.0f} % ({least}) to {most:.0f} % of the line"
    if name == REFERENCE:
        return f"{text}. The other controls are compared with it."
    return (
        f"{text}; beside one flow of CUBIC in one queue it gets {shares[low]:.2g} ({low}) to "
        f"{shares[high]:.2g} ({high}) times what CUBIC gets."
    )


def page(entry: dict[str, str], tables: dict[str, Found], about: str) -> str:
    """The page of a control."""
    name, alone, beside, people = entry["name"], *(tables[t] for t in ("alone", "beside", "people"))
    collapse = tables["collapse"]
    lines = [f"# {name}", "", f"*{entry['summary']}.*", "", answer(name, alone, beside), "", about]
    lines += ["", "## Two flows of its own kind", ""]
    metrics = (("used_pct", 0), ("delay_ms", 1), ("delay_p99_ms", 1), ("drop_pct", 2), ("jain", 2))
    head = ("situation (section)", "line used, %", "packets wait, ms", "99 %, ms", "lost, %")
    lines += table(
        (*head, "Jain's index", "cubic: line used, %"),
        (
            (
                each,
                *(number(alone.one(m, situation=each, control=name), d) for m, d in metrics),
                number(alone.one("used_pct", situation=each, control=REFERENCE), 0),
            )
            for each in alone.names("situation")
        ),
    )
    lines += ["## Beside one flow of CUBIC", ""]
    shown = (("goodput", 2), ("cubic", 2), ("over_cubic", 2), ("delay_ms", 1))
    lines += table(
        ("queue", "Mbit/s", "CUBIC, Mbit/s", "over CUBIC", "packets wait, ms"),
        (
            (each, *(number(beside.one(m, queue=each, control=name), d) for m, d in shown))
            for each in beside.names("queue")
        ),
    )
    lines += ["## Beside calls and pages", ""]
    shown = (("call_r", 1), ("page_s", 2), ("page_p95_s", 2), ("delay_p99_ms", 0), ("goodput", 2))
    lines += table(
        ("queue", "calls, R", "pages, median, s", "95 %, s", "wait, 99 %, ms", "its Mbit/s"),
        (
            (each, *(number(people.one(m, queue=each, control=name), d) for m, d in shown))
            for each in people.names("queue")
        ),
    )
    crowd = {m: number(collapse.one(m, control=name)) for m in ("used_pct", "drop_pct", "timeouts")}
    lines += [
        "## Sixty flows on 1 Mbit/s",
        "",
        f"The line is used to {crowd['used_pct']} %, {crowd['drop_pct']} % of the packets are lost "
        f"and {crowd['timeouts']} timeouts expire (section 5.1.1: congestion collapse).",
        "",
    ]
    return "\n".join(lines)


def main(folders: list[str]) -> int:
    """Writes the pages from one folder."""
    (folder,) = map(Path, folders)
    contents = Contents.load(folder)
    if contents is None:
        raise StoreError(f"{folder} holds no results: give the folder of a study's --out")
    described = json.loads(contents.read("result.json"))
    made = str(read_sealed(folder / "manifest.json")["created"])[:10]
    parts = ("alone", "beside", "people", "collapse")
    tables = {part: Found(contents.read(f"tables/{part}.csv").decode()) for part in parts}
    about = (
        f"`aqmlab study rfc9743 --{'quick' if described['quick'] else 'full'}`, {made}, commit "
        f"`{described['versions']['commit'][:8]}`, {described['seeds']} seeds, means with half of "
        "their 95 % intervals; hosts are Linux of today, the line has 20 Mbit/s and 40 ms where "
        "nothing else stands ([the study](../../python/aqmlab/experiments/rfc9743/README.md) after "
        "RFC 9743). Written by `python docs/control_pages.py`: do not edit."
    )
    judged = set(tables["alone"].names("control"))
    PAGES.mkdir(exist_ok=True)
    for entry in engine.catalogue()["congestion"]:
        if entry["name"] in judged:
            (PAGES / f"{entry['name']}.md").write_text(page(entry, tables, about), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
