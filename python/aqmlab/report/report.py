"""Makes `report.html` from a results folder: one file without links to the network; nothing is run
again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from jinja2 import UndefinedError
from markupsafe import Markup, escape

from aqmlab.claims import cache, reassessed
from aqmlab.errors import StoreError
from aqmlab.experiment.altered import suffix
from aqmlab.io.files import reported
from aqmlab.io.terminal import printable
from aqmlab.runs.store import Store

from . import setup
from .templates import environment, script, style


def write(folder: Path | str) -> Path:
    """Writes `report.html` into a study's results folder, from what is stored there."""
    folder = Path(folder)
    stored = folder / "result.json"
    if not stored.exists():
        raise StoreError(
            f"{folder} has no result.json: give a folder in which `aqmlab study` or `aqmlab run` "
            "has finished"
        )
    store = Store.existing(folder)
    result = store.read_json(stored.name)
    try:
        cache.renamed(result.get("claims"))
        pictures = {f["id"]: store.contents.read(f["file"]).decode() for f in result["figures"]}
        page = render(result, pictures)
    except (LookupError, TypeError, AttributeError, UndefinedError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else error
        raise StoreError(
            f"{stored} is incomplete ({reason}): run the study again, finished runs are not "
            "repeated"
        ) from error
    with reported(folder), store.writing("report.html") as draft:
        draft.write_text(page, encoding="utf-8")
    return folder / "report.html"


def render(result: Mapping, pictures: Mapping[str, str]) -> str:
    """The page of a result and its figures (SVG text by figure identifier). It has no side
    effects."""
    described = {part["name"]: part for part in result["all_parts"]}
    parts = [_part(result, described[name], pictures) for name in result["parts"]]
    drawn = {figure["id"]: figure for part in parts for figure in part["figures"]}
    return (
        environment(drawing=_drawing, code=code)
        .get_template("page.html.jinja")
        .render(
            r={"swept": False, "sets": None} | dict(result),
            parts=parts,
            lead=drawn.get(result["lead"]) or next(iter(drawn.values()), None),
            again=reassessed.pairs(result["claims"]),
            missing=[
                part["title"] for name, part in described.items() if name not in result["parts"]
            ],
            command=command(result),
            whole=command({**result, "quick": False}),
            style=style(),
            script=script(),
        )
    )


def _drawing(one: Mapping) -> Markup:
    """The drawing of a set-up, as SVG for the page."""
    scenario = one["scenario"]
    picture = setup.drawing(scenario, one["varied"])
    return inline(picture, "setup", setup.described(scenario))


def command(result: Mapping, *, part: str | None = None, figure: str | None = None) -> str:
    """The command that repeats a study, or one part or one figure of it."""
    if result.get("swept"):
        files = list(result["files"])
        return f"aqmlab run {files[0]} --report" if files else "aqmlab report FOLDER"
    # A study with two sets is carried out with both, so the command names none, unless one of them
    # is only recorded.
    both = result.get("sets") and not result["sets"].get("recorded")
    chosen = "" if both else result.get("set", "")
    changes = result.get("changes") or ()
    name = result["name"].removesuffix(f"-{suffix(changes)}").removesuffix(f"-{chosen}")
    words = ["aqmlab", "study", name, "--quick" if result["quick"] else "--full"]
    words += ["--assume", chosen] if chosen else []
    words += [f"--set {shlex.quote(one)}" for one in changes]
    words += ["--part", part] if part else []
    return " ".join(words + (["--figure", figure] if figure else []))


def _part(result: Mapping, part: Mapping, pictures: Mapping[str, str]) -> dict:
    name = part["name"]
    return {
        "name": name,
        "title": part["title"],
        "text": part["text"],
        "command": command(result, part=name),
        "tables": [_wide(t, result["metrics"]) for t in result["tables"] if t["part"] == name],
        "figures": [
            f
            | {
                "svg": inline(pictures[f["id"]], f"f{f['id']}", _described(f)),
                "command": command(result, figure=f["id"]),
            }
            for f in result["figures"]
            if f["part"] == name
        ],
    }


def _described(figure: Mapping) -> str:
    """A text in place of a figure for readers who cannot see it: title and note with its
    numbers."""
    return " ".join(filter(None, (f"{figure['name']}: {figure['title']}.", figure["note"])))


def _wide(table: Mapping, metrics: list[Mapping]) -> dict:
    """The rows of a table (one per cell and metric) as lines with one column per metric."""
    shown = [m for name in table["metrics"] for m in metrics if m["name"] == name]
    lines: dict[tuple, dict[str, Mapping]] = {}
    for row in table["rows"]:
        place = tuple(row[key] for key in table["keys"])
        lines.setdefault(place, {})[row["metric"]] = row
    return dict(table) | {
        "names": [_key_name(key) for key in table["keys"]],
        "lines": [
            {
                "place": place,
                "first": index == 0 or list(lines)[index - 1][0] != place[0],
                "cells": [cells.get(m["name"]) for m in shown],
            }
            for index, (place, cells) in enumerate(lines.items())
        ],
        "metrics": shown,
        "seeds": max((row["n"] for row in table["rows"]), default=0),
    }


def _key_name(key: str) -> str:
    known = {
        "load_pct": "Load, %",
        "load": "Load, %",
        "queue_limit_pkts": "Limit, packets",
        "thresholds": "Thresholds, packets",
    }
    return known.get(key, key.replace("_", " ").capitalize())


def code(text: str) -> Markup:
    """A TOML text as HTML, with its comments in a lighter style."""
    lines = (
        Markup("<i>{}</i>").format(line) if line.lstrip().startswith("#") else escape(line)
        for line in printable(text.strip(), keep="\n\t").splitlines()
    )
    return Markup("\n").join(lines)


_SHARED = {
    "#1a1a1a": "ink",
    "#6b6b6b": "soft",
    "#e4e4e4": "line",
    "#ffffff": "paper",
}
"""Colours of a drawing that are replaced by the page's variables, so that the drawing follows the
page's dark mode."""


def inline(svg: str, prefix: str, label: str) -> Markup:
    """A stand-alone SVG prepared for a page with other SVGs: with unique ids, without size and
    metadata."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r"<style[^>]*>.*?</style>", "", svg, flags=re.S)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'xlink:href="#', f'href="#{prefix}-', svg)
    svg = svg.replace("url(#", f"url(#{prefix}-")
    head, rest = svg.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None, "an SVG without a viewBox"
    for colour, name in _SHARED.items():
        rest = rest.replace(colour, f"var(--{name})")
    opening = Markup('<svg role="img" aria-label="{}" ').format(printable(label)) + Markup(
        box[0] + ">"
    )
    return opening + Markup(rest)
