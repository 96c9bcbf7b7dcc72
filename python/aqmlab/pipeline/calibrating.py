"""Loads of a study to users (or to rates of connections): one calibration for each base."""

from __future__ import annotations

from collections.abc import Mapping

from aqmlab import units
from aqmlab.errors import SpecError
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.plan import Loads, axes_of, is_load
from aqmlab.runs import calibrate
from aqmlab.runs.laboratory import Laboratory
from aqmlab.tables import loads as loads_
from aqmlab.tables.loads import Target
from aqmlab.tables.material import Material


def how(experiment: Experiment, base: str | None) -> dict:
    """What the experiment says of the calibration of a base."""
    for entry in experiment.of("calibration"):
        if entry.get("base") == base:
            return entry
    raise SpecError(
        f"{experiment.name}: a group asks for a load of {base or 'scenario'}, "
        "which has no [[calibration]]"
    )


def measure(
    experiment: Experiment,
    base: str | None,
    settings: dict,
    laboratory: Laboratory,
    loads: list[str],
) -> dict:
    """The line from users to bytes per second, and the users that offer each of these loads."""
    entry = how(experiment, base)
    first = entry.get("traffic", [0])[0]
    scenario = _loaded({**settings, **experiment.base(base)}, first)
    rate = units.bits_per_s(entry["rate"])
    found = {"rate": entry["rate"], "full_bytes_per_s": rate / 8, "traffic": entry.get("traffic")}
    if calibrate.is_open_loop(scenario):
        users = {load: _rate_for(scenario, first, load) for load in loads}
        return found | {"open_loop": True, "users": users}
    own = {k: settings[k] for k in ("duration", "warmup") if k in settings}
    times = own | settings.get("calibration", {})
    also = entry.get("traffic", [0])[1:] if entry.get("together") else []
    seeds = tuple(range(1, settings["calibration_seeds"] + 1))
    line = laboratory.calibrate(scenario, seeds=seeds, also=also, **times)
    multiple = entry.get("multiple_of", 1)
    return found | {
        "open_loop": False,
        "bytes_per_user_s": line.bytes_per_user_s,
        "ip_per_asked": line.ip_per_asked,
        "r_squared": line.r_squared,
        "low": line.ci[0],
        "high": line.ci[1],
        "points": [list(point) for point in line.points],
        "users": {load: line.users_for(units.share(load), rate, multiple) for load in loads},
    }


def _loaded(scenario: Mapping, traffic: int) -> dict:
    """The scenario with this group given by its load, as a calibration wants it."""
    groups = [dict(group) for group in scenario["traffic"]]
    bare = {k: v for k, v in groups[traffic].items() if k not in ("users", calibrate.RATE)}
    groups[traffic] = bare | {"load": "100%"}
    kept = {k: v for k, v in scenario.items() if k in ("network", "link", "record", "name")}
    times = {k: scenario[k] for k in ("duration", "warmup") if k in scenario}
    return kept | times | {"traffic": groups}


def _rate_for(scenario: dict, traffic: int, load: str) -> float:
    groups = list(scenario["traffic"])
    groups[traffic] = groups[traffic] | {"load": load}
    resolved = calibrate.resolve(scenario | {"traffic": groups})
    return resolved["traffic"][traffic][calibrate.RATE]


def lookup(experiment: Experiment, calibrations: Mapping[str | None, dict]) -> Loads:
    """What a load sets in the scenarios of a base."""

    def loads(base: str | None, load: str) -> dict[str, object]:
        number: object = calibrations[base]["users"][load]
        return dict.fromkeys(fields(experiment, base), number)

    return loads


def fields(experiment: Experiment, base: str | None) -> list[str]:
    """The fields of a base's scenarios that a load sets: users, or an open loop's rates."""
    places = how(experiment, base).get("traffic", [0])
    name = calibrate.RATE if _open_loop(experiment, base) else "users"
    return [f"traffic.{place}.{name}" for place in places]


def _open_loop(experiment: Experiment, base: str | None) -> bool:
    first = how(experiment, base).get("traffic", [0])[0]
    return calibrate.is_open_loop(_loaded(experiment.base(base), first))


def loads_of(groups: list[dict], base: str | None) -> list[str]:
    """The loads that these groups ask of a base, and 100 %, smallest first."""
    found = {"100%"} | {
        value
        for group in groups
        if group.get("base") == base
        for axis in axes_of(group)
        if is_load(axis)
        for value in axis["values"]
    }
    return sorted(found, key=units.share)


def targets(
    experiment: Experiment, base: str | None, load: str, calibrations: Mapping[str | None, dict]
) -> list[Target]:
    """What a load asks of the groups of a base."""
    places = how(experiment, base).get("traffic", [0])
    ratio = calibrations[base].get("ip_per_asked")
    return [Target(place, units.share(load), ratio) for place in places]


def remarks(experiment: Experiment, material: Material) -> list[str]:
    """One line for each load of each scenario that its users did not ask for."""
    groups = {group["name"]: group for group in experiment.of("group")}
    found: dict[tuple[str, int], str] = {}
    for cell in material.plan.cells:
        group = groups[cell.group]
        loads = [str(cell.axes[axis["name"]]) for axis in axes_of(group) if is_load(axis)]
        for load in loads:
            scenario = material.plan.scenarios[cell.key]
            summaries = [run.summary for run in material.runs(cell)]
            where = ", ".join([cell.group, *cell.labels.values()])
            for target in targets(experiment, group.get("base"), load, material.calibrations):
                line = loads_.remark(scenario, target, summaries)
                if line is not None:
                    found.setdefault((cell.key, target.group), f"{where}: {line}")
    return list(found.values())
