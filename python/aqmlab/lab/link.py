"""Encodes a scenario as the fragment (after `#`) of the page's address (`web/scenario.js`), and
finds the user's own congestion controls that the page needs for it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from aqmlab.errors import SpecError
from aqmlab.experiment import plan
from aqmlab.experiment.experiment import load
from aqmlab.experiment.spec import loaded_group
from aqmlab.simulator import engine
from aqmlab.simulator.forms import ProgramTable, Scenario
from aqmlab.simulator.plugin import source

LONGEST = 65_536
"""Largest number of characters of the fragment, the text after `#` in the page's address, that the
page reads (`MOST_TEXT` of `web/scenario.js`)."""
MOST = 16
"""Largest number of links, and of traffic groups, that the page shows."""


class Opened(NamedTuple):
    """The fragment of the page's address that has the scenario to open, and the modules that the
    page loads."""

    fragment: str
    """The text after `#` in the page's address."""
    controls: list[Path]
    """Paths of WebAssembly modules: the user's own congestion controls that the scenario names."""


def opened(file: Path) -> Opened:
    """Encodes the scenario of a file as the fragment of an address of the page.

    Both of the sides that the page compares get this scenario. The fragment also has the
    fingerprint of a run by this installation; the page compares it with that of its own run.

    Raises SpecError if the file does not hold a single scenario that a tab can run.
    """
    scenario = _only(file)
    controls = [_module(file, table) for table in source.tables(scenario)]
    shown = engine.simulate(scenario).summary["fingerprint"]
    named = [_named(group) for group in scenario["traffic"]]
    own = [{"forward": link.get("forward", "droptail")} for link in scenario["link"]]
    shared = {**scenario, "traffic": named}
    state = {"shared": shared, "sides": [{"link": own}, {"link": own}]}
    known = engine.version()
    text = json.dumps({"build": known.build, "fingerprints": [shown, shown], "state": state})
    encoded = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    if len(encoded) > LONGEST:
        raise SpecError(
            f"{file}: its link has {len(encoded)} characters, more than {LONGEST}: leave out tables"
        )
    return Opened(encoded, controls)


def _module(file: Path, table: ProgramTable) -> Path:
    """The WebAssembly module that `make wasm` writes next to a control's library."""
    name, library = table["name"], Path(table["file"])
    if source.described(table).get("kind") != "congestion" or library.suffix == source.PYTHON:
        raise SpecError(
            f"{file}: {name} is a program that a tab does not run: use aqmlab run, or write a "
            "congestion control in C or Rust"
        )
    module = library.with_name(library.stem.removeprefix("lib")).with_suffix(".wasm")
    if not module.is_file():
        raise SpecError(f"{file}: a tab runs {name} as {module}, which is not there: make wasm")
    return module


def _named(group: Mapping[str, object]) -> dict[str, object]:
    """A traffic group in which the user's own congestion control is only named, without source or
    path."""
    tcp = group.get("tcp")
    control = tcp.get("congestion") if isinstance(tcp, Mapping) else None
    table = control.get("name") if isinstance(control, Mapping) else None
    if not (
        isinstance(tcp, Mapping) and isinstance(control, Mapping) and isinstance(table, Mapping)
    ):
        return dict(group)
    return {**group, "tcp": {**tcp, "congestion": {**control, "name": table["name"]}}}


def _only(file: Path) -> Scenario:
    """The scenario of a file with exactly one run."""
    experiment = load(file)
    settings = experiment.settings["full"]
    runs = plan.make(experiment, settings, _loads, experiment.group).runs()
    if not experiment.swept or len(runs) != 1:
        raise SpecError(f"{file}: it holds {len(runs)} runs, the page shows one: name a scenario")
    scenario = runs[0].scenario
    if loaded_group(scenario) is not None:
        raise SpecError(f"{file}: its load becomes users before the run: give users")
    if max(len(scenario["link"]), len(scenario["traffic"])) > MOST:
        raise SpecError(f"{file}: the page shows at most {MOST} links and {MOST} groups")
    return scenario


def _loads(_base: str | None, load: str) -> dict[str, object]:
    raise SpecError(f"a load of {load} becomes users before the run: give users")
