"""Writes packets on a link to a capture file (pcap), which Wireshark can read; see
docs/results.md."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from aqmlab.errors import AqmlabError, SpecError

ARRIVAL, DEPARTURE = "arrival", "departure"
POINTS = (DEPARTURE, ARRIVAL)
SUFFIX = ".pcap"


@dataclass(frozen=True)
class Capture:
    """The packets of a run that are captured, and the file to which they are written."""

    path: Path
    ports: tuple[str, ...] = ()
    """Names of ports, such as `bottleneck.forward`; empty for both directions of the first link."""
    at: str = DEPARTURE
    """`departure` captures packets that crossed the link; `arrival` captures packets as they
    arrive, before the queue may drop or mark them."""

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
        """A function that writes bytes to the file, which is renamed at the end, or removed after
        an error."""
        from aqmlab.io import files

        try:
            with files.whole(self.path) as draft, draft.open("wb") as file:
                yield file.write
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise AqmlabError(
                f"{self.path}: cannot be written ({reason}): give another --pcap"
            ) from error
