"""Converts loads into users (or rates of connections): one calibration for each base scenario whose
groups have an axis `load`, and one for each kind of scenario that states a load itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import cast

from aqmlab import units
from aqmlab.errors import AqmlabError, SpecError
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.grammar import CalibrationRule, Group, Settings
from aqmlab.experiment.plan import Cell, Loads, Plan
from aqmlab.experiment.shapes import written
from aqmlab.experiment.spec import loaded_group
from aqmlab.runs import calibrate
from aqmlab.runs.calibrate import Calibration
from aqmlab.runs.laboratory import Laboratory
from aqmlab.simulator.forms import Scenario, without
from aqmlab.tables import loads as loads_
from aqmlab.tables.dataset import Dataset
from aqmlab.tables.loads import Target


def how(experiment: Experiment, base: str | None) -> CalibrationRule:
    """The `[[calibration]]` entry of an experiment for the base scenario `base`: how loads of this
    scenario are converted into users. SpecError if there is none."""
    for entry in experiment.calibration:
        if entry.base == base:
            return entry
    raise SpecError(
        f"{experiment.name}: a group needs a load of {base or 'scenario'}, "
        "which has no [[calibration]]"
    )


def measure(
    experiment: Experiment,
    base: str | None,
    settings: Settings,
    laboratory: Laboratory,
    loads: list[str],
) -> dict:
    """The calibration of a base scenario: the fitted line from users to bytes per second, and the
    users that offer each of these loads."""
    rule = how(experiment, base)
    first, *others = rule.places
    usual = {"duration": settings.duration, "warmup": settings.warmup}
    own = {name: time for name, time in usual.items() if time is not None}
    scenario = _loaded(cast(Scenario, {**own, **experiment.base(base)}), first)
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
        "ip_per_requested": line.ip_per_requested,
        "r_squared": line.r_squared,
        "low": line.ci[0],
        "high": line.ci[1],
        "points": [list(point) for point in line.points],
        "users": {
            load: line.users_for(units.share(load), rate, rule.multiple_of) for load in loads
        },
    }


def _loaded(scenario: Scenario, traffic: int) -> Scenario:
    """The scenario with a load of 100 % for this group, as a calibration needs it."""
    groups = list(scenario["traffic"])
    groups[traffic] = {**without(groups[traffic], "users", calibrate.RATE), "load": "100%"}
    read = ("network", "link", "record", "name", "duration", "warmup")
    kept = without(scenario, *(key for key in scenario if key not in read))
    return {**kept, "traffic": groups}


def _rate_for(scenario: Scenario, traffic: int, load: str) -> float:
    groups = list(scenario["traffic"])
    groups[traffic] = {**groups[traffic], "load": load}
    resolved = calibrate.resolve({**scenario, "traffic": groups})
    return resolved["traffic"][traffic].get(calibrate.RATE, 0.0)


def lookup(experiment: Experiment, calibrations: Mapping[str | None, dict]) -> Loads:
    """A function that gives the fields and values that a load sets in the scenarios derived from a
    base scenario."""

    def loads(base: str | None, load: str) -> dict[str, object]:
        number: object = calibrations[base]["users"][load]
        return dict.fromkeys(fields(experiment, base), number)

    return loads


def fields(experiment: Experiment, base: str | None) -> list[str]:
    """The fields that a load sets in the scenarios derived from a base scenario: numbers of users,
    or an open loop's rates."""
    places = how(experiment, base).places
    name = calibrate.RATE if _open_loop(experiment, base) else "users"
    return [f"traffic.{place}.{name}" for place in places]


def _open_loop(experiment: Experiment, base: str | None) -> bool:
    first = how(experiment, base).places[0]
    return calibrate.is_open_loop(_loaded(experiment.base(base), first))


