"""How far long work is: simulated/wall ratio and time left, on standard error only."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO, Any


class Progress:
    """Counts simulated seconds over a batch of runs; this base class shows nothing.

    Threads report through `advance` and `finish`; displays override `_show`.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self.begin("", ())

    def begin(
        self,
        title: str,
        lengths_s: Sequence[float],
        already: int = 0,
        *,
        of_bytes: bool = False,
    ) -> None:
        """A batch of runs of these lengths starts; `already` more were finished before.

        `of_bytes`: it is a file that is read, and the one length is in bytes.
        """
        self.title = title
        self.of_bytes = of_bytes
        self.already = already
        self.lengths = list(lengths_s)
        self.done = [0.0] * len(self.lengths)
        # Sums of both, kept: a batch may have tens of thousands of runs.
        self.total_s = sum(self.lengths)
        self.done_s = 0.0
        self.finished = 0
        self.began = self._clock()
        self._show()

    def advance(self, run: int, simulated_s: float) -> None:
        """Run number `run` of the batch has come to `simulated_s`."""
        with self._lock:
            self._set(run, min(simulated_s, self.lengths[run]))
            self._show()

    def finish(self, run: int) -> None:
        """Run number `run` of the batch is finished."""
        with self._lock:
            self._set(run, self.lengths[run])
            self.finished += 1
            self._show()

    def _set(self, run: int, simulated_s: float) -> None:
        self.done_s += simulated_s - self.done[run]
        self.done[run] = simulated_s

    def end(self) -> None:
        """The batch is over."""

    @property
    def fraction(self) -> float:
        """The finished part of the batch, by simulated time."""
        all_done = self.finished == len(self.lengths) or self.total_s == 0
        return 1.0 if all_done else min(1.0, self.done_s / self.total_s)

    @property
    def ratio(self) -> float | None:
        """Simulated seconds per second, all threads together."""
        wall = self._clock() - self.began
        return self.done_s / wall if wall > 0 and self.done_s > 0 else None

    @property
    def left_s(self) -> float | None:
        """Seconds until the batch is finished at the present pace."""
        ratio = self.ratio
        return max(0.0, self.total_s - self.done_s) / ratio if ratio else None

    def sentence(self) -> str:
        """For example `runs: 3 of 10, 41 %, 2,100 x real time, 1:10 left`."""
        done = f"{100 * self.fraction:.0f} %"
        total = len(self.lengths) + self.already
        parts = [done] if self.of_bytes else [f"{self.finished + self.already} of {total}", done]
        if self.ratio is not None and self.left_s is not None:
            pace = (
                f"{self.ratio / 1e6:,.0f} MB/s"
                if self.of_bytes
                else f"{self.ratio:,.0f} x real time"
            )
            parts += [pace, f"{clock_text(self.left_s)} left"]
        return f"{self.title}: {', '.join(parts)}"

    def _show(self) -> None:
        """Called under the lock whenever a number has changed."""


class Lines(Progress):
    """For logs: one plain line now and then."""

    EVERY_S = 10.0

    def __init__(self, stream: IO[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._last = clock()
        super().__init__(clock)

    def begin(
        self,
        title: str,
        lengths_s: Sequence[float],
        already: int = 0,
        *,
        of_bytes: bool = False,
    ) -> None:
        """As the base; the first line comes after a while, so that short work stays silent."""
        self._last = self._clock()
        super().begin(title, lengths_s, already, of_bytes=of_bytes)

    def _show(self) -> None:
        now = self._clock()
        if self.lengths and now - self._last >= self.EVERY_S:
            self._last = now
            print(self.sentence(), file=self._stream, flush=True)


class Bar(Progress):
    """For terminals: a bar that is gone when the work is done."""

    EVERY_S = 0.1

    def __init__(self, stream: IO[str]) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._rich = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[detail]}"),
            console=Console(file=stream),
            transient=True,
        )
        self._task: Any = None
        self._last = -math.inf
        super().__init__()

    def begin(
        self,
        title: str,
        lengths_s: Sequence[float],
        already: int = 0,
        *,
        of_bytes: bool = False,
    ) -> None:
        """As the base; shows a new bar."""
        self.end()
        if lengths_s:
            self._rich.start()
            self._task = self._rich.add_task(title, total=1.0, detail="")
        super().begin(title, lengths_s, already, of_bytes=of_bytes)

    def end(self) -> None:
        """Removes the bar."""
        if self._task is not None:
            self._rich.remove_task(self._task)
            self._rich.stop()
            self._task = None

    def _show(self) -> None:
        now = self._clock()
        if self._task is not None and now - self._last >= self.EVERY_S:
            self._last = now
            detail = self.sentence().removeprefix(f"{self.title}: ")
            self._rich.update(self._task, completed=self.fraction, detail=detail)


def for_stream(stream: IO[str] | None = None) -> Progress:
    """A bar on a terminal, lines elsewhere."""
    target: IO[str] | None = sys.stderr if stream is None else stream
    if target is None:  # a program without a console
        return Progress()
    return Bar(target) if target.isatty() else Lines(target)


def clock_text(seconds: float) -> str:
    """`1:02:03` or `2:03`."""
    whole = max(0, round(seconds))
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
