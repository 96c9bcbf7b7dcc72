"""Studies by name or folder: all that the command line knows of them.

A new study is a folder with an `experiment.toml`, among those shipped or anywhere else. Reading the
list is cheap: drawing and statistics are loaded when a study runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.errors import AqmlabError, StoreError
from aqmlab.experiment.folders import find, head, shipped
from aqmlab.io.terminal import say

if TYPE_CHECKING:
    from rich.console import Console

    from aqmlab.runs.progress import Progress

ALL = "all"

#: Where results go if nobody says otherwise.
RESULTS = Path("results")


def show(console: Console) -> None:
    """The studies with their parts, their figures and the number of their claims, for people."""
    from rich.text import Text

    for told in names():
        console.print(Text.assemble((told["name"], "bold"), f"  {told['summary']}"))
        for word, of in (("parts", told["parts"]), ("figures", told["figures"])):
            console.print(Text(f"  {word}: {', '.join(of)}"))
        console.print(Text(f"  claims: {len(told['claims'])}\n"))


def names() -> list[dict[str, Any]]:
    """The studies that come along: name, what they ask, their parts and how long they run."""
    return [describe(name) for name in shipped()]


def summaries() -> list[dict[str, Any]]:
    """The studies with what each is, in a line."""
    heads = {name: head(find(name)) for name in shipped()}
    return [
        {"name": name, "summary": f"{told['title']}: {told['subtitle']}"}
        for name, told in heads.items()
    ]


def describe(name: str) -> dict[str, Any]:
    """What one study asks, whom it follows, its parts and how long it runs."""
    from aqmlab.experiment import compiled

    return compiled.told(find(name), "description", lambda: _described(name))


def _described(name: str) -> dict[str, Any]:
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


def check_parts(name: str, parts: Sequence[str] | None) -> None:
    """Complains about a study or a part of it that does not exist."""
    from aqmlab.experiment.experiment import load

    load(name).check_parts(list(parts or []))


def run(
    name: str,
    *,
    quick: bool = True,
    out: Path | str | None = None,
    progress: Progress | None = None,
    jobs: int | None = None,
    parts: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Runs a study (or some of its parts) into `out`.

    Writes tables, figures, `result.json` and `report.html`, and gives what `result.json` holds,
    with `folder` and `report` (their paths) and `lines` (the findings in a few sentences).
    Finished runs are never done again.
    """
    from aqmlab.experiment.experiment import load

    from .study import Study

    folder = Path(out) if out is not None else default_folder(name, quick)
    study = Study(load(name))
    result = study.run(quick=quick, out=folder, progress=progress, jobs=jobs, parts=parts)
    paths = {"folder": str(folder), "report": str(folder / "report.html")}
    return result | paths | {"lines": result["headlines"]}


def draw(
    name: str,
    figure: str,
    *,
    quick: bool = True,
    out: Path | str | None = None,
    progress: Progress | None = None,
    jobs: int | None = None,
) -> Path:
    """Runs only what one figure of a study needs, and gives the path of its SVG."""
    from aqmlab.experiment.experiment import load

    from .study import Study

    folder = Path(out) if out is not None else default_folder(name, quick)
    study = Study(load(name))
    path = study.draw(figure, quick=quick, out=folder, progress=progress, jobs=jobs)
    if path is None:
        mode = "quick" if quick else "full"
        raise AqmlabError(f"figure {figure} of {name} has nothing to show in the {mode} study")
    return path


def score_card(name: str, folder: Path | None = None) -> list[dict[str, Any]]:
    """Every claim of a study: with its verdict where the study has been run, else undecided.

    Looks into `folder`, or into the full and then the quick study's usual place.
    """
    from aqmlab.claims import kept

    place = find(name)
    study = head(place)["name"]
    if folder is not None:
        stored = kept.stored(folder, study)
    else:
        stored = next(filter(None, _usual(name)), None)
    known = {row["id"]: row for row in stored or []}
    return [kept.current(line, known.get(line["id"])) for line in kept.lines(study, place)]


def has_results(name: str, folder: Path | None = None) -> bool:
    """Whether a score card of this study has anything to read, where `score_card` looks."""
    return any(_usual(name, folder))


def _usual(name: str, folder: Path | None = None) -> Iterator[list[dict[str, Any]] | None]:
    """The stored score cards of the places where one may be; a damaged one is as good as none."""
    from aqmlab.claims import kept

    study = head(find(name))["name"]
    for place in [folder] if folder else [default_folder(name, quick) for quick in (False, True)]:
        try:
            yield kept.stored(place, study)
        except StoreError as error:
            say(str(error))


def default_folder(name: str, quick: bool) -> Path:
    """Where a study's results go if nobody says otherwise."""
    study = head(find(name))["name"]
    return RESULTS / (f"{study}-quick" if quick else study)
