"""What crosses a link as a capture file (pcap) that Wireshark reads, see docs/results.md."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aqmlab.errors import AqmlabError, SpecError
from aqmlab.sweep import Run

ARRIVAL, DEPARTURE = "arrival", "departure"
POINTS = (DEPARTURE, ARRIVAL)
SUFFIX = ".pcap"


@dataclass(frozen=True)
class Capture:
    """Which packets of a run go into which file."""

    path: Path
    ports: tuple[str, ...] = ()
    """Names of ports, such as `bottleneck.forward`; none: both directions of the first link."""
    at: str = DEPARTURE
    """`departure`: what crossed the link. `arrival`: what was sent to it, before the queue may drop
    or mark it."""

    def __post_init__(self) -> None:
        if self.at not in POINTS:
            raise SpecError(
                f'a capture is made at "{DEPARTURE}" or "{ARRIVAL}", not at "{self.at}": '
                "choose one of them"
            )
        if self.path.suffix != SUFFIX:
            raise SpecError(f"{self.path}: a capture is a {SUFFIX} file: give it such a name")

    @contextlib.contextmanager
    def writing(self) -> Iterator[Callable[[bytes], object]]:
        """What takes the file's bytes; the file appears whole at the end or not at all."""
        from aqmlab import files

        try:
            with files.whole(self.path) as draft, draft.open("wb") as file:
                yield file.write
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise AqmlabError(
                f"{self.path}: cannot be written ({reason}): give another --pcap"
            ) from error


def of_runs(capture: Capture | None, runs: Sequence[Run]) -> list[Capture | None]:
    """The capture of each run: with several runs a file each, `<name>.v<variant>.s<seed>.pcap`."""
    if capture is None or len(runs) == 1:
        return [capture] * len(runs)
    return [replace(capture, path=_numbered(capture.path, run, runs)) for run in runs]


def _numbered(path: Path, run: Run, runs: Sequence[Run]) -> Path:
    variant = f".v{run.variant}" if any(other.variant for other in runs) else ""
    return path.with_name(f"{path.stem}{variant}.s{run.seed}{path.suffix}")