def loads_of(groups: Iterable[Group], base: str | None) -> list[str]:
    """The loads of those of the groups that vary this base scenario, and 100 %, in ascending
    order."""
    found = {"100%"} | {
        value
        for group in groups
        if group.base == base
        for axis in group.axes
        if axis.is_load
        for value in axis.values
    }
    return sorted(found, key=units.share)


def placeholders(experiment: Experiment) -> Loads:
    """Placeholder numbers of users, before a calibration gives those that offer a load: each load
    of a base scenario has a number of its own."""
    numbers: dict[tuple[str | None, str], int] = {}

    def loads(base: str | None, load: str) -> dict[str, object]:
        number = numbers.setdefault((base, load), 1 + len(numbers))
        return dict.fromkeys(fields(experiment, base), number)

    return loads


def _ip_bytes(found: Mapping[str, float | None]) -> float | None:
    """Bytes of IP packets for every requested byte, from a calibration in a results folder."""
    # Folders that were written until 2026-11-30 have the former name.
    return found.get("ip_per_requested", found.get("ip_per_asked"))


def targets(
    experiment: Experiment, cell: Cell, calibrations: Mapping[str | None, dict]
) -> list[Target]:
    """The target loads of traffic groups that the axis `load` of a cell sets."""
    group = next(group for group in experiment.group if group.name == cell.group)
    loads = [str(cell.axes[axis.name]) for axis in group.axes if axis.is_load]
    return [
        Target(place, units.share(load), _ip_bytes(found), 8 * found["full_bytes_per_s"])
        for load in loads
        for found in [calibrations[group.base]]
        for place in how(experiment, group.base).places
    ]


def without_loads(
    experiment: Experiment, plan: Plan, laboratory: Laboratory
) -> tuple[Plan, dict[str, list[Target]], list[Calibration]]:
    """The plan with users in place of the loads that its scenarios state themselves.

    Also returns the target loads of each scenario, and the calibrations: scenarios that differ only
    in load or discipline share one. Each group is calibrated alone, since on an uncongested link
    groups do not affect each other.
    """
    lines: dict[str, Calibration] = {}
    settings = experiment.loads

    def line_of(scenario: Scenario) -> Calibration:
        times = calibrate.times_of(scenario, settings.get("duration"), settings.get("warmup"))
        kind = repr(calibrate.uncongested(scenario, *times))
        if kind not in lines:
            lines[kind] = laboratory.calibrate(scenario, **settings)
        return lines[kind]

    def resolved(scenario: Scenario) -> tuple[Scenario, list[Target]]:
        requested: list[Target] = []
        while (group := loaded_group(scenario)) is not None:
            load = units.share(scenario["traffic"][group].get("load"))
            if calibrate.is_open_loop(scenario):
                scenario = calibrate.resolve(scenario)
                requested.append(Target(group, load))
            else:
                line = line_of(scenario)
                scenario = calibrate.apply(scenario, line)
                requested.append(Target(group, load, line.ip_per_requested))
        return without(scenario), requested

    try:
        found = {key: resolved(scenario) for key, scenario in plan.scenarios.items()}
    except AqmlabError as error:
        raise type(error)(f"{experiment.where}: {error}") from error
    scenarios = {key: scenario for key, (scenario, _) in found.items()}
    requested = {key: targets for key, (_, targets) in found.items()}
    return replace(plan, scenarios=scenarios), requested, list(lines.values())


def remarks(dataset: Dataset) -> list[str]:
    """A sentence for each load of each scenario that its users did not offer."""
    found: dict[tuple[str, int], str] = {}
    for cell, targets in zip(dataset.plan.cells, dataset.targets, strict=True):
        summaries = [run.summary for run in dataset.runs(cell)] if targets else []
        for target in targets:
            line = loads_.remark(dataset.plan.scenarios[cell.key], target, summaries)
            if line is not None:
                where = f"{cell.label}: {line}" if cell.label else line
                found.setdefault((cell.key, target.group), where)
    return list(found.values())
