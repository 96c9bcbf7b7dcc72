"""What `python -m validation.ns3` compares: the bulk cases of ns-2, told to ns-3 and to aqmlab."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from validation.ns2 import cases as ns2

HEADER = 2
"""Bytes that ns-3's point-to-point device adds to a packet."""
FULL = 1500
DISCIPLINES = (
    "droptail", "red", "gentle", "ared", "pie", "codel", "fq_codel", "cobalt", "fq_pie",
)  # fmt: skip
MARKING = ("red", "pie", "codel", "fq_codel", "cobalt")


@dataclass(frozen=True)
class Case(ns2.Case):
    """One link, one discipline, one kind of end system; who halves what in ns-3."""

    control: str = "Rfc5681"
    """Rfc5681 of bulk.cc, or TcpNewReno as ns-3 ships it: it halves less than the flight size."""

    def name(self) -> str:
        """As for ns-2."""
        return super().name() + ("" if self.control == "Rfc5681" else "-shipped")


@dataclass(frozen=True)
class Discipline:
    """One discipline in both programs."""

    ours: dict[str, object]
    """The queue of a scenario."""
    theirs: str
    """The queue disc of ns-3, without `QueueDisc`."""
    attributes: Mapping[str, object]


def discipline(case: Case) -> Discipline:
    """The discipline of a case, with ns-3's defaults where the case says nothing."""
    limit = 120 if case.queue == "droptail" else 480
    size = {"MaxSize": f"{limit}p"}
    ecn = {"UseEcn": str(case.ecn).lower()}
    match case.queue:
        case "droptail":
            return Discipline({"aqm": "droptail", "limit": limit}, "Fifo", size)
        case "red" | "gentle" | "ared":
            return _red(case, limit, size | ecn)
        case "pie":
            ours = {"aqm": "pie", "delay": "timestamp", "derandomise": False}
            return Discipline({**ours, "limit": limit, "ecn": case.ecn}, "Pie", size | ecn)
        case "fq_pie":
            ours = {"aqm": "fq_pie", "derandomise": False, "quantum": FULL, "ecn": case.ecn}
            return Discipline(ours, "FqPie", ecn)
        case "fq_codel":
            ours = {"aqm": "fq_codel", "profile": "ns3", "ecn": case.ecn}
            return Discipline(ours, "FqCoDel", ecn)
        case "codel" | "cobalt":
            ours = {"aqm": case.queue, "profile": "ns3", "limit": limit, "ecn": case.ecn}
            return Discipline(ours, {"codel": "CoDel", "cobalt": "Cobalt"}[case.queue], size | ecn)
    raise ValueError(f"no discipline {case.queue}")


def _red(case: Case, limit: int, attributes: dict[str, str]) -> Discipline:
    ours: dict[str, object] = {"profile": "ns3", "limit": limit, "ecn": case.ecn}
    ours |= {"mean_packet_bytes": FULL}
    theirs: dict[str, object] = {
        **attributes,
        "MeanPktSize": FULL,
        "LinkBandwidth": f"{case.rate_mbit}Mbps",
    }
    if case.queue == "ared":
        return Discipline({"aqm": "ared", **ours}, "Red", theirs | {"ARED": "true"})
    thresholds = {"min_th": case.min_th, "max_th": case.max_th, "w_q": case.w_q}
    ours |= {"aqm": "red", **thresholds, "max_p": case.max_p, "gentle": case.queue == "gentle"}
    theirs |= {"MinTh": case.min_th, "MaxTh": case.max_th, "QW": case.w_q}
    theirs |= {"LInterm": 1 / case.max_p, "Gentle": str(case.queue == "gentle").lower()}
    return Discipline(ours, "Red", theirs)


def full() -> Iterator[Case]:
    """All cases, cheap families first."""
    flows = (1, 10, 50)
    for queue, n in itertools.product(("droptail", "red"), (1, 10, 50, 200)):
        yield Case("window of 44 segments", queue, n, window=44)
    for queue, n in itertools.product(("droptail", "red"), flows):
        yield Case("NewReno, window unlimited", queue, n, recovery="newreno")
    for queue, n in itertools.product(DISCIPLINES, flows):
        yield Case("SACK, window unlimited", queue, n)
    for queue, n in itertools.product(("droptail", "red"), flows):
        yield Case("every segment acknowledged", queue, n, every=1)
    for queue, n in itertools.product(MARKING, flows):
        yield Case("ECN", queue, n, ecn=True)
    yield from shipped()
    for queue, n in itertools.product(("droptail", "red", "pie", "codel", "fq_codel"), flows):
        case = Case("SACK, window unlimited", queue, n, rate_mbit=100)
        yield replace(case, warmup_s=20, measured_s=60)


def shipped() -> Iterator[Case]:
    """The senders that ns-3 ships: their slow-start threshold is smaller than RFC 5681's."""
    for queue in ("droptail", "red", "pie", "codel"):
        yield Case("ns-3's own slow-start threshold", queue, control="TcpNewReno")


def quick() -> Iterator[Case]:
    """What two minutes have time for: every discipline once."""
    for queue in DISCIPLINES:
        yield Case("SACK, window unlimited", queue, warmup_s=30, measured_s=60)
    yield Case("ECN", "red", 50, ecn=True, warmup_s=30, measured_s=60)


def scenario(case: Case) -> dict[str, object]:
    """The scenario of bulk.cc."""
    return {"name": f"ns3-{case.name()}", **ns2.dumbbell(case, discipline(case).ours)}


def words(case: Case, seed: int) -> list[str]:
    """What bulk.cc is told."""
    told = discipline(case)
    low, high = case.rtt_ms
    values = {
        "queue": told.theirs,
        "attributes": ",".join(f"{name}={value}" for name, value in told.attributes.items()),
        "flows": case.flows,
        "rate": case.rate_mbit * 1e6 * (FULL + HEADER) / FULL,
        "rtt_min": low / 1000,
        "rtt_max": high / 1000,
        "sack": int(case.recovery == "sack"),
        "window": case.window,
        "every": case.every,
        "ecn": int(case.ecn),
        "initial_window": case.initial_window,
        "control": case.control,
        "seed": seed,
        "warmup": case.warmup_s,
        "end": case.warmup_s + case.measured_s,
    }
    return [f"--{name}={value}" for name, value in values.items()]
