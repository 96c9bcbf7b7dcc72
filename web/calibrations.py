"""Writes web/calibrations.json: users measured for a load, for the page's story and its web models.

    python web/calibrations.py [JOBS]

Each entry is what `aqmlab calibrate` measures (twelve runs on an uncongested link), with its
scenario and where it comes from. Entries that are there are kept; remove one to measure it again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from aqmlab.errors import CalibrationError
from aqmlab.runs.calibrate import SEEDS, calibrate
from aqmlab.simulator import engine

WEB = Path(__file__).parent
FILE = WEB / "calibrations.json"
STORY = "tuning-red"
MODELS = ("mah-fit", "mah-raw")
APPS = ("unc", "webtraf", "web-2024", "http")
"""In place of the story's, with defaults and the end systems that the page then begins with."""


def scenarios() -> dict[str, dict[str, Any]]:
    """The story about load with each of these web models, and with all of a link asked for."""
    presets = json.loads((WEB / "presets.json").read_text())
    shared = next(preset for preset in presets if preset["name"] == STORY)["state"]["shared"]
    (group,) = shared["traffic"]
    bare = {name: value for name, value in group.items() if name != "users"}
    groups = {model: {**bare, "model": model} for model in MODELS}
    groups |= {app: {"app": app, "tcp": "plain"} for app in APPS}
    return {
        name: {**shared, "traffic": [{**group, "load": "100%"}]} for name, group in groups.items()
    }


def measured(scenario: dict[str, Any], jobs: int) -> dict[str, Any]:
    """The slope of the line from users to bytes a second, its 95 % interval, its origin."""
    line = calibrate(scenario, jobs=jobs)
    version = engine.version()
    return {
        "bytes_per_user_s": line.bytes_per_user_s,
        "low": line.ci[0],
        "high": line.ci[1],
        "r_squared": line.r_squared,
        "source": f"aqmlab {version.version}, build {version.build}: {len(line.points)} runs, "
        f"seeds {SEEDS[0]} to {SEEDS[-1]}",
    }


def main() -> None:
    """Measures what is missing, entry by entry."""
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    known = json.loads(FILE.read_text()) if FILE.is_file() else []
    for name, scenario in scenarios().items():
        if all(entry["name"] != name for entry in known):
            try:
                found = measured(scenario, jobs)
            except CalibrationError as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
            known.append({"name": name, "scenario": scenario, **found})
            FILE.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
