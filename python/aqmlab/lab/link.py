"""A scenario as a link of the page: what stands behind `#` in its address (`web/scenario.js`)."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from aqmlab.errors import SpecError
from aqmlab.experiment import plan
from aqmlab.experiment.experiment import load
from aqmlab.experiment.spec import loaded_group
from aqmlab.simulator import engine
from aqmlab.simulator.forms import Scenario
from aqmlab.simulator.plugin import source

LONGEST = 65_536
"""Characters of a link that the page reads (`MOST_TEXT` of `web/scenario.js`)."""
MOST = 16
"""Links and traffic groups that the page shows."""


def fragment(file: Path) -> str:
    """The scenario of a file on both sides, with the fingerprint of its run here: the page says
    whether its own are equal. The run happens first.

    Raises SpecError where the file holds no single scenario that a tab can run.
    """
    scenario = _only(file)
    shown = engine.simulate(scenario).summary["fingerprint"]
    own = [{"forward": link.get("forward", "droptail")} for link in scenario["link"]]
    state = {"shared": scenario, "sides": [{"link": own}, {"link": own}]}
    known = engine.version()
    text = json.dumps({"build": known.build, "fingerprints": [shown, shown], "state": state})
    encoded = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    if len(encoded) > LONGEST:
        raise SpecError(
            f"{file}: its link has {len(encoded)} characters, more than {LONGEST}: leave out tables"
        )
    return encoded


def _only(file: Path) -> Scenario:
    """The scenario of a file that holds one."""
    experiment = load(file)
    settings = experiment.settings["full"]
    runs = plan.make(experiment, settings, _loads, experiment.group).runs()
    if not experiment.swept or len(runs) != 1:
        raise SpecError(f"{file}: it holds {len(runs)} runs, the page shows one: name a scenario")
    scenario = runs[0].scenario
    if own := source.tables(scenario):
        raise SpecError(
            f"{file}: {own[0]['name']} is a program, which a tab does not run: use aqmlab run"
        )
    if loaded_group(scenario) is not None:
        raise SpecError(f"{file}: its load becomes users before the run: give users")
    if max(len(scenario["link"]), len(scenario["traffic"])) > MOST:
        raise SpecError(f"{file}: the page shows at most {MOST} links and {MOST} groups")
    return scenario


def _loads(_base: str | None, load: str) -> dict[str, object]:
    raise SpecError(f"a load of {load} becomes users before the run: give users")
