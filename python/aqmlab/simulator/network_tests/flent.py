"""The tests of the network tester Flent, with Flent's names and parameters.

`flent.json` has the data series of each test as Flent 2.3.0 lists them in `DATA_SETS` of its files
`tests/*.conf`: names, DSCPs, congestion controls and start delays. Netperf's TCP_STREAM is `up`
there, TCP_MAERTS `down`.
"""

from __future__ import annotations

import json
from functools import cache, partial
from pathlib import Path
from typing import Required, TypedDict

from ..forms import Draft, without
from .form import Field, NetworkTest, Settings, Written, ping, seconds, transfer

DATA = Path(__file__).with_name("flent.json")
CONTROLS = {"ledbat": "ledbat++"}
"""Linux' names of congestion controls, as used by Flent, that have another name in aqmlab."""
STREAMS = 4
"""Default number of streams of a test that does not fix this number; Flent itself uses one stream
for each CPU."""

_LENGTH = Field("length", "time", "60 s", "How long TCP transfers last.", "Flent's LENGTH")
_DELAY = Field(
    "delay", "time", "5 s", "How long pings run before and after the transfers.", "Flent's DELAY"
)
_STEP = Field("step_size", "time", "0.2 s", "Time between pings.", "Flent's STEP_SIZE")
_RTTS = Field(
    "rtts",
    "times",
    ["10 ms", "50 ms", "100 ms", "200 ms"],
    "Round-trip times of the test's hosts.",
    "constructed: Flent's hosts are real machines",
)
_STREAM_FIELDS = {
    "upload_streams": Field(
        "upload_streams", "count", STREAMS, "TCP uploads.", "Flent's upload_streams", most=1000
    ),
    "download_streams": Field(
        "download_streams",
        "count",
        STREAMS,
        "TCP downloads.",
        "Flent's download_streams",
        most=1000,
    ),
}
BOTH = "tcp_nup_ndown"
"""The name of a test that Flent has only as a part of RRUL, formed like Flent's names."""


class Series(TypedDict, total=False):
    """A data series of a test. `n` is the number of streams, or the name of the field that gives
    it; `length` and `delay` are in seconds, `length` for a test of 60 s."""

    name: Required[str]
    does: Required[str]
    n: int | str
    host: int
    control: str
    dscp: str
    length: float
    delay: float


class Test(TypedDict):
    """A test as Flent describes it, with the combined series of its result."""

    description: str
    series: list[Series]
    combined: list[str]


@cache
def data() -> dict[str, Test]:
    """Flent's tests: description, series and combined series of each."""
    found = json.loads(DATA.read_text("utf-8"))
    up, down = found["tcp_nup"], found["tcp_ndown"]
    series = [*up["series"], *(one for one in down["series"] if one["does"] == "down")]
    combined = list(dict.fromkeys([*up["combined"], *down["combined"]]))
    described = "TCP upload and download - N streams each w/ping"
    found[BOTH] = {"description": described, "series": series, "combined": combined}
    return found


def series(test: str, found: Settings) -> list[Series]:
    """The measured series of a test with these settings; each stream is a series of its own."""
    listed: list[Series] = []
    for one in data()[test]["series"]:
        number = found.get(str(one["n"]), one["n"]) if "n" in one else None
        if number is None:
            listed.append(one)
        else:
            rest = without(one, "n")
            names = [f"{one['name']}::{i + 1}" for i in range(number)]
            listed += [Series({**rest, "name": name}) for name in names]
    return listed


def _groups(test: str, found: Settings, _: Draft) -> list[Written]:
    return [_group(one, found) for one in series(test, found)]


def _group(one: Series, found: Settings) -> Written:
    more: dict[str, object] = {"dscp": one["dscp"]} if "dscp" in one else {}
    if "host" in one:
        rtts = found["rtts"]
        more["rtt"] = seconds(rtts[(one["host"] - 1) % len(rtts)])
    if one["does"] == "ping":
        return ping(one["name"], found["step_size"], 0.0, total(found), **more)
    if "control" in one:
        control = CONTROLS.get(one["control"], one["control"])
        more["tcp"] = {"profile": "linux", "congestion": control}
    lasts = one["length"] * found["length"] / 60.0 if "length" in one else found["length"]
    up = one["does"] == "up"
    return transfer(one["name"], up, one.get("delay", found["delay"]), lasts, **more)


def total(found: Settings) -> float:
    """The duration of a test in seconds: Flent's TOTAL_LENGTH."""
    return found["length"] + 2 * found["delay"]


def _test(name: str) -> NetworkTest:
    about = data()[name]
    used = [n for one in about["series"] if isinstance(n := one.get("n"), str)]
    fields = [_LENGTH, _DELAY, _STEP, *(_STREAM_FIELDS[n] for n in dict.fromkeys(used))]
    if any("host" in one for one in about["series"]):
        fields.append(_RTTS)
    ours = name == BOTH
    return NetworkTest(
        name=name,
        summary=f"{about['description']} ({'by the pattern of Flent' if ours else 'Flent'}).",
        year=2012,
        source="constructed after Flent's tcp_nup and tcp_ndown"
        if ours
        else f"T. Høiland-Jørgensen et al., Flent 2.3.0, tests/{name}.conf",
        deviations="Pings by ICMP and by UDP differ in nothing but their names. LEDBAT is "
        "LEDBAT++.",
        fields=tuple(fields),
        groups=partial(_groups, name),
    )


TESTS = tuple(_test(name) for name in data() if name != "ping")
"""Flent's tests under their names, without `ping`, which is the name of an application here."""
