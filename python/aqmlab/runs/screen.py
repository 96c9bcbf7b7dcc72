"""Draws running simulations on the terminal: queue, throughput, losses and marks over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import IO

from aqmlab.simulator.forms import Look

from .progress import Progress, Watch

WIDTH = 56
"""Number of columns of a plot; each is an equal share of the run's duration."""
LEVELS = " ▁▂▃▄▅▆▇█"
PLAIN = " .:-=+*#%"


def bars(values: Sequence[float], levels: str = LEVELS) -> str:
    """One character for each value, whose height is its share of the largest value."""
    most = max(values, default=0.0)
    if most <= 0:
        return levels[0] * len(values)
    steps = len(levels) - 1
    return "".join(levels[math.ceil(v / most * steps)] for v in values)


class Series:
    """The largest value of each of `WIDTH` equal parts of a run."""

    def __init__(self, length_s: float) -> None:
        self._length_s = length_s
        self.values = [0.0] * WIDTH

    def add(self, at_s: float, value: float) -> None:
        """Adds a value at a simulated time."""
        place = min(WIDTH - 1, int(at_s / self._length_s * WIDTH))
        self.values[place] = max(self.values[place], value)


class Screen(Progress):
    """Draws the runs in progress one below the other, updated in place on a terminal."""

    def __init__(self, stream: IO[str]) -> None:
        from rich.console import Console
        from rich.live import Live

        encoding = (getattr(stream, "encoding", None) or "ascii").lower()
        self._levels = LEVELS if encoding.startswith("utf") else PLAIN
        self._plots: dict[int, dict[str, tuple[Series, str]]] = {}
        self._live = Live(console=Console(file=stream), auto_refresh=False)
        super().__init__()

    def watch(self, run: int) -> Watch:  # type: ignore[override]
        """The function that receives snapshots of run number `run`, and the width of its bins in
        seconds."""
        length = self.lengths[run]
        units = {"queue": "packets", "sent": "Mbit/s", "lost": "packets/s", "marked": "packets/s"}
        self._plots[run] = {name: (Series(length), unit) for name, unit in units.items()}
        return self._looking(run), length / (10 * WIDTH)

    def _looking(self, run: int) -> Callable[[Look], None]:
        def look(seen: Look) -> None:
            with self._lock:
                self._take(self._plots[run], seen)
                self._draw()

        return look

    @staticmethod
    def _take(plots: dict[str, tuple[Series, str]], seen: Look) -> None:
        port = seen["ports"][0]
        queue = port["queue"]
        for i, packets in enumerate(queue["most"]):
            plots["queue"][0].add(queue["from_s"] + i * queue["width_s"], packets)
        for i, sent in enumerate(port["ip_bytes"]):
            at = seen["from_s"] + i
            plots["sent"][0].add(at, sent * 8 / 1e6)
            for name, counted in (("lost", port["drops"]), ("marked", port["marks"])):
                plots[name][0].add(at, sum(counts[i] for counts in counted.values()))

    def _draw(self) -> None:
        from rich.text import Text

        lines = [self.sentence()]
        for run, plots in sorted(self._plots.items()):
            if len(self.lengths) > 1:
                lines.append(f"run {run + 1}")
            for name, (series, unit) in plots.items():
                drawn = bars(series.values, self._levels)
                lines.append(f"{name:>6} |{drawn}| {max(series.values):.4g} {unit}")
        self._live.start()
        self._live.update(Text("\n".join(lines), no_wrap=True), refresh=True)

    def finish(self, run: int) -> None:
        """As the base class; of several runs only those in progress stay on the screen."""
        super().finish(run)
        with self._lock:
            if len(self._plots) > 1:
                del self._plots[run]

    def end(self) -> None:
        """As the base class; the last picture stays on the screen."""
        super().end()
        self._live.stop()
        self._plots.clear()
