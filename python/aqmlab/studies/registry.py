"""The list of studies; all that the command line knows of them.

A new study is a folder in `experiments/`, a module beside this one and a line here. Reading the
list is cheap: drawing and statistics are loaded when a study runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.errors import SpecError, nearest

from .experiment import Experiment, load

if TYPE_CHECKING:
    from aqmlab.progress import Progress

    from .study import Study


def _tuning_red() -> Study:
    from .tuning_red import study

    return study()


STUDIES: dict[str, Callable[[], Study]] = {
    "tuning-red": _tuning_red,
}


def names() -> list[dict[str, Any]]:
    """The studies that `run` knows: name, what they ask, their parts and how long they run."""
    return [describe(name) for name in STUDIES]


def describe(name: str) -> dict[str, Any]:
    """What one study asks, whom it follows, its parts and how long it runs."""
    data = _experiment(name).data
    told = {k: data[k] for k in ("question", "source", "parts", "settings")}
    return {"name": name, "summary": f"{data['title']}: {data['subtitle']}", **told}


def check_parts(name: str, parts: Sequence[str] | None) -> None:
    """Complains about a study or a part of it that does not exist."""
    _experiment(name).check_parts(list(parts or []))


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
    _experiment(name)
    folder = Path(out) if out is not None else default_folder(name, quick)
    result = STUDIES[name]().run(quick=quick, out=folder, progress=progress, jobs=jobs, parts=parts)
    paths = {"folder": str(folder), "report": str(folder / "report.html")}
    return result | paths | {"lines": result["headlines"]}


def default_folder(name: str, quick: bool) -> Path:
    """Where a study's results go if nobody says otherwise."""
    return Path("results") / (f"{name}-quick" if quick else name)


def _experiment(name: str) -> Experiment:
    if name not in STUDIES:
        known = ", ".join(STUDIES)
        raise SpecError(f'no study "{name}"{nearest(name, list(STUDIES))} (known: {known})')
    return load(name)
