"""What `python -m validation.ns3` compares: cases like those of ns-2, told to both programs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from validation import dumbbell
from validation.dumbbell import CONTROLS
from validation.workload import STATIONS, Burst, Web

HEADER = 2
"""Bytes that ns-3's point-to-point device adds to a packet."""
FULL = 1500
"""Bytes of a packet, of most cases."""
DISCIPLINES = (
    "droptail", "red", "gentle", "ared", "pie", "codel", "fq_codel", "cobalt", "fq_pie",
)  # fmt: skip
MARKING = ("red", "pie", "codel", "fq_codel", "cobalt")


@dataclass(frozen=True)
class Case(dumbbell.Case):
    """A case, and who halves what in ns-3."""

    control: str = "Rfc5681"
    """Rfc5681 of dumbbell.cc, or TcpNewReno as ns-3 ships it: it halves less than the flight."""
    impatient: bool = False
    """Ours starts its timer anew at the first partial ACK of a recovery alone, as ns-3 does."""
    warmup_s: int = 20
    measured_s: int = 50
    """ns-3 needs a second for ten."""

    def name(self) -> str:
        """The case's name, formed like the names of cases of ns-2."""
        words = ["-shipped"] if self.control != "Rfc5681" else []
        words += ["-impatient"] if self.impatient else []
        return super().name() + "".join(words)


@dataclass(frozen=True)
class Discipline:
    """A queue discipline, as both programs name and configure it."""

    ours: dict[str, object]
    """The queue in a scenario of aqmlab."""
    theirs: str
    """The queue disc of ns-3, without `QueueDisc`."""
    attributes: Mapping[str, object]


def discipline(case: Case) -> Discipline:
    """The discipline of a case, with ns-3's defaults where the case says nothing."""
    limit = case.room
    size = {"MaxSize": f"{limit}p"}
    ecn = {"UseEcn": str(case.ecn).lower()}
    match case.queue:
        case "droptail":
            return Discipline({"aqm": "droptail", "limit": limit}, "Fifo", size)
        case "red" | "gentle" | "ared":
            return _red(case, limit, size | ecn)
        case "pie":
            ours = {"aqm": "pie", "delay": "timestamp", "derandomise": False}
            # A queue of at most two packets loses none; ours counts two of so many bytes.
            ours |= {"mean_packet_bytes": case.mss + 40}
            return Discipline({**ours, "limit": limit, "ecn": case.ecn}, "Pie", size | ecn)
        case "fq_pie":
            ours = {"aqm": "fq_pie", "derandomise": False, "quantum": FULL, "ecn": case.ecn}
            ours |= {"mean_packet_bytes": FULL}  # as for PIE
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
    """All cases; families that take little time come first."""
    flows = (1, 10, 50)
    for queue, n in itertools.product(("droptail", "red"), (1, 10, 50, 200)):
        yield Case("window of 44 segments", queue, n, window=44)
    for queue, n in itertools.product(("droptail", "red"), flows):
        yield Case("NewReno, window unlimited", queue, n, recovery="newreno")
    for queue, n in itertools.product(DISCIPLINES, flows):
        yield Case("SACK, window unlimited", queue, n, measured_s=_measured_s(n))
    for queue, n in itertools.product(("droptail", "red"), flows):
        yield Case("every segment acknowledged", queue, n, every=1, measured_s=_measured_s(n))
    for queue, n in itertools.product(MARKING, flows):
        yield Case("ECN", queue, n, ecn=True, measured_s=_measured_s(n))
    yield from shipped()
    yield from beside()
    yield from rfc7928()
    for queue in ("droptail", "red", "codel"):
        yield Case("SACK, window unlimited", queue, rate_mbit=100, measured_s=30)
    yield from controls()


def controls() -> Iterator[Case]:
    """What is suspected to part a case is taken out of it (`validation.causes`)."""
    yield Case(CONTROLS, "droptail", 10, every=1, drawn_ms=12)
    for case in bursts():
        # A burst at any time of the long transfer's sawtooth, not of ten seconds of it.
        if case.workload == Burst(1, 247, 60, 10):
            anywhere = replace(case, family=CONTROLS, workload=Burst(1, 247, 60, 50))
            yield from (replace(anywhere, measured_s=110, impatient=x) for x in (False, True))
    # So many that RED's average passes max_th often, and drops beside marks are not rare.
    yield Case(CONTROLS, "red", 70, ecn=True)


