"""All steps of `aqmlab learn`: from a capture to the files of model, scenario and page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.errors import SpecError
from aqmlab.io.files import reported
from aqmlab.runs.progress import Progress

from . import model, reading, scenario
from .model import Header

SUFFIX = ".traffic.jsonl"


@dataclass(frozen=True)
class Answer:
    """The files that `aqmlab learn` wrote, and facts about the capture."""

    model: Path
    scenario: Path | None
    """The scenario's file; None if the model has no connections to replay."""
    page: Path | None
    header: Header
    """The content of the first line of the model's file: facts about the capture, and the
    distributions of its connections."""

    def document(self) -> dict[str, Any]:
        """The JSON document of `aqmlab learn --json`."""
        paths = {"model": self.model, "scenario": self.scenario, "page": self.page}
        return {name: str(path) if path else None for name, path in paths.items()} | self.header


def learn(
    capture: Path,
    *,
    out: Path | None = None,
    inside: Sequence[str] = (),
    figures: bool = False,
    progress: Progress | None = None,
) -> Answer:
    """Reads a capture and writes its traffic model (by default next to it), a scenario that replays
    the model, and with `figures` a page about the capture.

    `inside` are addresses of one side of the link, such as `10.0.0.0/8`.
    """
    path = out if out is not None else capture.with_name(_stem(capture) + SUFFIX)
    if path.resolve() == capture.resolve():
        raise SpecError(f"{path} is the capture itself: give another --out")
    if not _is_unicode(path.name):
        raise SpecError(
            f"{path}: a scenario cannot name a file that is no UTF-8: give another --out"
        )
    stem = path.name.removesuffix(SUFFIX).removesuffix(".jsonl")
    with reading.read(capture, inside, progress or Progress()) as learned:
        header = model.header(learned)
        with reported(path):
            model.write(path, header, learned)
    written = page = None
    if header["connections"]:
        written = path.with_name(f"{stem}.replay.toml")
        with reported(written):
            scenario.write(written, path.name, header)
    if figures:
        from . import page as pages

        page = path.with_name(f"{stem}.html")
        with reported(page):
            pages.write(page, capture.name, path.name, header, learned.report)
    return Answer(path, written, page, header)


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _stem(capture: Path) -> str:
    """The name of a capture without its suffixes: `day` for `day.pcap.gz`."""
    name = capture.name.removesuffix(".gz")
    for suffix in (".pcapng", ".pcap", ".cap"):
        name = name.removesuffix(suffix)
    return name or "capture"
