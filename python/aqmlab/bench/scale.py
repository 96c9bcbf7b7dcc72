"""Measures how the cost of a packet grows with the size of a scenario: `aqmlab bench --scale`.

There is a curve over several decades for each quantity: users of three end systems, open
connections, hashed flows, queued packets, links in a row. A point is the difference of two runs of
different duration without their set-up, since the set-up of a million users takes longer than the
measured part, and varies as much. With `--instructions` instructions are counted (by valgrind),
which is independent of other load on the machine, but fifty times as slow.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, cast

from aqmlab.errors import AqmlabError
from aqmlab.simulator.forms import Link, Scenario, Traffic

from . import simulator

if TYPE_CHECKING:
    from rich.console import Console

PACKETS = 300_000
"""Approximate number of data packets by which the longer run exceeds the shorter one."""
LEAST_S = 4.0
"""Least duration of the longer run in simulated seconds: longer than most connections of users."""
DATA_PER_USER_S = 0.286
"""Data packets per second of each user of the Mah web model if all users load the link to 98 % (the
web scenario of `simulator.py`)."""
USER_BITS_PER_S = 10e6 / 2982
"""Rate of the line divided by the number of users at that load."""


@dataclass(frozen=True)
class Curve:
    """Scenarios that differ in one quantity, such as the number of users."""

    of: str
    """Name of the quantity that grows."""
    sizes: Sequence[int]
    scenario: Callable[[int], Scenario]
    """A function that gives the scenario of a size, without its duration."""
    packets_per_s: Callable[[int], float]
    """Approximate number of data packets per simulated second, by size."""
    per: Callable[[int], int] = lambda _: 1
    """The divisor of a packet's cost: the number of links that it crosses."""


def _link(rate: float, limit: int, **fields: Any) -> Link:
    queue = {"aqm": "droptail", "limit": max(20, limit)}
    both = {"forward": queue, "reverse": dict(queue)}
    return cast(Link, {"rate": f"{rate:.0f} bit/s", **both, **fields})


