"""Laws of a congestion control over whole connections: short scenarios with the control at the end
systems of a profile, and conditions on the resulting numbers. Laws over random calls are in
`crates/plugin`."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.errors import AqmlabError
from aqmlab.simulator import engine

from ..forms import Draft, ProgramTable, Queue
from ..renamed import Numbers
from .report import Check, Information

if TYPE_CHECKING:
    import pyarrow as pa

Control = str | ProgramTable
"""The name of a built-in control, or the table of a user's own (`source.table`)."""

SEGMENT = 1448
"""Payload of a segment, bytes."""


def scenario(control: Control, queue: Queue, flows: list[dict[str, Any]], **more: Any) -> Draft:
    """A scenario of one line with these groups of bulk flows of the profile `linux`; `tcp` of a
    group is added to the profile."""
    name = control if isinstance(control, str) else {"name": dict(control)}
    link = {"name": "line", "rate": more.pop("rate", "5 Mbit/s"), "forward": queue}
    if effects := more.pop("effects", None):
        link["effects"] = effects
    traffic = []
    for flow in flows:
        tcp = {"profile": "linux", "congestion": name, **flow.pop("tcp", {})}
        traffic.append({"app": "bulk", "flows": 1, **flow, "tcp": tcp})
    return {
        "duration": "30 s",
        "warmup": "10 s",
        "seed": 1,
        "network": {"rtt": "40 ms"},
        "link": [link],
        "traffic": traffic,
        "record": {"queues": ["line.forward"]},
        **more,
    }


@dataclass(frozen=True)
class Law:
    """A law: `check` returns a sentence if the control breaks it."""

    name: str
    says: str
    check: Callable[[Control], str | None]


QUEUES: dict[str, Queue] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
"""The queues in the laws' scenarios."""
PIPE = QUEUES["pipe"]


def _summary(*args: Any, **more: Any) -> Numbers:
    return engine.simulate(scenario(*args, **more)).summary


def _uses(control: Control) -> str | None:
    used = _summary(control, PIPE, [{}])["utilisation"]
    return None if used >= 0.6 else f"it uses {used:.0%} of the line"


def _loss(control: Control) -> str | None:
    lossy = [{"kind": "loss", "share": "30%"}]
    got = _summary(control, PIPE, [{}], effects=lossy)["utilisation"]
    return None if got <= 0.5 else f"at 30 % of loss it still fills {got:.0%} of the line"


def _marks(control: Control) -> str | None:
    got = _summary(control, QUEUES["marking"], [{"tcp": {"ecn": True}}])
    delay, drops = got["queue_delay_p50_s"] or 0.0, got["drops_overflow"]
    if got["marks"] == 0 or (delay <= 0.1 and drops == 0):
        return None
    name = QUEUES["marking"]["aqm"]
    return f"behind {name}, which marks, half of the packets wait longer than {delay * 1e3:.0f} ms"


def _starvation(control: Control) -> str | None:
    for queue in (PIPE, QUEUES["early"]):
        flows = [{"name": "first"}, {"name": "second", "start": "5 s"}]
        got = _summary(control, queue, flows, duration="40 s", warmup="15 s")
        least = got["long_flow_goodput_min_bits_per_s"]
        most = got["long_flow_goodput_max_bits_per_s"]
        if least < 0.1 * most:
            share = f"{least / most:.1%} of the other"
            return f"of two of its flows behind {queue['aqm']} one gets {share}"
    return None


def _outage(control: Control) -> str | None:
    effects = [{"kind": "outages", "times": [["0 s", "0 s"], ["10 s", "3 s"]]}]
    got = _summary(control, PIPE, [{}], effects=effects, warmup="20 s")["utilisation"]
    return (
        None if got >= 0.5 else f"from 7 s after an outage of 3 s on it uses {got:.0%} of the line"
    )


def _repeats(control: Control) -> str | None:
    flows = [{"name": "first", "flows": 3}]
    runs = [_summary(control, PIPE, [dict(flow) for flow in flows], warmup="0 s") for _ in range(2)]
    first, again = (run["fingerprint"] for run in runs)
    return None if first == again else "two runs of one scenario and seed differ"


LAWS = (
    Law("line", "alone, it uses 60 % of a line with a buffer of one pipe", _uses),
    Law("loss", "at 30 % of loss it carries at most half of the line", _loss),
    Law("marks", "where marks come in place of drops, the queue stays below 100 ms", _marks),
    Law("starvation", "of two of its flows, none gets less than a tenth of the other", _starvation),
    Law("outage", "it recovers within 7 s from an outage of 3 s", _outage),
    Law("repetition", "a run is repeated to the bit", _repeats),
)

LOSSES = (100, 400, 1600)
"""Values of n for the response to loss: one of n segments is lost."""


def check(control: Control, notify: Callable[[str], object]) -> list[Check]:
    """Checks every law and returns for each its name, its text, and how it is broken (None:
    kept)."""
    rows: list[Check] = []
    for law in LAWS:
        notify(law.name)
        try:
            why = law.check(control)
        except AqmlabError as error:  # the control's failure ended the run
            why = str(error)
        broken = None if why is None else {"why": why, "parameters": {}}
        rows.append({"name": law.name, "says": law.says, "broken": broken})
    return rows


def informed(control: Control, notify: Callable[[str], object]) -> list[Information]:
    """The list of `information`; empty if the control's failure ends a run."""
    try:
        return list(information(control, notify))
    except AqmlabError:
        return []


def information(control: Control, notify: Callable[[str], object]) -> Iterator[Information]:
    """Further numbers about a control, which no law demands: its window (in segments) if one
    segment in n is lost, compared with Reno's (Mathis et al. 1997), and the share that it leaves to
    a flow of cubic."""
    notify("one loss in n")
    for n in LOSSES:
        effects = [{"kind": "loss", "share": 1 / n}]
        got = _summary(
            control,
            QUEUES["wide"],
            [{}],
            effects=effects,
            rate="1 Gbit/s",
            duration="30 s",
        )
        window = got["long_flow_goodput_mean_bits_per_s"] * 0.04 / 8 / SEGMENT
        yield {"name": f"window at one loss in {n}", "value": window, "reno": sqrt(1.5 * n)}
    notify("beside cubic")
    flows = [{"name": "own"}, {"name": "cubic", "tcp": {"congestion": "cubic"}}]
    done = engine.simulate(scenario(control, PIPE, flows, duration="40 s", warmup="15 s"))
    goodput = done.tables["flows"]
    yield {"name": "share of a line with cubic", "value": _share(goodput), "reno": None}


def _share(flows: pa.Table) -> float:
    rates = dict(
        zip(flows["group_name"].to_pylist(), flows["goodput_bits_per_s"].to_pylist(), strict=True)
    )
    return rates["own"] / sum(rates.values())
