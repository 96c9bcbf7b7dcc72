"""Converts an offered load into a number of users, as in testbeds: by measurements on an
uncongested link.

Four populations (a quarter to all of the number expected to fill the link) run on a link ten
times as fast, with the same delays and end systems. The IP bytes per second that leave towards
the clients are fitted by a line through the origin; the load is read off that line (the
calibration of Christiansen, Jeffay, Ott and Smith, "Tuning RED for Web Traffic", figures 3-4).

A load is a share of the first link that the group crosses, and is measured there. If several groups
have loads, each is calibrated alone: on uncongested links no group affects another. Groups that
load each other's direction (requests and acknowledgements of two-way traffic) can be measured
together: the load of a direction is then all traffic through it.

An open-loop application (connections that arrive at a rate, whatever the network does) needs no
measurement: its load is the rate times the model's exact mean of IP bytes per connection. A
measured mean of its heavy-tailed sizes would only be noisier.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from aqmlab import units
from aqmlab.errors import CalibrationError
from aqmlab.experiment import spec
from aqmlab.intervals import student
from aqmlab.simulator import engine
from aqmlab.simulator.forms import (
    Link,
    Port,
    Quantity,
    Resolved,
    ResolvedLink,
    Scenario,
    Traffic,
    without,
)
from aqmlab.simulator.renamed import Numbers

from . import pool
from .progress import Progress
from .store import content_key

if TYPE_CHECKING:
    from .calibration_cache import KnownCalibrations
    from .cluster import Cluster
    from .run_files import Cache

SHARES = (0.25, 0.5, 0.75, 1.0)
SEEDS = (1, 2, 3)
MIN_R_SQUARED = 0.999
SHORTEST_WARMUP_S = 1200.0
"""Think times reach half an hour, so that a population takes long to mix."""
SHORTEST_MEASURED_S = 1200.0
FULL_POPULATION = 2500
"""Number of users whose mean rate is precise enough in the shortest calibration; fewer users are
measured longer."""
SPEED_UP = 10
FASTEST = 1e15
"""The largest line rate that a scenario may have, bit/s."""
ROOM_PACKETS = 2000
"""Limit of the uncongested queues in packets, which is never reached at a tenth of the link's
rate."""


@dataclass(frozen=True)
class Calibration:
    """The line through the origin that is fitted to rate against users."""

    bytes_per_user_s: float
    """The slope of the line: IP bytes per user and second."""
    r_squared: float
    """1 - residual / total sum of squares about zero, as is usual for such a line."""
    points: list[tuple[int, float]]
    """Number of users, and IP bytes per second, of every run."""
    ci: tuple[float, float]
    """95 % interval of the slope (Student t)."""
    requested_per_user_s: float | None = None
    """Payload of the replies that one user requests, bytes per second: the slope of a second
    fit."""

    def load_of(self, users: float, rate_bits_per_s: float) -> float:
        """The share of a link that these users would fill without congestion."""
        return users * self.bytes_per_user_s * 8 / rate_bits_per_s

    def users_for(self, load: float, rate_bits_per_s: float, multiple_of: int = 1) -> int:
        """The number of users that offer `load` (0.98 is 98 %) to a link, as a multiple of
        `multiple_of`, so that every machine has equally many."""
        exact = load * rate_bits_per_s / 8 / self.bytes_per_user_s
        return max(1, round(exact / multiple_of)) * multiple_of

    @property
    def ip_per_requested(self) -> float | None:
        """IP bytes on the link for each byte of payload that is requested."""
        return (
            self.bytes_per_user_s / self.requested_per_user_s if self.requested_per_user_s else None
        )


def fit(points: Sequence[tuple[int, float]]) -> Calibration:
    """Fits a line through the origin by least squares to (users, rate)."""
    squares = sum(x * x for x, _ in points)
    slope = _slope(points)
    residual = sum((y - slope * x) ** 2 for x, y in points)
    total = sum(y * y for _, y in points)
    freedom = len(points) - 1
    half = (
        student(0.975, freedom) * math.sqrt(residual / freedom / squares)
        if freedom > 0
        else math.inf
    )
    r_squared = 1 - residual / total if total > 0 else 0.0
    return Calibration(slope, r_squared, list(points), (slope - half, slope + half))


def _slope(points: Sequence[tuple[int, float]]) -> float:
    return sum(x * y for x, y in points) / sum(x * x for x, _ in points)


def uncongested(scenario: Scenario, duration_s: float, warmup_s: float) -> tuple[Scenario, int]:
    """The scenario on links ten times as fast with roomy FIFO queues, and the index of its group.

    Only the group to be calibrated stays, and nothing is recorded. Neither the load nor the queue
    discipline is part of this scenario, so that all variants of a study share one calibration.
    """
    group = _group(scenario)
    resolved = engine.resolve(scenario)
    port = load_port(resolved, group)["port"]
    links = [_fast(link) for link in resolved["links"]]
    kept = _without_size(scenario["traffic"][group])
    bare = without(scenario, "name", "record", "seed")
    record = {"responses": False, "samples": False, "queues": [port]}
    fast: Scenario = {
        **bare,
        "duration": f"{duration_s:.9g} s",
        "warmup": f"{warmup_s:.9g} s",
        "link": links,
        "traffic": [kept],
        "record": record,
    }
    return fast, group


CHANGING = tuple(
    f"{prefix}rate_{how}" for prefix in ("", "reverse_") for how in ("steps", "repeat", "trace")
)
"""Fields by which a link's rate changes."""


