"""What `python -m validation.ns2` compares: TCP over one link or two, in both programs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from validation import dumbbell
from validation.dumbbell import CONTROLS
from validation.workload import STATIONS, Burst, Web

PACKETS = {"queue_in_bytes": False, "mean_packet_bytes": 1500}
"""Both programs count everything in packets of 1,500 B."""


HARSH_RED = {
    "HSPA": {"min_th": 3, "max_th": 50, "w_q": 0.02, "max_p": 0.65},
    "EDGE": {"min_th": 3, "max_th": 40, "w_q": 0.2, "max_p": 0.65},
}
"""Table 1 of the Harsh RED paper."""


@dataclass(frozen=True)
class Case(dumbbell.Case):
    """A case, with the profile of our senders that ns-2's are compared with."""

    profile: str = "ns2"
    exit_fix: bool = True
    """Whether NewReno leaves a recovery as in RFC 6582, which ns-2 does not by default."""

    def words(self) -> list[str]:
        """The words that name what is unusual in the case."""
        words = super().words()
        words += [self.profile] if self.profile != "ns2" else []
        return words + ([] if self.exit_fix else ["burst"])


def _disciplines() -> list[str]:
    return ["droptail", "red", "gentle", "ared", "pi", "rem", "avq"]


def full() -> Iterator[Case]:
    """All cases; families that take little time come first."""
    flows, rates = (1, 10, 50), (10, 100)
    for n, recovery, queue in itertools.product(
        (1, 10, 50, 200), ("newreno", "sack"), ("droptail", "red")
    ):
        yield Case("window of 44 segments", queue, n, recovery=recovery, window=44, measured_s=300)
    yield from hspa()
    yield from bursts()
    yield from rfc7928()
    yield from streams()
    yield from two_links()
    yield from web()
    for queue, n in itertools.product(("droptail", "red"), flows):
        yield Case("NewReno, window unlimited", queue, n, recovery="newreno")
    yield from exits()
    for rate, queue, n in itertools.product(rates, _disciplines(), flows):
        yield _at(Case("SACK, window unlimited", queue, n), rate)
    for queue, n in itertools.product(_disciplines(), flows):
        yield Case("every segment acknowledged", queue, n, every=1)
    for rate, queue, n in itertools.product(rates, _disciplines()[1:], flows):
        yield _at(Case("ECN", queue, n, ecn=True), rate)
    yield from controls()


def controls() -> Iterator[Case]:
    """Counter-experiments: the suspected cause of a difference is removed from a case
    (`validation.causes`)."""
    yield Case(CONTROLS, "droptail", 10, every=1, drawn_ms=12)
    for case in bursts():
        # The burst may come at any time in the long transfer's sawtooth, instead of within ten
        # seconds.
        anywhere = replace(case.workload, within_s=50 if case.rate_mbit > 1 else 100)
        if case.queue == "hred" and anywhere.flows == 1:
            longer = case.measured_s + int(anywhere.within_s)
            yield replace(case, family=CONTROLS, workload=anywhere, measured_s=longer)
    # Enough flows that RED's average often exceeds max_th, and that drops are not rare in
    # comparison with marks.
    for case in hspa():
        if case.queue == "red" and case.ecn and case.flows == 10:
            yield replace(case, family=CONTROLS, flows=20)


def exits() -> Iterator[Case]:
    """NewReno without `exit_recovery_fix_`; all other cases have the fix."""
    for queue in ("droptail", "red"):
        yield Case(
            "NewReno as ns-2 has it by default", queue, 50, recovery="newreno", exit_fix=False
        )


def hspa() -> Iterator[Case]:
    """2 Mbit/s and 142 ms, as in the Harsh RED paper: its RED, its Harsh RED and drop-tail."""
    link = Case("2 Mbit/s, 142 ms", rate_mbit=2, rtt_ms=(142, 142), every=1, initial_window=2)
    for queue, n, ecn in itertools.product(("droptail", "red", "hred"), (1, 10), (False, True)):
        if ecn and queue == "droptail":
            continue
        case = replace(link, queue=queue, flows=n, ecn=ecn)
        if queue == "red":
            case = replace(case, min_th=5, max_th=20, w_q=0.002)
        if queue == "hred":
            case = replace(case, **HARSH_RED["HSPA"])
        yield case


def bursts() -> Iterator[Case]:
    """The Harsh RED paper's bursts: 360 kB over n flows that start at once while a long transfer
    runs."""
    links = (("HSPA", 2, 142, Burst(1, 247, 60, 10)), ("EDGE", 0.2, 402, Burst(1, 247, 150, 10)))
    kinds = itertools.product(("newreno", "sack"), links, ("droptail", "hred"), (1, 6, 18))
    for recovery, (name, rate, rtt, burst), queue, n in kinds:
        yield Case(
            f"bursts on {name}",
            queue,
            flows=1,
            rate_mbit=rate,
            rtt_ms=(rtt, rtt),
            recovery=recovery,
            every=1,
            initial_window=2,
            workload=replace(burst, flows=n),
            **(HARSH_RED[name] if queue == "hred" else {}),
            warmup_s=burst.after_s,
            measured_s=60 if rate > 1 else 120,
        )


