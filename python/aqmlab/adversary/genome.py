"""Genes: the properties of a scenario that an adversary may change, with bounds; and the scenario
that their values give.

Every gene has a simple value, at which it does nothing or is ordinary. A finding is reduced towards
these values, and explained by setting one gene at a time to its simple value."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PACKETS = 15_000
"""Packets that the line of a trial carries, approximately; this sets the trial's duration."""
PULSES_FROM = "2 s"
"""Start of the pulses: after the handshakes, so that the pulses meet the transfer."""
LENGTH_S = (12.0, 60.0)
"""Shortest and longest duration of a trial."""
CONTROLS = ("cubic", "reno", "bbr", "bbr3", "prague", "dctcp", "ledbat++")
"""Congestion controls of the flows that meet the attacked queue."""

Genome = Mapping[str, float]


@dataclass(frozen=True)
class Gene:
    """A number that the adversary may choose, between `low` and `high`."""

    name: str
    low: float
    high: float
    simple: float
    says: str
    log: bool = False
    whole: bool = False
    unit: str = ""
    names: tuple[str, ...] = ()
    """Names for the values 0, 1, 2, …, if the gene chooses one of several."""

    def at(self, place: float) -> float:
        """The gene's value at a position from 0 (`low`) to 1 (`high`)."""
        place = min(max(place, 0.0), 1.0)
        if self.log:
            value = math.exp(math.log(self.low) + place * math.log(self.high / self.low))
        else:
            value = self.low + place * (self.high - self.low)
        return float(round(value)) if self.whole else float(f"{value:.3g}")

    def place(self, value: float) -> float:
        """The position of a value, from 0 (`low`) to 1 (`high`)."""
        if self.high == self.low:
            return 0.0
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def shown(self, value: float) -> str:
        """The value as text for people: its name, or the number with its unit."""
        return self.names[int(value)] if self.names else f"{value:g}{self.unit}"


_LINE = (
    Gene("rate", 1, 100, 10, "rate of the line", log=True, unit=" Mbit/s"),
    Gene("rtt", 5, 300, 40, "round trip without queues", log=True, unit=" ms"),
    Gene("flows", 1, 24, 2, "bulk flows", log=True, whole=True),
    Gene("spread", 1, 20, 1, "round trip of the last flow over that of the first", log=True),
    Gene("later", 0, 0.4, 0, "begin of the second half of the flows, as a share of the run"),
    Gene("drop_to", 0.05, 1, 1, "what the rate falls to at 40 % of the run", log=True),
    Gene("pulse", 0, 3, 0, "rate of pulses of datagrams, in rates of the line"),
    Gene("period", 0.2, 3, 1, "from pulse to pulse", log=True, unit=" s"),
    Gene("burst", 0.02, 0.3, 0.1, "length of a pulse, as a share of the period", log=True),
    Gene("slot", 0, 20, 0, "period of slots, open for a quarter of it", unit=" ms"),
    Gene("loss", 0, 0.05, 0, "random loss behind the line"),
    Gene("outage", 0, 3, 0, "outage at 50 % of the run", unit=" s"),
    Gene("jitter", 0, 20, 0, "random delay of packets behind the line", unit=" ms"),
    Gene(
        "lost_at", 0, 2000, 0, "first data packet that the first flows lose (0: none)", whole=True
    ),
    Gene("lost_run", 1, 30, 1, "packets in a row that are lost there", log=True, whole=True),
    Gene("lost_again", 0, 4, 0, "retransmissions of the first of them that are lost", whole=True),
    Gene("ecn", 0, 1, 0, "ECN", whole=True, names=("off", "on")),
)
_OF_QUEUES = (
    Gene("control", 0, len(CONTROLS) - 1, 0, "congestion control", whole=True, names=CONTROLS),
    Gene(
        "second", 0, len(CONTROLS) - 1, 0, "that of every second flow", whole=True, names=CONTROLS
    ),
)
_OF_CONTROLS = (
    Gene("buffer", 0.1, 10, 1, "buffer, in bytes that the line and its round trip hold", log=True),
    Gene("rival", 0, 2, 0, "every second flow", whole=True, names=("as the first", "cubic", "bbr")),
)


def genes(kind: str) -> tuple[Gene, ...]:
    """The genes of a trial of a queue (aqm) or control (congestion)."""
    return _LINE + (_OF_QUEUES if kind == "aqm" else _OF_CONTROLS)


def simple(of: tuple[Gene, ...]) -> dict[str, float]:
    """The genome in which all genes have their simple values."""
    return {gene.name: gene.simple for gene in of}


def drawn(of: tuple[Gene, ...], rng: random.Random, share: float) -> dict[str, float]:
    """A random genome: each gene has a random value with probability `share`, else its simple
    value."""
    return {
        gene.name: gene.at(rng.random()) if rng.random() < share else gene.simple for gene in of
    }


