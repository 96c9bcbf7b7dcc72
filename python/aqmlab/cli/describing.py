"""What `describe` answers of a name: its entry, and the distributions that it draws from."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from aqmlab.errors import AqmlabError
from aqmlab.io import terminal
from aqmlab.io.terminal import printable
from aqmlab.simulator.forms import Entry

from . import distributions, reference
from .typed import typed


def answer(
    name: str, settings: Sequence[str], rate: str, json: bool, plot: bool, out: Path | None
) -> None:
    """Prints the entry, and draws its distributions on request."""
    if name == "trace" and len(settings) == 1 and "=" not in settings[0]:
        from . import traces

        traces.answer(Path(settings[0]), json)
        return
    table = Path(name) if name.endswith(distributions.SUFFIX) else None
    entry: Entry
    if table is None:
        with typed({"rate": f"--rate {rate}"}):
            entry = reference.described(name, settings, rate)
    else:
        entry = {"name": name, "kind": "table"}
    variables = distributions.of_file(table) if table else distributions.of_entry(entry)
    if plot and not variables:
        raise AqmlabError(
            f"{name} draws from no distribution: give a traffic model such as mah, or a table (CSV)"
        )
    if json:
        from .commands import print_json

        print_json({**entry, "variables": variables} if variables else entry)
    else:
        reference.show_entry(entry, terminal.console())
        from . import translations

        if described := translations.in_own_words(entry):
            terminal.console().print(described, markup=False, highlight=False)
        if variables:
            distributions.show(variables, terminal.console())
    if plot:
        stem = table.with_suffix("") if table else Path(name.rpartition("/")[2])
        path = distributions.plot(variables, name, out or stem.with_name(f"{stem.name}.svg"))
        print(printable(str(path)), file=sys.stderr if json else sys.stdout)
