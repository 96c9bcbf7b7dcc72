"""Studies: a published experiment done again, from one command to a report.

This list is all that the command line knows of them; a new study is a folder in `experiments/`, and
a line here. Reading the list is cheap: drawing and statistics are loaded when a study runs.
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


def names() -> list[str]:
    """The studies that `run` knows."""
    return list(STUDIES)


def describe(name: str) -> dict[str, Any]:
    """What a study asks, whom it follows, its parts and how long it runs."""
    data = _experiment(name).data
    return {k: data[k] for k in ("name", "title", "question", "source", "parts", "settings")}


def run(
    name: str,
    *,
    quick: bool = True,
    out: Path | str | None = None,
    progress: Progress | None = None,
    jobs: int | None = None,
    parts: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Runs a study (or some of its parts) into `out`, by default `results/<name>-quick|-full`.

    Writes tables, figures, `result.json` and `report.html`, and gives what `result.json` holds
    with `folder` and `report`, their paths. Finished runs are never done again.
    """
    _experiment(name)
    folder = Path(out) if out is not None else default_folder(name, quick)
    result = STUDIES[name]().run(
        quick=quick, out=folder, progress=progress, jobs=jobs, parts=parts
    )
    return result | {"folder": str(folder), "report": str(folder / "report.html")}


def default_folder(name: str, quick: bool) -> Path:
    """Where a study's results go if nobody says otherwise."""
    return Path("results") / f"{name}-{'quick' if quick else 'full'}"


def _experiment(name: str) -> Experiment:
    if name not in STUDIES:
        known = ", ".join(STUDIES)
        raise SpecError(f'unknown study "{name}"{nearest(name, names())} (known: {known})')
    return load(name)


__all__ = ["STUDIES", "default_folder", "describe", "names", "run"]