def _measured_s(flows: int) -> int:
    """A lone flow's window rises and falls in ten seconds: 50 s hold too few of them."""
    return 200 if flows == 1 else 50


def shipped() -> Iterator[Case]:
    """The senders that ns-3 ships: their slow-start threshold is smaller than RFC 5681's."""
    for queue in ("droptail", "red", "pie", "codel"):
        yield Case("ns-3's own slow-start threshold", queue, control="TcpNewReno")


def beside() -> Iterator[Case]:
    """Streams beside bulk senders, two congested links, web transfers, bursts beside a sender."""
    disciplines = ("droptail", "red", "pie", "codel", "fq_codel")
    for queue in disciplines:
        yield Case("with streams of datagrams", queue, 10, streams=2)
    for queue in disciplines:
        yield Case("two congested links", queue, 10, cross=10)
    for queue, load in itertools.product(disciplines, (0.8, 0.98)):
        yield Case("web transfers", queue, 0, workload=Web(load))
    yield from bursts()


def bursts() -> Iterator[Case]:
    """The Harsh RED paper's: 360 kB over n flows that start at once, beside a long transfer."""
    for queue, n in itertools.product(("droptail", "codel"), (1, 6, 18)):
        yield Case(
            "bursts on HSPA",
            queue,
            flows=1,
            rate_mbit=2,
            rtt_ms=(142, 142),
            every=1,
            initial_window=2,
            workload=Burst(n, 247, 60, 10),
            warmup_s=60,
            measured_s=60,
        )


def rfc7928() -> Iterator[Case]:
    """Mild, medium and heavy congestion of ns-3's suite: 1 Mbit/s, 100 ms, segments of 698 B.

    Its senders have no SACK; those with it show what of a difference comes of that (ns-3's repair
    without SACK begins again by its own duplicates; docs/validation.md).
    """
    link = Case("RFC 7928's congestion", rate_mbit=1, rtt_ms=(100, 100), mss=698)
    congestion = itertools.product(
        ("newreno", "sack"), ("droptail", "red", "pie", "codel"), (2, 5, 7)
    )
    for recovery, queue, n in congestion:
        yield replace(
            link,
            recovery=recovery,
            queue=queue,
            flows=n,
            min_th=5,
            max_th=15,
            w_q=0.002,
            limit=45,
            measured_s=150,
        )


def quick() -> Iterator[Case]:
    """What two minutes have time for: every discipline once."""
    for queue in DISCIPLINES:
        yield Case("SACK, window unlimited", queue, warmup_s=30, measured_s=60)
    yield Case("ECN", "red", 50, ecn=True, warmup_s=30, measured_s=60)
    for case in (*beside(), *rfc7928()):
        if case.queue == "codel" and "burst" not in case.name():
            yield replace(case, warmup_s=10, measured_s=20)


def scenario(case: Case, seed: int) -> dict[str, object]:
    """The scenario of aqmlab that corresponds to a case of `dumbbell.cc`."""
    # What dumbbell.cc sets where ns-3's own value is another.
    tcp: dict[str, object] = {"profile": "ns3", "timestamps": False, "rto_initial": "1 s"}
    tcp["syn_retries"] = 12
    if case.recovery == "sack":
        tcp["impatient"] = case.impatient
    described = dumbbell.scenario(case, discipline(case).ours, tcp, seed)
    # Its device holds a packet beside the one it sends; the discipline sees what waits above.
    links = [{**link, "ring": 2} for link in described["link"]]
    return {"name": f"ns3-{case.name()}", **described, "link": links}


def words(case: Case, seed: int) -> list[str]:
    """What dumbbell.cc is told; the transfers come on its standard input."""
    described = discipline(case)
    low, high = case.drawn(seed).rtt_ms
    full = case.mss + 40
    values = {
        "queue": described.theirs,
        "attributes": ",".join(f"{name}={value}" for name, value in described.attributes.items()),
        "flows": case.flows,
        "rate": case.rate_mbit * 1e6 * (full + HEADER) / full,
        "rtt_min": low / 1000,
        "rtt_max": high / 1000,
        "sack": int(case.recovery == "sack"),
        "window": case.window,
        "every": case.every,
        "ecn": int(case.ecn),
        "initial_window": case.initial_window,
        "mss": case.mss,
        "streams": case.streams,
        "cross": case.cross,
        "stations": STATIONS,
        "control": case.control,
        "seed": seed,
        "warmup": case.warmup_s,
        "end": case.end_s,
    }
    return [f"--{name}={value}" for name, value in values.items()]