def _fast(link: ResolvedLink) -> Link:
    """A resolved link at ten times its nominal rates, without changes of rate or effects, with
    large FIFO queues."""
    kept = without(link["table"], *CHANGING, "effects")
    nominal = {k: link[k]["rate_bits_per_s"] for k in ("forward", "reverse")}
    rates = {"rate": nominal["forward"]}
    if "reverse_rate" in kept or nominal["reverse"] != nominal["forward"]:
        rates["reverse_rate"] = nominal["reverse"]
    fast = {k: f"{min(rate * SPEED_UP, FASTEST):.0f} bit/s" for k, rate in rates.items()}
    roomy = {"aqm": "droptail", "limit": ROOM_PACKETS}
    return cast(Link, {**kept, **fast, "forward": roomy, "reverse": roomy})


def _without_size(group: Traffic) -> Traffic:
    """A traffic group without its number of users or its load."""
    return without(group, *spec.POPULATION)


def _group(scenario: Scenario) -> int:
    loaded = spec.loaded_group(scenario)
    if loaded is not None:
        return loaded
    groups = [
        i
        for i, group in enumerate(scenario.get("traffic", []))
        if not group.keys().isdisjoint(spec.POPULATION)
    ]
    if len(groups) != 1:
        raise CalibrationError(
            f"the scenario has {len(groups)} traffic groups with users and none with a load: "
            "give the one to calibrate by its load"
        )
    return groups[0]


def machines(scenario: Scenario, group: int) -> int:
    """The machines over which the group's users are spread evenly."""
    return engine.resolve(scenario)["groups"][group]["machines"]


def times_of(
    scenario: Scenario, duration: Quantity | None = None, warmup: Quantity | None = None
) -> tuple[float, float]:
    """Length and warm-up in seconds: as given, else the scenario's, at least 20 + 20 min."""
    own_warmup = units.seconds(scenario.get("warmup", "0 s"))
    own_measured = units.seconds(scenario.get("duration")) - own_warmup
    if warmup is not None:
        warmup_s = _seconds(warmup)
    elif duration is not None:
        warmup_s = min(max(own_warmup, SHORTEST_WARMUP_S), _seconds(duration) / 2)
    else:
        warmup_s = max(own_warmup, SHORTEST_WARMUP_S)
    if duration is None:
        return warmup_s + max(own_measured, SHORTEST_MEASURED_S), warmup_s
    if _seconds(duration) <= warmup_s:
        raise CalibrationError(
            f"a calibration of {duration} leaves nothing after a warm-up of {warmup_s:g} s: "
            "lengthen its duration"
        )
    return _seconds(duration), warmup_s


