"""Loads of a study to users (or to rates of connections): one calibration for each base."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aqmlab import units
from aqmlab.errors import SpecError
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.grammar import CalibrationRule, Group, Settings
from aqmlab.experiment.plan import Loads
from aqmlab.experiment.shapes import written
from aqmlab.runs import calibrate
from aqmlab.runs.laboratory import Laboratory
from aqmlab.tables import loads as loads_
from aqmlab.tables.loads import Target
from aqmlab.tables.material import Material


def how(experiment: Experiment, base: str | None) -> CalibrationRule:
    """What the experiment says of the calibration of a base."""
    for entry in experiment.calibration:
        if entry.base == base:
            return entry
    raise SpecError(
        f"{experiment.name}: a group asks for a load of {base or 'scenario'}, "
        "which has no [[calibration]]"
    )


def measure(
    experiment: Experiment,
    base: str | None,
    settings: Settings,
    laboratory: Laboratory,
    loads: list[str],
) -> dict:
    """The line from users to bytes per second, and the users that offer each of these loads."""
    rule = how(experiment, base)
    first, *others = rule.places
    usual = {"duration": settings.duration, "warmup": settings.warmup}
    own = {name: time for name, time in usual.items() if time is not None}
    scenario = _loaded({**own, **experiment.base(base)}, first)
    rate = units.bits_per_s(rule.rate)
    found = {"rate": rule.rate, "full_bytes_per_s": rate / 8, "traffic": written(rule.traffic)}
    if calibrate.is_open_loop(scenario):
        users = {load: _rate_for(scenario, first, load) for load in loads}
        return found | {"open_loop": True, "users": users}
    also = others if rule.together else []
    seeds = tuple(range(1, settings.calibration_seeds + 1))
    line = laboratory.calibrate(scenario, seeds=seeds, also=also, **{**own, **settings.calibration})
    return found | {
        "open_loop": False,
        "bytes_per_user_s": line.bytes_per_user_s,
        "ip_per_asked": line.ip_per_asked,
        "r_squared": line.r_squared,
        "low": line.ci[0],
        "high": line.ci[1],
        "points": [list(point) for point in line.points],
        "users": {
            load: line.users_for(units.share(load), rate, rule.multiple_of) for load in loads
        },
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
    places = how(experiment, base).places
    name = calibrate.RATE if _open_loop(experiment, base) else "users"
    return [f"traffic.{place}.{name}" for place in places]


def _open_loop(experiment: Experiment, base: str | None) -> bool:
    first = how(experiment, base).places[0]
    return calibrate.is_open_loop(_loaded(experiment.base(base), first))


def loads_of(groups: Iterable[Group], base: str | None) -> list[str]:
    """The loads that these groups ask of a base, and 100 %, smallest first."""
    found = {"100%"} | {
        value
        for group in groups
        if group.base == base
        for axis in group.axes
        if axis.is_load
        for value in axis.values
    }
    return sorted(found, key=units.share)


def targets(
    experiment: Experiment, base: str | None, load: str, calibrations: Mapping[str | None, dict]
) -> list[Target]:
    """What a load asks of the groups of a base."""
    places = how(experiment, base).places
    found = calibrations[base]
    ratio, rate = found.get("ip_per_asked"), 8 * found["full_bytes_per_s"]
    return [Target(place, units.share(load), ratio, rate) for place in places]


def remarks(experiment: Experiment, material: Material) -> list[str]:
    """One line for each load of each scenario that its users did not ask for."""
    groups = {group.name: group for group in experiment.group}
    found: dict[tuple[str, int], str] = {}
    for cell in material.plan.cells:
        group = groups[cell.group]
        loads = [str(cell.axes[axis.name]) for axis in group.axes if axis.is_load]
        for load in loads:
            scenario = material.plan.scenarios[cell.key]
            summaries = [run.summary for run in material.runs(cell)]
            where = ", ".join([cell.group, *cell.labels.values()])
            for target in targets(experiment, group.base, load, material.calibrations):
                line = loads_.remark(scenario, target, summaries)
                if line is not None:
                    found.setdefault((cell.key, target.group), f"{where}: {line}")
    return list(found.values())
