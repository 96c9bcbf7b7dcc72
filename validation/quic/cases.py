"""What `python -m validation.quic` compares: bulk senders behind aqmlab's queues, in both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from validation import dumbbell

QUEUES: dict[str, dict[str, Any]] = {
    "droptail": {"limit": 120},
    "red": {"min_th": 30, "max_th": 90, "w_q": 1 / 512, "max_p": 0.1, "limit": 480},
    "codel": {"limit": 480},
    "fq_codel": {},
    "pie": {"limit": 480},
}
"""Queue disciplines of the cases, with their parameters."""
BULK = 1 << 28
"""Number of bytes that each sender has to send: more than it can send in a run."""


@dataclass(frozen=True)
class Case(dumbbell.Case):
    """A queue, a number of senders, their congestion control, and whether aqmlab's QUIC makes
    quinn's choices."""

    control: str = "reno"
    """Quinn's congestion control: rfc9002, reno, cubic."""
    shipped: bool = False
    """Whether each program runs with its own defaults, instead of aqmlab's QUIC with quinn's
    choices."""
    rtt_ms: tuple[float, float] = (40, 80)
    drawn_ms: float = 20
    warmup_s: int = 10
    measured_s: int = 40

    def name(self) -> str:
        """The case's name, short and unique."""
        words = [f"{self.rate_mbit:g}M", self.queue, str(self.flows), self.control]
        words += ["shipped"] if self.shipped else []
        return "-".join([*words, *self.words()])

    def words(self) -> list[str]:
        """Words for what is not usual in the case; that round trips are drawn is not named, since
        it holds for every case."""
        return ["ecn"] if self.ecn else []


def cases() -> Iterator[Case]:
    """All cases."""
    for queue in QUEUES:
        yield Case("reno, quinn's choices", queue, control="reno")
    for queue in QUEUES:
        yield Case("cubic, as shipped", queue, control="cubic", shipped=True)
    for queue in QUEUES:
        yield Case("cubic, quinn's choices", queue, control="cubic")
    for queue in ("red", "codel", "fq_codel", "pie"):
        yield Case("reno, ECN, quinn's choices", queue, control="reno", ecn=True)


def quick() -> Iterator[Case]:
    """What a minute has time for."""
    for queue in QUEUES:
        yield Case("reno, quinn's choices", queue, control="reno", measured_s=30)


CONTROLS = {"rfc9002": "reno", "reno": "reno", "cubic": "rfc9438"}
"""Quinn's congestion controls (rfc9002: the text of RFC 9002 as a control of quinn's), each with
ours."""

CHOICES: dict[str, Any] = {
    "connection_id": 0,
    "recovery_packet": False,
    "pacing_bursts": True,
    "probe_data": False,
    "window_bytes": 1_000_000_000,
}
"""What quinn chooses among what RFC 9000 and 9002 allow, as fields of profile `quic`."""


def queue(case: Case) -> dict[str, Any]:
    """The parameters of a case's queue discipline."""
    marks = {"ecn": case.ecn} if case.queue != "droptail" else {}
    return QUEUES[case.queue] | marks


def scenario(case: Case, seed: int) -> dict[str, Any]:
    """The case as a scenario of aqmlab."""
    made = dumbbell.scenario(case, {"aqm": case.queue, **queue(case)}, {}, seed)
    ends = {"profile": "quic", "congestion": CONTROLS[case.control], "ecn": case.ecn}
    ends |= {} if case.shipped else CHOICES
    for group in made["traffic"]:
        group["tcp"] = ends
    return made


def words(case: Case, seed: int) -> list[str]:
    """The case as arguments of the program, each `name=value`."""
    drawn = case.drawn(seed)
    low, high = (round(1e6 * rtt / 2) for rtt in drawn.rtt_ms)
    given: dict[str, object] = {
        "seed": seed,
        "control": case.control,
        "shipped": case.shipped,
        "ecn": case.ecn,
        "flows": case.flows,
        "rate": round(case.rate_mbit * 1e6),
        "reverse": 100_000_000_000,
        "delay": low,
        "delay_to": high,
        "within": 1_000_000_000,
        "reply": BULK,
        "warmup": case.warmup_s * 1_000_000_000,
        "until": case.end_s * 1_000_000_000,
        "queue": case.queue,
        **{f"queue.{name}": value for name, value in queue(case).items()},
    }
    shown = {name: str(value).lower() for name, value in given.items()}
    return [f"{name}={value}" for name, value in shown.items()]