def _seconds(value: Quantity) -> float:
    return float(value) if isinstance(value, int | float) else units.seconds(value)


def calibrate(
    scenario: Scenario,
    *,
    seeds: Sequence[int] = SEEDS,
    duration: str | float | None = None,
    warmup: str | float | None = None,
    also: Sequence[int] = (),
    cache: KnownCalibrations | Cache | None = None,
    least_r_squared: float = MIN_R_SQUARED,
    progress: Progress | None = None,
    jobs: int | None = None,
    on: Cluster | None = None,
) -> Calibration:
    """Measures the bytes that one user of the scenario's load-given traffic requests.

    `duration` and `warmup` are times (`"40 min"` or seconds); the defaults are the scenario's, but
    at least 20 min measured after 20 min; without a duration the fewer users fill the link, the
    longer it takes. Each group in `also` runs at the same time with the same number of users as the
    calibrated group. Finished runs are kept under `cache`, so that a killed calibration can be
    resumed. The fit must explain at least `least_r_squared` of the variation.
    """
    length_s, warmup_s = times_of(scenario, duration, warmup)
    fast, group = uncongested(scenario, length_s, warmup_s)
    clients = machines(_with_users(fast, 1), 0)
    full = _full_population(scenario, fast, group, clients)
    if duration is None:
        length_s = warmup_s + (length_s - warmup_s) * max(1.0, FULL_POPULATION / full)
        fast, _ = uncongested(scenario, length_s, warmup_s)
    fast["traffic"] += [_without_size(scenario["traffic"][i]) for i in also]
    sizes = [max(1, round(full * share / clients)) * clients for share in SHARES]
    trials = [(users, seed) for users in sizes for seed in seeds]
    scenarios: list[Scenario] = [
        {**_with_users(fast, users), "seed": seed} for users, seed in trials
    ]
    rates = _rates(scenarios, cache, progress, jobs=jobs, on=on)
    sizes_and_rates = list(zip((users for users, _ in trials), rates, strict=True))
    result = fit([(users, rate) for users, (rate, _) in sizes_and_rates])
    requested = _slope([(users, requested) for users, (_, requested) in sizes_and_rates])
    result = replace(result, requested_per_user_s=requested or None)
    if not result.r_squared >= least_r_squared:
        raise CalibrationError(
            f"traffic.{group}: the throughput of {sizes[0]} to {sizes[-1]} users is not "
            f"proportional to their number (R^2 = {result.r_squared:.4f}, needed "
            f"{least_r_squared}): lengthen the calibration (write duration = "
            f'"{math.ceil(length_s / 30)} min" under a line [calibration] at the end of the '
            "file) or give users instead of a load"
        )
    return result


def _rates(
    scenarios: Sequence[Scenario],
    cache: KnownCalibrations | Cache | None,
    progress: Progress | None,
    *,
    jobs: int | None,
    on: Cluster | None,
) -> list[tuple[float, float]]:
    """IP bytes and payload requested by the first group, per second, for every run; runs kept under
    `cache` are not repeated."""
    version = engine.version()
    keys = [content_key(engine.check(scenario), version) for scenario in scenarios]
    names = [f"calibration-{key}" for key in keys]
    kept = {i: cache.get(name) for i, name in enumerate(names)} if cache else {}
    rates = {
        i: (float(known["rate"]), float(known["requested"]))
        for i, known in kept.items()
        if known and "requested" in known
    }
    missing = [i for i in range(len(scenarios)) if i not in rates]

    def finish(place: int, outcome: engine.Outcome) -> None:
        i = missing[place]
        requested, _ = requested_load(scenarios[i], 0, outcome.summary)
        rates[i] = float(outcome.summary["throughput_bytes_per_s"]), requested
        if cache:
            cache.put(names[i], {"rate": rates[i][0], "requested": requested})

    if missing:
        pool.simulate_all(
            [scenarios[i] for i in missing],
            finish,
            title="calibration",
            progress=progress,
            already=len(rates),
            keep=[()] * len(missing),
            jobs=jobs,
            on=on,
        )
    return [rates[i] for i in range(len(scenarios))]


