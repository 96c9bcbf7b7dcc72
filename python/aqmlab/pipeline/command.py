"""All steps of `aqmlab study`: which studies, where they go, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aqmlab.errors import AqmlabError, SpecError
from aqmlab.experiment.folders import shipped
from aqmlab.io.terminal import printable
from aqmlab.runs.progress import for_stream
from aqmlab.runs.store import Store

from . import registry


def chosen(name: str, part: list[str] | None, figure: str | None) -> Sequence[str]:
    """The studies that a name stands for, before anything is discarded for them."""
    every = name == registry.ALL
    if figure is not None and (part or every):
        raise SpecError("--figure draws one figure of one study: leave out --part and `all`")
    names = shipped() if every else [name]
    for each in names:
        registry.check_parts(each, None if every else part)
    if every and part:
        raise SpecError("--part names a part of one study: give its name in place of `all`")
    return names


def with_claims(study: list[str] | None, out: Path | None, run: bool) -> list[str]:
    """The studies whose claims are asked for: those named, else all; `out` is that of one."""
    named = study or shipped()
    if out is not None and len(named) != 1:
        raise SpecError("--out is the folder of one study: name it with --study")
    if out is not None and not run and not (out / "result.json").is_file():
        raise AqmlabError(
            f"{out} has no result.json: give a folder in which `aqmlab study` has finished, "
            "or --run"
        )
    return named


def folder_of(name: str, quick: bool, out: Path | None, *, within: bool) -> Path:
    """Where a study goes; all of them go into folders of their own within the one given."""
    usual = registry.default_folder(name, quick)
    if out is None:
        return usual
    return out / usual.name if within else out


def carry_out(
    name: str,
    quick: bool,
    part: list[str] | None,
    figure: str | None,
    folder: Path,
    jobs: int | None,
    fresh: bool,
    refresh: bool,
) -> dict[str, Any]:
    """Runs a study, or what one of its figures needs, and gives what `--json` prints.

    `fresh` discards what the folder holds, `refresh` only what another version wrote.
    """
    if fresh or (refresh and Store.is_stale(folder)):
        Store.open(folder, fresh=True)
    usual: dict[str, Any] = {
        "quick": quick,
        "out": folder,
        "progress": for_stream(),
        "jobs": jobs,
    }
    if figure is not None:
        return {"figure": str(registry.draw(name, figure, **usual))}
    return registry.run(name, parts=part or None, **usual)


def tell(answer: dict[str, Any], folder: Path) -> None:
    """The findings, and where the report or the figure is."""
    for line in answer.get("lines", []):
        print(printable(line))
    print(printable(str(answer.get("figure") or answer.get("report", folder / "report.html"))))
