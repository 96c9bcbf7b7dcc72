"""The studies by name or folder, for the command line.

A new study is a folder with an `experiment.toml`, among those shipped or anywhere else. Reading the
list is fast: modules for drawing and statistics are loaded only when a study runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.errors import StoreError
from aqmlab.experiment.folders import find, head, shipped
from aqmlab.io import files
from aqmlab.io.terminal import say
from aqmlab.simulator.forms import Entry

if TYPE_CHECKING:
    from rich.console import Console

    from aqmlab.tables.document import Line

ALL = "all"
LONGEST_NAME = 200
"""Longest name of a folder in bytes; file systems permit 255."""

#: The default folder of results.
RESULTS = Path("results")


def show(console: Console) -> None:
    """Prints the studies with their parts, their figures and the number of their claims."""
    from rich.text import Text

    for described in names():
        console.print(
            Text.assemble((described["name"], "bold"), f"  {described.get('summary', '')}")
        )
        for word, of in (("parts", described["parts"]), ("figures", described["figures"])):
            console.print(Text(f"  {word}: {', '.join(of)}"))
        console.print(Text(f"  claims: {len(described['claims'])}\n"))


class Described(Entry):
    """A study: its question, its parts, the identifiers of its figures and claims; `settings` has
    the durations of the quick and the full study."""

    question: str
    settings: Mapping[str, Any]
    parts: list[str]
    figures: list[str]
    claims: list[str]


def names() -> list[Described]:
    """The descriptions of the studies that come with the package."""
    return [describe(name) for name in shipped()]


def summaries() -> list[Entry]:
    """The studies that come with the package, each with a summary of one line."""
    heads = {name: head(find(name)) for name in shipped()}
    return [
        {"name": name, "summary": f"{described['title']}: {described['subtitle']}"}
        for name, described in heads.items()
    ]


def describe(name: str) -> Described:
    """The description of one study: its question, source, parts and durations."""
    from aqmlab.experiment import compiled

    return compiled.described(find(name), "description", lambda: _described(name))


def _described(name: str) -> Described:
    from aqmlab.experiment.experiment import load
    from aqmlab.experiment.shapes import written

    experiment = load(name)
    return {
        "name": name,
        "summary": f"{experiment.title}: {experiment.subtitle}",
        "question": experiment.question,
        "source": experiment.source,
        "settings": written(experiment.settings),
        "parts": experiment.parts,
        "figures": [figure.id for figure in experiment.figure],
        "claims": [claim.id for claim in experiment.claim],
    }


def score_card(name: str, folder: Path | None = None) -> list[Line]:
    """Every claim of a study, with its verdict if the study has been run, else as inconclusive.

    Results are read from `folder`, or else from the default folder of the full or quick study.
    """
    from aqmlab.claims import cache

    place = find(name)
    study = name_of(name)
    if folder is not None:
        stored = cache.stored(folder, study)
    else:
        stored = next(filter(None, _usual(name)), None)
    known = {row["id"]: row for row in stored or []}
    return [cache.current(line, known.get(line["id"])) for line in cache.lines(study, place)]


def has_results(name: str, folder: Path | None = None) -> bool:
    """Whether `score_card` finds stored results of this study."""
    return any(_usual(name, folder))


def _usual(name: str, folder: Path | None = None) -> Iterator[list[Line] | None]:
    """Yields a study's stored score card in `folder`, or else those in the default folders of a
    full and of a quick run; None for a folder without one. A damaged one is reported and
    skipped."""
    from aqmlab.claims import cache

    study = name_of(name)
    for place in [folder] if folder else [default_folder(study, quick) for quick in (False, True)]:
        try:
            yield cache.stored(place, study)
        except StoreError as error:
            say(str(error))


def name_of(given: str) -> str:
    """The name of a study that is given by name, file or folder."""
    if given in shipped():
        return head(find(given))["name"]
    from aqmlab.experiment.experiment import load

    return load(given).name


def default_folder(name: str, quick: bool = False) -> Path:
    """The default folder of results: `results/<name>`, with only safe characters in the name.

    A name that had to be changed or shortened gets a hash as its suffix, so that no two names share
    a folder.
    """
    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip(".")
    if safe != name or len(safe.encode()) > LONGEST_NAME:
        mark = files.digest(name.encode("utf-8", "surrogatepass"))[:8]
        short = safe.encode()[: LONGEST_NAME - 10].decode("utf-8", "ignore")
        safe = f"{short or 'scenario'}-{mark}"
    return RESULTS / (f"{safe}-quick" if quick else safe)