def web(users: int, profile: str, **record: object) -> Scenario:
    """The scenario of users of the Mah web model at 98 % load, in the stationary state from the
    beginning."""
    group: Traffic = {
        "app": "web",
        "users": users,
        "start": "stationary",
        "tcp": {"profile": profile},
    }
    return {
        "link": [_link(users * USER_BITS_PER_S, users // 25, framing="ethernet")],
        "network": {"rtt": {"min": "14 ms", "max": "144 ms", "draw": "pair"}},
        "traffic": [group],
        "record": {"samples": False, "responses": False, **record},
    }


def _bulk(flows: int, links: int = 1, **forward: object) -> Scenario:
    row = [_link(flows * 1e5, 4 * flows, name=f"link-{i}", delay="1 ms") for i in range(links)]
    row[0]["forward"] = {"aqm": "droptail", "limit": max(20, 4 * flows), **forward}
    return {
        "link": row,
        "traffic": [{"app": "bulk", "flows": flows, "tcp": {"profile": "plain"}}],
        "record": {"samples": False},
    }


def _waiting(packets: int) -> Scenario:
    # Twice the line's rate, so that the queue is full after half of the first run.
    rate = max(1e6, packets * 1000 * 8.0)
    sent = f"{rate / 5:.0f} bit/s"
    group: Traffic = {"app": "cbr", "flows": 10, "rate": sent, "packet": 1000}
    group["start_within"] = "0 s"
    return {
        "link": [_link(rate, packets)],
        "traffic": [group],
        "record": {"samples": False},
    }


def curves() -> Iterator[Curve]:
    """All curves of the benchmark: the cost of a data packet against the number of users, open
    connections, flows, waiting packets, or links in a row."""
    five = [10**n for n in range(2, 7)]
    for profile in ("plain", "freebsd-2.2.8", "linux"):
        yield Curve(
            f"users, {profile}",
            five,
            lambda users, profile=profile: web(users, profile),
            lambda users: users * DATA_PER_USER_S,
        )
    yield Curve("open connections", [10**n for n in range(1, 6)], _bulk, lambda n: n * 8.3)
    yield Curve(
        "flows of FQ-CoDel",
        [10**n for n in range(1, 6)],
        lambda flows: _bulk(flows, aqm="fq_codel", limit=4 * flows),
        lambda n: n * 8.3,
    )
    yield Curve("packets that wait", five, _waiting, lambda n: max(1e6, n * 8e3) / 8e3)
    yield Curve("links in a row", [1, 10, 100], lambda n: _bulk(100, n), lambda _: 830, lambda n: n)


class PointCost(TypedDict):
    """Measurements at one size of a scenario: cost of a data packet (CPU time in ns, or
    instructions), events per data packet, and peak memory of the run, MiB."""

    size: int
    cost: float
    events: float
    peak_rss_mib: float


class CurveCost(TypedDict):
    """Costs of a data packet at growing sizes of one quantity of a scenario, which `of` names;
    `growth` is the cost at the largest size divided by that at the smallest."""

    of: str
    points: list[PointCost]
    growth: float | None


class Scale(TypedDict):
    """The document of `aqmlab bench --scale --json`."""

    unit: str
    curves: list[CurveCost]
    idle_user_bytes: float
    machine: str


def measure(instructions: bool, largest: int) -> Scale:
    """Carries out the measurements and returns the document of `aqmlab bench --scale --json`.
    Scenarios with more than `largest` users, connections, flows, packets or links are left out."""
    if instructions and shutil.which("valgrind") is None:
        raise AqmlabError(
            "instructions are counted by valgrind, which is not installed: install it"
        )
    return {
        "unit": "instructions" if instructions else "ns",
        "curves": [_curve(curve, instructions, largest) for curve in curves()],
        "idle_user_bytes": _idle_user_bytes(min(largest, 1_000_000)),
        "machine": simulator.machine(),
    }


def _curve(curve: Curve, instructions: bool, largest: int) -> CurveCost:
    sizes = [size for size in curve.sizes if size <= largest]
    points = [_point(curve, size, instructions) for size in sizes]
    costs = [point["cost"] for point in points]
    return {
        "of": curve.of,
        "points": points,
        "growth": costs[-1] / costs[0] if costs else None,
    }


def _point(curve: Curve, size: int, instructions: bool) -> PointCost:
    longer = max(LEAST_S, 2 * PACKETS / curve.packets_per_s(size))
    runs = []
    for duration in (longer / 2, longer):
        scenario: Scenario = {
            "name": f"{curve.of}: {size}",
            "duration": f"{duration:.6f} s",
            "seed": 1,
            **curve.scenario(size),
        }
        runs.append(simulator.run_apart(scenario, instructions))
    few, many = runs
    packets = many["data_packets"] - few["data_packets"]
    if packets <= 0:
        raise AqmlabError(f"benchmark {curve.of}: {size} sent no data packets: check the build")
    unit = 1 if instructions else 1e9
    field = "instructions" if instructions else "moving_s"
    cost = (many[field] - few[field]) * unit / packets / curve.per(size)
    events = (many["events"] - few["events"]) / packets / curve.per(size)
    return {"size": size, "cost": cost, "events": events, "peak_rss_mib": many["peak_rss_mib"]}


def _idle_user_bytes(users: int) -> float:
    """Memory of an idle user in bytes: that of a run with `users` minus that of a run with one, per
    user."""
    few, many = (
        simulator.run_apart({"name": "idle", "duration": "1 us", **web(n, "plain")})
        for n in (1, users)
    )
    return (many["peak_rss_mib"] - few["peak_rss_mib"]) * 2**20 / max(1, users - 1)


def show(measured: Scale, console: Console) -> None:
    """Prints the measurements as a table in Markdown, the form in which `docs/performance.md` has
    them."""
    from rich import box
    from rich.table import Table

    sizes = sorted({point["size"] for c in measured["curves"] for point in c["points"]})
    table = Table(box=box.MARKDOWN)
    table.add_column(f"{measured['unit']} of a data packet by the number of")
    for size in sizes:
        table.add_column(f"{size:,}", justify="right")
    table.add_column("last / first", justify="right")
    for curve in measured["curves"]:
        costs = {point["size"]: f"{point['cost']:,.0f}" for point in curve["points"]}
        growth = "-" if curve["growth"] is None else f"{curve['growth']:.2f}"
        table.add_row(curve["of"], *(costs.get(size, "") for size in sizes), growth)
    console.print(table)
    console.print(f"an idle user takes {measured['idle_user_bytes']:.0f} bytes")
    console.print(measured["machine"])