def rfc7928() -> Iterator[Case]:
    """Mild, medium and heavy congestion of ns-3's suite: 1 Mbit/s, 100 ms, segments of 698 B."""
    link = Case(
        "RFC 7928's congestion", rate_mbit=1, rtt_ms=(100, 100), recovery="newreno", mss=698
    )
    link = replace(link, min_th=5, max_th=15, w_q=0.002, limit=45)
    for queue, n in itertools.product(("droptail", "red", "ared"), (2, 5, 7)):
        yield replace(link, queue=queue, flows=n, measured_s=250)


def streams() -> Iterator[Case]:
    """Two streams of 1 Mbit/s in competition with ten bulk senders."""
    for queue in _disciplines():
        yield Case("with streams of datagrams", queue, 10, streams=2)


def two_links() -> Iterator[Case]:
    """Ten senders over two links, ten more over each."""
    for queue in _disciplines():
        yield Case("two congested links", queue, 10, cross=10)


def web() -> Iterator[Case]:
    """Transfers with Pareto sizes and no long one: ns-2 needs 10 s for a run."""
    for queue, load in itertools.product(("droptail", "red", "ared", "pi"), (0.8, 0.98)):
        yield Case("web transfers", queue, 0, workload=Web(load), measured_s=150)


def _at(case: Case, rate: int) -> Case:
    # Ten times as many packets: a shorter run suffices.
    if rate > 10:
        return replace(case, rate_mbit=rate, warmup_s=30, measured_s=100)
    return replace(case, rate_mbit=rate)


def quick() -> Iterator[Case]:
    """One case of every kind, for a minute of computing."""
    chosen = [case for case in hspa() if case.flows == 1]
    chosen += [Case("SACK, window unlimited", queue, 10) for queue in _disciplines()]
    chosen += [Case("ECN", queue, 50, ecn=True) for queue in ("red", "pi")]
    chosen += [Case("every segment acknowledged", "red", 10, every=1)]
    chosen += [Case("NewReno, window unlimited", "red", 10, recovery="newreno")]
    chosen += [next(kind()) for kind in (rfc7928, streams, two_links, web)]
    for case in chosen:
        yield replace(case, warmup_s=30, measured_s=60)


def _queue(case: Case) -> dict[str, object]:
    red: dict[str, object] = {
        "profile": "ns2",
        "min_th": case.min_th,
        "max_th": case.max_th,
        "w_q": case.w_q,
        "max_p": case.max_p,
        "limit": case.room,
    }
    match case.queue:
        case "droptail":
            return {"aqm": "droptail", "limit": case.room}
        case "red" | "hred" | "gentle":
            gentle = case.queue == "gentle"
            plain: dict[str, object] = {"aqm": "red", **red, **PACKETS, "byte_probability": False}
            return plain | {"gentle": gentle, "ecn": case.ecn}
        case "ared":
            units = {"units": "packet", "mean_packet_bytes": 1500}
            return {"aqm": "ared", **red, **units, "gentle": True, "ecn": case.ecn}
        case "pi":
            gains = {"q_ref": 50, "a": 0.0001822, "b": 0.0001816}
            return {"aqm": "pi", **gains, "limit": case.room, "ecn": case.ecn}
        case "rem":
            # ns-2's queue holds one packet less than its limit, and so does this profile.
            return {"aqm": "rem", "profile": "ns2", **PACKETS, "limit": case.room, "ecn": case.ecn}
        case "avq":
            units = {"units": "byte", "mean_packet_bytes": 1500}
            return {"aqm": "avq", "profile": "ns2", **units, "limit": case.room, "ecn": case.ecn}
    raise ValueError(f"no discipline {case.queue}")


def scenario(case: Case, seed: int) -> dict[str, object]:
    """The scenario of aqmlab that corresponds to a case of `dumbbell.tcl`."""
    tcp: dict[str, object] = {"profile": case.profile}
    if case.profile == "ns2":
        tcp |= {"tick": f"{tick(case)} s", "delayed_ack": "200 ms"}
        tcp |= {"exit_recovery_fix": case.exit_fix}
        tcp |= {"recovery": "sack1"} if case.recovery == "sack" else {}
    described = dumbbell.scenario(case, _queue(case), tcp, seed)
    return {"name": f"ns2-{case.name()}", **described}


def tick(case: Case) -> float:
    """Granularity of ns-2's clock, s: the finest that aqmlab's profile has."""
    return 0.001 if case.profile == "ns2" else 0.0001


def words(case: Case, seed: int) -> list[str]:
    """The arguments of dumbbell.tcl, which reads the transfers from its standard input."""
    known = asdict(case)
    low, high = case.drawn(seed).rtt_ms
    same = ("flows", "recovery", "mss", "window", "every", "initial_window", "streams", "cross")
    described = {name: known[name] for name in (*same, "min_th", "max_th", "w_q", "max_p")}
    described |= {
        "queue": "red" if case.queue == "hred" else case.queue,
        "rate": f"{case.rate_mbit}e6",
        "rtt_min": low / 1000,
        "rtt_max": high / 1000,
        "stations": STATIONS,
        "ecn": int(case.ecn),
        "exit_fix": int(case.exit_fix),
        "limit": case.room,
        "tick": tick(case),
        "seed": seed,
        "warmup": case.warmup_s,
        "end": case.end_s,
    }
    return [str(word) for pair in described.items() for word in pair]
