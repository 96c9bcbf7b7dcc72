"""Progress of long work: simulated over real time, and time left, on standard error only."""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from html import escape
from typing import IO, Any

from aqmlab.io.terminal import printable
from aqmlab.simulator.forms import Look

from .pace import Pace

Watch = tuple[Callable[[Look], object], float]
"""A function that receives snapshots of a running simulation, and the width of its bins in
seconds."""


class Progress:
    """Counts simulated seconds over batches of runs; this base class shows nothing.

    Threads report through `advance` and `finish`; displays override `_open_display` and
    `_show`.
    """

    watch: Callable[[int], Watch] | None = None
    """For displays that show the inside of runs: gives the `Watch` of the run with an index."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._pace = Pace()
        self._later: Mapping[Hashable, float] = {}
        self.including = ""
        self._busy_s = 0.0
        self.begin("", ())

    def expect(self, later: Mapping[Hashable, float], including: str = "") -> None:
        """Announces the work after the next batch, in simulated seconds by kind of run.

        It counts as time left. `including` names the part of it that is not certain.
        """
        self._later, self.including = later, including

    def begin(
        self,
        title: str,
        lengths_s: Sequence[float],
        already: int = 0,
        *,
        of_bytes: bool = False,
        kinds: Sequence[Hashable] | None = None,
    ) -> None:
        """A batch of runs of these lengths starts; `already` more were finished before.

        Runs of one of the `kinds` take about equal time. `of_bytes`: the work is reading a file,
        whose length is in bytes.
        """
        self.title = title
        self.of_bytes = of_bytes
        self.already = already
        self.lengths = list(lengths_s)
        self.kinds = list(kinds) if kinds is not None else [""] * len(self.lengths)
        self.done = [0.0] * len(self.lengths)
        # The sums of `lengths` and `done` are kept, since a batch may have tens of thousands of
        # runs.
        self.total_s = sum(self.lengths)
        self.done_s = 0.0
        self.finished = 0
        self.began = self._clock()
        self._seen = [self.began] * len(self.lengths)
        self._open: dict[Hashable, float] = {}
        for kind, length in zip(self.kinds, self.lengths, strict=True):
            self._open[kind] = self._open.get(kind, 0.0) + length
        self._open_display()
        self._show()

    def start(self, run: int, ago_s: float = 0.0) -> None:
        """Run number `run` of the batch starts, or started `ago_s` seconds ago."""
        self._seen[run] = self._clock() - ago_s

    def advance(self, run: int, simulated_s: float) -> None:
        """Run number `run` of the batch has reached the simulated time `simulated_s`."""
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
        now, kind = self._clock(), self.kinds[run]
        more = simulated_s - self.done[run]
        self._pace.learn(kind, now - self._seen[run], more)
        self._open[kind] -= more
        self._seen[run] = now
        self.done_s += more
        self.done[run] = simulated_s

    def end(self) -> None:
        """Records that the batch of runs is over."""
        self._busy_s += self._clock() - self.began

    @property
    def fraction(self) -> float:
        """The finished share of all work, by its estimated cost."""
        left = self._left_core_s
        if self.finished == len(self.lengths) and not self._later:
            return 1.0
        whole = self._pace.spent_s + left
        return min(1.0, self._pace.spent_s / whole) if whole > 0 else 0.0

    @property
    def _left_core_s(self) -> float:
        left = max(0.0, self._pace.cost_s(self._open))
        return left + self._pace.cost_s(self._later)

    @property
    def ratio(self) -> float | None:
        """Simulated seconds per real second, over all threads; None before the first progress."""
        wall = self._clock() - self.began
        return self.done_s / wall if wall > 0 and self.done_s > 0 else None

    @property
    def left_s(self) -> float | None:
        """Estimated seconds until all work is done, at the parallelism so far; None before the
        first progress."""
        spent = self._pace.spent_s
        wall = self._busy_s + self._clock() - self.began
        return self._left_core_s * wall / spent if spent > 0 else None

    def sentence(self) -> str:
        """The progress as text: `runs: 3 of 10, 41 %, 2,100 x real time, 1:10 left`."""
        done = f"{100 * self.fraction:.0f} %"
        total = len(self.lengths) + self.already
        parts = [done] if self.of_bytes else [f"{self.finished + self.already} of {total}", done]
        if self.ratio is not None and self.left_s is not None:
            pace = (
                f"{self.ratio / 1e6:,.0f} MB/s"
                if self.of_bytes
                else f"{self.ratio:,.0f} x real time"
            )
            included = f" with {self.including}" if self._later and self.including else ""
            parts += [pace, f"{clock_text(self.left_s)} left{included}"]
        return f"{self.title}: {', '.join(parts)}"

    def _open_display(self) -> None:
        """Opens the display; called when a batch of runs begins."""

    def _show(self) -> None:
        """Updates the display; called with the lock held whenever a number has changed."""


class Lines(Progress):
    """Progress for logs: one plain line every 10 s."""

    EVERY_S = 10.0

    def __init__(self, stream: IO[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._last = clock()
        super().__init__(clock)

    def _open_display(self) -> None:
        # The first line is printed after some time, so that short work prints nothing.
        self._last = self._clock()

    def _show(self) -> None:
        now = self._clock()
        if self.lengths and now - self._last >= self.EVERY_S:
            self._last = now
            # A stream that is full or closed does not end the run.
            with contextlib.suppress(OSError, ValueError):
                print(self.sentence(), file=self._stream, flush=True)


class Bar(Progress):
    """Progress for terminals: a bar that is removed when the work is done."""

    EVERY_S = 0.1

    def __init__(self, stream: IO[str]) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._rich = RichProgress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[detail]}", markup=False),
            console=Console(file=stream),
            transient=True,
        )
        self._task: Any = None
        self._last = -math.inf
        super().__init__()

    def _open_display(self) -> None:
        self._remove()
        if self.lengths:
            self._rich.start()
            self._task = self._rich.add_task(printable(self.title), total=1.0, detail="")

    def end(self) -> None:
        """As in the base class; also removes the bar."""
        super().end()
        self._remove()

    def _remove(self) -> None:
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


class Notebook(Progress):
    """Progress for notebooks: a bar below the cell that is removed when the work is done."""

    EVERY_S = 0.25

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._place: Any = None
        self._last = -math.inf
        super().__init__(clock)

    def _open_display(self) -> None:
        from IPython.display import display  # pyright: ignore[reportMissingImports]

        self._last = -math.inf
        if self.lengths and self._place is None:
            self._place = display(_Html(""), display_id=True)

    def _show(self) -> None:
        now = self._clock()
        if self._place is not None and now - self._last >= self.EVERY_S:
            self._last = now
            words = escape(printable(self.sentence()))
            bar = f'<progress max="1" value="{self.fraction:.3f}"></progress>'
            self._place.update(_Html(f"<div>{bar} <code>{words}</code></div>"))

    def end(self) -> None:
        """As in the base class; also removes the bar."""
        super().end()
        if self._place is not None:
            self._place.update(_Html(""))
            self._place = None


class _Html:
    """A text that a notebook displays as HTML."""

    def __init__(self, text: str) -> None:
        self._text = text

    def _repr_html_(self) -> str:
        return self._text


def for_python(wanted: bool | None) -> Progress | None:
    """The display for `aqmlab.run`: by default a bar, only in terminals and notebooks; None for
    none."""
    if wanted is False:
        return None
    if _in_notebook():
        return Notebook()
    if wanted or (sys.stderr is not None and sys.stderr.isatty()):
        return for_stream()
    return None


def _in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, which uses IPython's
    `ZMQInteractiveShell`."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return type(running).__name__ == "ZMQInteractiveShell"


def for_stream(stream: IO[str] | None = None) -> Progress:
    """A bar on a terminal, lines elsewhere."""
    target: IO[str] | None = sys.stderr if stream is None else stream
    if target is None:  # the program has no console
        return Progress()
    return Bar(target) if target.isatty() else Lines(target)


def clock_text(seconds: float) -> str:
    """A duration as `1:02:03` or `2:03`."""
    whole = max(0, round(seconds))
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
