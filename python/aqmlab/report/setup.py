"""The set-up of a scenario as a drawing: machines, routers, links, queues, and who sends where.

Servers are on the left, clients on the right, and the links between them in the scenario's order,
so that data of the direction `forward` goes from left to right. Below the links each traffic group
has a lane along the links that it takes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

from aqmlab.simulator import engine, network_tests
from aqmlab.simulator.forms import Resolved, ResolvedGroup, ResolvedLink, Scenario, Traffic

from . import wording
from .templates import environment

WIDTH = 760
LEFT, RIGHT = 83, WIDTH - 83
"""Horizontal positions of the machines' centres."""
FIRST, LAST = 206, WIDTH - 206
"""Horizontal positions of the outermost routers' centres."""
LABELS = 80
"""Height above the links for queues and their names."""
RADIUS = 23
MOST_MACHINES = 7
"""Largest number of machines that are drawn on each side; the full number is written below."""
PITCH = 26
LANE = 34


def drawing(scenario: Scenario, varied: Collection[str] = ()) -> str:
    """The set-up as the text of a stand-alone SVG.

    `varied` are fields (`link.0.forward`, `traffic.0.users`) that differ from run to run: a queue
    among them is shown as the studied one without a name, a number of users is left out.
    """
    return environment().get_template("setup.svg.jinja").render(layout(scenario, varied))


def _resolved(scenario: Scenario) -> Resolved:
    """The complete scenario, with any duration: a study's parts state that, and it is not drawn."""
    return engine.resolve({**scenario, "duration": "1 s", "warmup": "0 s"})


def described(scenario: Scenario) -> str:
    """A sentence in place of the drawing for readers who cannot see it."""
    resolved = _resolved(scenario)
    links, machines = resolved["links"], resolved["machines"]
    clients, servers = machines["clients"], machines["servers"]
    rates = ", ".join(wording.line_rate(link["table"]) for link in links)
    several = f"{len(links)} links in a row ({rates})" if len(links) > 1 else f"a link of {rates}"
    return f"{_machines(servers, 'server')} and {_machines(clients, 'client')}, joined by {several}"


def layout(scenario: Scenario, varied: Collection[str] = ()) -> dict:
    """Positions and texts for the template, in units of the drawing."""
    scenario = cast(Scenario, network_tests.expand(scenario))
    resolved = _resolved(scenario)
    links, traffic = resolved["links"], scenario["traffic"]
    counts = [resolved["machines"][side] for side in ("servers", "clients")]
    half = PITCH * (min(max(counts), MOST_MACHINES) - 1) / 2
    wire = max(LABELS, half + 14)
    step = (LAST - FIRST) / len(links)
    routers = [FIRST + step * i for i in range(len(links) + 1)]
    drawn = [
        _link(link, index, routers[index : index + 2], resolved["queues"], varied, len(links) > 1)
        for index, link in enumerate(links)
    ]
    top = wire + max(half + 62, _depth(drawn))
    lanes = [
        _lane(one, way, top + LANE * index, index, routers, varied)
        for index, (one, way) in enumerate(zip(traffic, resolved["groups"], strict=True))
    ]
    below = top + LANE * len(lanes)
    words = _words(scenario, traffic)
    return {
        "width": WIDTH,
        "height": below + 20 * len(words),
        "wire": wire,
        "radius": RADIUS,
        "routers": routers,
        "links": drawn,
        "lanes": lanes,
        "words": [{"y": below + 8 + 20 * i, "text": text} for i, text in enumerate(words)],
        "sides": [
            _side(LEFT, wire, routers[0], counts[0], "server"),
            _side(RIGHT, wire, routers[-1], counts[1], "client"),
        ],
    }


def _depth(links: list[dict]) -> float:
    """Distance from the links to the first lane, large enough for the texts and queues below the
    links."""
    back = [queue for link in links for queue in link["queues"] if not queue["forward"]]
    if any(queue["marked"] for queue in back):
        return 110
    lines = max(len(link["rates"]) + len(link["back"]) for link in links) - 2
    return (92 if any(queue["lines"] for queue in back) else 76) + 15 * max(lines, 0)


def _words(scenario: Scenario, traffic: Sequence[Traffic]) -> list[str]:
    """Lines of text below the drawing that apply to the whole set-up."""
    rtt = wording.round_trips(scenario.get("network", {}).get("rtt"))
    systems = wording.end_systems(traffic)
    words = [f"round-trip time besides the links: {rtt}"] if rtt else []
    return words + ([f"end systems: {systems}"] if systems else [])


def _machines(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}"


def _side(x: float, wire: float, router: float, count: int, name: str) -> dict:
    drawn = min(count, MOST_MACHINES)
    top = wire - PITCH * (drawn - 1) / 2
    return {
        "x": x,
        "router": router,
        "machines": [top + PITCH * i for i in range(drawn)],
        "label": _machines(count, name),
        "label_y": wire + PITCH * (drawn - 1) / 2 + 28,
    }


def _link(
    link: ResolvedLink,
    index: int,
    ends: list[float],
    studied: list[str],
    varied: Collection,
    narrow: bool,
) -> dict:
    """One link for the template. If there are several, each is narrow, and the texts below it get
    more lines."""
    table = link["table"]
    rates = [wording.line_rate(table)]
    if any(f"reverse_{name}" in table for name in ("rate", "rate_steps", "rate_trace")):
        rates.append(f"back {wording.line_rate(table, 'reverse_')}")
    delay = wording.time(f"{link['delay_s']} s")
    back = wording.queue(table.get("reverse"))
    return {
        "from": ends[0],
        "to": ends[1],
        "middle": sum(ends) / 2,
        "rates": rates if narrow else [", ".join(rates)],
        "back": back if narrow else [", ".join(back)],
        "delay": f"{delay} each way" if delay != "0 ms" else "",
        "queues": [
            _queue(link, index, direction, ends, studied, varied)
            for direction in ("forward", "reverse")
        ],
    }


def _queue(
    link: ResolvedLink,
    index: int,
    direction: str,
    ends: list[float],
    studied: list[str],
    varied: Collection,
) -> dict:
    """One queue for the template. It is drawn at the router that sends its packets: forward above
    the link's left end, reverse below its right end.
    """
    path = f"link.{index}.{direction}"
    differs = path in varied
    marked = differs or link[direction]["port"] in studied
    lines = ["studied queue"] if differs else wording.queue(link["table"].get(direction))
    return {
        "forward": direction == "forward",
        "x": ends[0] + RADIUS + 4 if direction == "forward" else ends[1] - RADIUS - 4,
        "lines": lines,
        "marked": marked,
    }


def _lane(
    one: Traffic,
    way: ResolvedGroup,
    y: float,
    index: int,
    routers: list[float],
    varied: Collection,
) -> dict:
    """The lane of a group: from machine to machine, or between routers if it takes only some
    links."""
    last = len(routers) - 2
    partly = len(way["links"]) <= last
    start, end = LEFT, RIGHT
    if partly:
        start = routers[min(way["links"], default=0)]
        end = routers[max(way["links"], default=last) + 1]
    numbers = {f"traffic.{index}.{name}" for name in ("users", "flows", "connections_per_s")}
    from_x, to_x = (start, end) if way["direction"] == "forward" else (end, start)
    return {
        "y": y,
        "from": from_x,
        "to": to_x,
        "sign": 1 if to_x > from_x else -1,
        "middle": (start + end) / 2,
        "text": wording.group(one, not numbers & set(varied))
        + (", cross traffic" if partly else ""),
        "partly": partly,
    }
