"""The distributions of a traffic model, or of a table of one's own, in numbers and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.errors import AqmlabError, SpecError
from aqmlab.experiment.inlining import read_table
from aqmlab.simulator import engine
from aqmlab.simulator.forms import Entry, Variable

if TYPE_CHECKING:
    from rich.console import Console

SUFFIX = ".csv"
_UNITS = {"bytes": "B", "time": "s", "count": "", "": ""}


def of_file(path: Path) -> list[Variable]:
    """The one variable of a table in the format of the shipped ones."""
    text = read_table(path)
    try:
        return [engine.table(path.stem, text, _unit(text))]
    except SpecError as error:
        raise SpecError(f"{path}: {error}; mend the table") from error


def _unit(text: str) -> str:
    """The unit that the comments of a table name."""
    words = next((line for line in text.splitlines() if line.startswith("# unit:")), "").lower()
    if "byte" in words:
        return "bytes"
    if "second" in words:
        return "time"
    return "count" if "count" in words else ""


def of_entry(entry: Entry) -> list[Variable]:
    """The variables of a traffic application's models; none of anything else."""
    return [variable for model in entry.get("models", []) for variable in engine.variables(model)]


def show(variables: list[Variable], console: Console) -> None:
    """A table with one row for every variable."""
    from rich.table import Table

    shares = [share for share, _ in variables[0]["quantiles"]]
    table = Table(title="distributions", title_justify="left")
    table.add_column("variable")
    for column in ("mean", "sd", "mean of min(x, 1 MB)"):
        table.add_column(column, justify="right")
    for share in shares:
        table.add_column(f"{100 * share:g} %", justify="right")
    for variable in variables:
        unit = _UNITS.get(variable["unit"], "")
        numbers = (variable["mean"], variable["sd"], variable["capped_mean"])
        quantiles = [value for _, value in variable["quantiles"]]
        cells = [_number(value) for value in (*numbers, *quantiles)]
        if variable["capped_mean"] is None:
            cells[2] = ""
        table.add_row(variable["name"] + (f", {unit}" if unit else ""), *cells)
    console.print(table)


def _number(value: float | None) -> str:
    if value is None:
        return "infinite"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def plot(variables: list[Variable], title: str, path: Path) -> Path:
    """Draws them into an SVG or PNG file, whichever its name says."""
    from aqmlab import figures

    kind = path.suffix.lower()
    if kind not in (".svg", ".png"):
        raise AqmlabError(f"{path}: a picture is .svg or .png: give it such a name")
    figure = figures.draw("distributions", {"variables": variables}, title=title)
    try:
        if kind == ".png":
            path.write_bytes(figures.to_png(figure))
        else:
            path.write_text(figures.to_svg(figure), encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise AqmlabError(f"{path}: cannot be written ({reason}): give another --out") from error
    return path