def _megabits(value: float) -> str:
    return f"{value * 1e6:.0f} bit/s"


def scenario(genome: Genome, kind: str, subject: Any, length: float = 1.0) -> dict[str, Any]:
    """The scenario of a genome, with the attacked queue or congestion control in it; `length`
    scales the duration."""
    rate = genome["rate"]
    full = min(max(PACKETS * 0.012 / rate, LENGTH_S[0]), LENGTH_S[1])
    duration = max(full * length, 6.0)
    link = {"name": "line", "rate": _megabits(rate), "forward": _queue(genome, kind, subject)}
    if effects := _effects(genome, duration):
        link["effects"] = effects
    if genome["drop_to"] < 1:
        steps = [["0 s", _megabits(rate)]]
        steps.append([f"{0.4 * duration:.3f} s", _megabits(rate * genome["drop_to"])])
        link["rate_steps"] = steps
    return {
        "name": "weakness",
        "duration": f"{duration:.3f} s",
        "warmup": f"{0.4 * duration:.3f} s",
        "seed": 1,
        "network": {"rtt": f"{genome['rtt']:g} ms"},
        "link": [link],
        "traffic": _traffic(genome, kind, subject, duration),
        "record": {"queues": ["line.forward"]},
    }


def _queue(genome: Genome, kind: str, subject: Any) -> dict[str, Any]:
    if kind == "aqm":
        return {"aqm": subject}
    pipe = genome["rate"] * 1e3 * genome["rtt"] / 12_000
    return {"aqm": "droptail", "limit": max(2, round(pipe * genome["buffer"]))}


def _effects(genome: Genome, duration: float) -> list[dict[str, Any]]:
    effects: list[dict[str, Any]] = []
    if genome["slot"] > 0.1:
        effects.append(
            {"kind": "slots", "period": f"{genome['slot']:g} ms", "share": 0.25, "rate_is": "mean"}
        )
    if genome["loss"] > 0:
        effects.append({"kind": "loss", "share": genome["loss"]})
    if genome["jitter"] > 0.1:
        effects.append({"kind": "delay", "jitter": f"{genome['jitter']:g} ms"})
    if genome["outage"] > 0.01:
        times = [["0 s", "0 s"], [f"{0.5 * duration:.3f} s", f"{genome['outage']:g} s"]]
        effects.append({"kind": "outages", "times": times})
    return effects


def _traffic(genome: Genome, kind: str, subject: Any, duration: float) -> list[dict[str, Any]]:
    flows = int(genome["flows"])
    halves = [(flows + 1) // 2, flows // 2]
    groups = []
    for half, number in enumerate(halves):
        if number == 0:
            continue
        rtt = genome["rtt"] * (genome["spread"] if half else 1)
        group = {
            "name": ("first", "second")[half],
            "app": "bulk",
            "flows": number,
            "start": f"{half * genome['later'] * duration:.3f} s",
            "start_within": "0.2 s",
            "rtt": f"{rtt:.3f} ms",
            "tcp": _tcp(genome, kind, subject, half),
        }
        if half == 0 and genome["lost_at"] >= 1:
            group["script"] = _losses(genome)
        groups.append(group)
    if genome["pulse"] > 0.01:
        burst = genome["burst"] * genome["period"]
        rate = _megabits(genome["pulse"] * genome["rate"])
        pulse = {"name": "pulses", "app": "pulse", "flows": 1, "rate": rate}
        pulse["start"] = PULSES_FROM  # pulses begin after the handshakes
        groups.append({**pulse, "period": f"{genome['period']:g} s", "burst": f"{burst:.4f} s"})
    return groups


def _losses(genome: Genome) -> list[dict[str, Any]]:
    """A script that drops consecutive data packets, and some retransmissions of the first of
    them."""
    first, again = int(genome["lost_at"]), int(genome["lost_again"])
    script = [{"drop": list(range(first, first + int(genome["lost_run"])))}]
    if again:
        script.append({"drop": [first], "sent": list(range(2, 2 + again))})
    return script


def _tcp(genome: Genome, kind: str, subject: Any, half: int) -> dict[str, Any]:
    tcp: dict[str, Any] = {"profile": "linux"}
    if kind == "aqm":
        control: Any = CONTROLS[int(genome["second" if half else "control"])]
    elif half and genome["rival"] > 0:
        control = ("cubic", "bbr")[int(genome["rival"]) - 1]
    else:
        control = subject if isinstance(subject, str) else {"name": subject}
    if genome["ecn"] or control in ("prague", "dctcp"):
        tcp["ecn"] = True
    return {**tcp, "congestion": control}
