"""What `describe trace FILE` shows: the recording's format, means, and bars over its time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.errors import SpecError
from aqmlab.experiment.inlining import found, read_table
from aqmlab.io import terminal
from aqmlab.runs.screen import LEVELS, PLAIN, bars
from aqmlab.simulator import engine
from aqmlab.simulator.forms import TraceShown

if TYPE_CHECKING:
    from collections.abc import Callable


def answer(path: Path, json: bool) -> None:
    """Prints what the file holds."""
    try:
        shown = engine.trace(read_table(found(Path(), str(path)), "trace"))
    except SpecError as error:
        raise error if str(path) in str(error) else SpecError(f"{path}: {error}") from error
    if json:
        from .commands import print_json

        print_json({"file": str(path), **shown})
        return
    for line in lines(path.name, shown):
        terminal.console().print(line, markup=False, highlight=False, soft_wrap=True)


def lines(name: str, shown: TraceShown) -> list[str]:
    """A heading, and two lines for each column."""
    kind = "rows of a table" if shown["format"] == "table" else "opportunities to send 1,500 B"
    heading = (
        f"{terminal.printable(name)}: {shown['rows']:,} {kind}, {shown['lasts_s']:,.6g} s, "
        "then it begins anew"
    )
    levels = LEVELS if terminal.is_unicode() else PLAIN
    drawn = [heading]
    for column in shown["series"]:
        words = _WORDS[column["name"]]
        least, mean, most = (words(column[key]) for key in ("min", "mean", "max"))
        drawn += [
            f"{column['name']:<6}{least} to {most}, mean {mean}",
            f"      |{bars(column['curve'], levels)}|",
        ]
    return drawn


def _rate(bits_per_s: float) -> str:
    return f"{bits_per_s / 1e6:,.4g} Mbit/s"


_WORDS: dict[str, Callable[[float], str]] = {
    "rate": _rate,
    "delay": lambda seconds: f"{1e3 * seconds:,.4g} ms",
    "loss": lambda share: f"{100 * share:.3g} %",
}
