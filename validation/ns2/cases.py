"""What `python -m validation.ns2` compares: bulk TCP over one link, told to both programs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

MSS = 1460
"""Payload of a segment, bytes; 40 more of headers in both programs."""

PACKETS = {"queue_in_bytes": False, "mean_packet_bytes": 1500}
"""Everything is counted in packets of 1,500 B in both programs."""

DROP_TAIL, OTHERS = 120, 480
"""Packets that may wait behind drop-tail and AVQ, whose target is the limit, and behind others."""


@dataclass(frozen=True)
class Case:
    """One link, one discipline, one kind of end system."""

    family: str
    """Heading of its table."""
    queue: str = "red"
    flows: int = 10
    rate_mbit: int = 10
    rtt_ms: tuple[float, float] = (7, 137)
    """Round trips are spread evenly over it."""
    recovery: str = "sack"
    window: int = 10_000
    """Largest window, segments; 10,000 are never reached."""
    every: int = 2
    """Segments to an acknowledgement (2: or 200 ms)."""
    ecn: bool = False
    initial_window: int = 3
    profile: str = "plain"
    exit_fix: bool = True
    """NewReno leaves a recovery as RFC 6582 has it; ns-2 by default does not."""
    min_th: float = 30
    max_th: float = 90
    w_q: float = 1 / 512
    max_p: float = 0.1
    warmup_s: int = 50
    measured_s: int = 200

    @property
    def limit(self) -> int:
        """Packets that may wait."""
        return DROP_TAIL if self.queue in ("droptail", "avq") else OTHERS

    def name(self) -> str:
        """Short and unique: `10M-red-10-sack`, then what is not usual."""
        words = [f"{self.rate_mbit}M", self.queue, str(self.flows), self.recovery]
        words += ["window44"] if self.window == 44 else []
        words += ["ack1"] if self.every == 1 else []
        words += ["ecn"] if self.ecn else []
        words += [self.profile] if self.profile != "plain" else []
        words += [] if self.exit_fix else ["burst"]
        return "-".join(words)


def _disciplines() -> list[str]:
    return ["droptail", "red", "gentle", "ared", "pi", "rem", "avq"]


def full() -> Iterator[Case]:
    """All cases, cheap families first."""
    flows, rates = (1, 10, 50), (10, 100)
    for n, recovery, queue in itertools.product(
        (1, 10, 50, 200), ("newreno", "sack"), ("droptail", "red")
    ):
        yield Case("window of 44 segments", queue, n, 10, (7, 137), recovery, 44, measured_s=300)
    yield from hspa()
    for queue, n in itertools.product(("droptail", "red"), flows):
        yield Case("NewReno, window unlimited", queue, n, recovery="newreno")
    yield from exits()
    for rate, queue, n in itertools.product(rates, _disciplines(), flows):
        yield _at(Case("SACK, window unlimited", queue, n), rate)
    for queue, n in itertools.product(_disciplines(), flows):
        yield Case("every segment acknowledged", queue, n, every=1)
    for rate, queue, n in itertools.product(rates, _disciplines()[1:], flows):
        yield _at(Case("ECN", queue, n, ecn=True), rate)


def exits() -> Iterator[Case]:
    """NewReno of profile ns2 with and without `exit_recovery_fix_`."""
    newreno = Case("NewReno of ns-2", flows=50, recovery="newreno", profile="ns2")
    for queue, fix in itertools.product(("droptail", "red"), (True, False)):
        yield replace(newreno, queue=queue, exit_fix=fix)


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
            case = replace(case, min_th=3, max_th=50, w_q=0.02, max_p=0.65)
        yield case


def _at(case: Case, rate: int) -> Case:
    # Ten times the packets: less time.
    if rate > 10:
        return replace(case, rate_mbit=rate, warmup_s=30, measured_s=100)
    return replace(case, rate_mbit=rate)


def quick() -> Iterator[Case]:
    """What a minute has time for, one of every kind."""
    chosen = [case for case in hspa() if case.flows == 1]
    chosen += [Case("SACK, window unlimited", queue, 10) for queue in _disciplines()]
    chosen += [Case("ECN", queue, 50, ecn=True) for queue in ("red", "pi")]
    chosen += [Case("every segment acknowledged", "red", 10, every=1)]
    chosen += [Case("NewReno, window unlimited", "red", 10, recovery="newreno")]
    for case in chosen:
        yield replace(case, warmup_s=30, measured_s=60)


def _queue(case: Case) -> dict[str, object]:
    red: dict[str, object] = {
        "profile": "ns2",
        "min_th": case.min_th,
        "max_th": case.max_th,
        "w_q": case.w_q,
        "max_p": case.max_p,
        "limit": case.limit,
    }
    match case.queue:
        case "droptail":
            return {"aqm": "droptail", "limit": case.limit}
        case "red" | "hred" | "gentle":
            gentle = case.queue == "gentle"
            plain: dict[str, object] = {"aqm": "red", **red, **PACKETS, "byte_probability": False}
            return plain | {"gentle": gentle, "ecn": case.ecn}
        case "ared":
            units = {"units": "packet", "mean_packet_bytes": 1500}
            return {"aqm": "ared", **red, **units, "gentle": True, "ecn": case.ecn}
        case "pi":
            gains = {"q_ref": 50, "a": 0.0001822, "b": 0.0001816}
            return {"aqm": "pi", **gains, "limit": case.limit, "ecn": case.ecn}
        case "rem":
            # ns-2's queue holds one packet less than its limit, and so does this profile.
            return {"aqm": "rem", "profile": "ns2", **PACKETS, "limit": case.limit, "ecn": case.ecn}
        case "avq":
            units = {"units": "byte", "mean_packet_bytes": 1500}
            return {"aqm": "avq", "profile": "ns2", **units, "limit": case.limit, "ecn": case.ecn}
    raise ValueError(f"no discipline {case.queue}")


def scenario(case: Case) -> dict[str, object]:
    """The scenario of bulk.tcl."""
    return {"name": f"ns2-{case.name()}", **dumbbell(case, _queue(case))}


def dumbbell(case: Case, queue: dict[str, object]) -> dict[str, object]:
    """All of a flow's propagation delay lies at its client's entrance."""
    low, high = case.rtt_ms
    rtt = [f"{low + (high - low) * (i + 0.5) / case.flows} ms" for i in range(case.flows)]
    tcp: dict[str, object] = {
        "profile": case.profile,
        "recovery": case.recovery,
        "window_bytes": case.window * MSS,
        "initial_window": case.initial_window,
        "rto_min": "1 s",
        "ack_every": case.every,
        "ecn": case.ecn,
        "idle_restart": False,
    }
    if case.profile == "ns2":
        tcp |= {"mss": MSS, "tick": f"{tick(case)} s", "delayed_ack": "200 ms"}
        tcp |= {"exit_recovery_fix": case.exit_fix}
    return {
        "duration": f"{case.warmup_s + case.measured_s} s",
        "warmup": f"{case.warmup_s} s",
        "network": {"clients": case.flows, "servers": 1, "rtt": rtt},
        "link": [
            {
                "rate": f"{case.rate_mbit} Mbit/s",
                "reverse_rate": "100 Gbit/s",
                "forward": queue,
                "reverse": {"aqm": "droptail", "limit": 100_000},
            }
        ],
        "traffic": [{"app": "bulk", "flows": case.flows, "start_within": "1 s", "tcp": tcp}],
        "record": {"samples": False, "responses": False},
    }


def tick(case: Case) -> float:
    """Granularity of ns-2's clock, s: the finest that aqmlab's profile has."""
    return 0.001 if case.profile == "ns2" else 0.0001


def words(case: Case, seed: int) -> list[str]:
    """What bulk.tcl is told."""
    known = asdict(case)
    low, high = case.rtt_ms
    told = {
        name: known[name]
        for name in (
            "flows",
            "recovery",
            "window",
            "every",
            "initial_window",
            "min_th",
            "max_th",
            "w_q",
            "max_p",
        )
    }
    told |= {
        "queue": "red" if case.queue == "hred" else case.queue,
        "rate": f"{case.rate_mbit}e6",
        "rtt_min": low / 1000,
        "rtt_max": high / 1000,
        "ecn": int(case.ecn),
        "exit_fix": int(case.exit_fix),
        "limit": case.limit,
        "tick": tick(case),
        "seed": seed,
        "warmup": case.warmup_s,
        "end": case.warmup_s + case.measured_s,
    }
    return [str(word) for pair in told.items() for word in pair]