def requested_load(scenario: Scenario, group: int, summary: Numbers) -> tuple[float, float]:
    """Payload bytes of the replies that a group requests, and its requests, each per measured
    second."""
    groups = summary.get("by_group", {})
    name = engine.resolve(scenario)["groups"][group]["name"] if groups else None
    own = groups.get(name, summary)
    measured_s = units.seconds(scenario.get("duration")) - units.seconds(
        scenario.get("warmup", "0 s")
    )
    bytes_, requests = (float(own.get(name, 0)) for name in ("requested_bytes", "requests"))
    return bytes_ / measured_s, requests / measured_s


def _with_users(fast: Scenario, users: int) -> Scenario:
    return {**fast, "traffic": [{**group, "users": users} for group in fast["traffic"]]}


def _full_population(scenario: Scenario, fast: Scenario, group: int, clients: int) -> int:
    """A first estimate of the number of users that fill the first link they cross, as a multiple of
    the number of machines."""
    loaded = {**fast, "traffic": [{**fast["traffic"][0], "load": "100%"}]}
    per_user = engine.estimate(loaded)
    if not per_user or per_user <= 0:
        app = scenario["traffic"][group].get("app")
        raise CalibrationError(
            f"traffic.{group}.load: {app} has no users with a known rate of requested bytes, so a "
            "load means nothing: give its number of flows instead of a load"
        )
    rate = rate_of(scenario, group)
    return max(1, round(rate / 8 / per_user / clients)) * clients


def load_port(resolved: Resolved, group: int) -> Port:
    """The port of which the group's load is a share: its name, and the rate in bit/s it offers on
    average in the measured interval. It is that of the first link that the group crosses."""
    found = resolved["groups"][group]
    if not found["links"]:
        raise CalibrationError(
            f"traffic.{group} crosses no link, so a load means nothing: "
            "give users instead of a load"
        )
    return resolved["links"][found["links"][0]][found["direction"]]


def rate_of(scenario: Scenario, group: int) -> float:
    """The rate in bit/s of which the group's load is a share."""
    return load_port(engine.resolve(scenario), group)["mean_bits_per_s"]


def apply(scenario: Scenario, calibration: Calibration) -> Scenario:
    """The scenario with its first offered load replaced by a number of users."""
    group = spec.loaded_group(scenario)
    if group is None:
        return without(scenario)
    load = units.share(scenario["traffic"][group].get("load"))
    probe = spec.set_path(scenario, f"traffic.{group}.users", 1)
    users = calibration.users_for(load, rate_of(scenario, group), machines(probe, group))
    return spec.set_path(scenario, f"traffic.{group}.users", users)


RATE = "connections_per_s"
"""The field for the size of an open-loop application, connections per second."""


def is_open_loop(scenario: Scenario) -> bool:
    """Whether the first group with a load has open-loop arrivals, and so a rate in place of
    users."""
    group = spec.loaded_group(scenario)
    app = scenario["traffic"][group].get("app") if group is not None else None
    about = engine.application(app)
    return about is not None and about.get("open_loop", False)


def resolve(scenario: Scenario) -> Scenario:
    """The scenario with its first load, that of an open-loop application, replaced by the rate of
    connections."""
    group = spec.loaded_group(scenario)
    per_connection = engine.estimate(scenario)
    if group is None or not per_connection:
        raise CalibrationError("this traffic has no load that a rate follows from: give its rate")
    load = units.share(scenario["traffic"][group].get("load"))
    rate = load * rate_of(scenario, group) / 8 / per_connection
    return spec.set_path(scenario, f"traffic.{group}.{RATE}", float(f"{rate:.6g}"))
