"""One scenario in the form that every program gets: senders, one congested link or two, receivers.

Bulk TCP, and with it transfers (`workload`), streams of datagrams, or a second link with senders
of its own. All of a connection's propagation delay lies between a link and one end; nothing else
delays, and only the links are slower than 100 Gbit/s.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any, Self

from validation.workload import STATIONS, Transfer, Workload, as_lines, replayed

STREAM = {"rate_bits_per_s": 1_000_000, "packet_bytes": 1_000}
"""A stream of datagrams: rate and size of the payload; 28 bytes of headers more."""

CONTROLS = "controls: one cause taken out"
"""The family of cases that are another without what is suspected to part it (`causes`)."""


@dataclass(frozen=True)
class Case:
    """One link, one discipline, one kind of end system."""

    family: str
    """Heading of the table that lists the case."""
    queue: str = "red"
    flows: int = 10
    """Number of bulk senders over the link, or over both links."""
    rate_mbit: float = 10
    rtt_ms: tuple[float, float] = (7, 137)
    """Smallest and largest round-trip time, ms, over which those of the flows are spread evenly."""
    drawn_ms: float = 0
    """Each seed adds to both ends of it what it draws up to this. Which flow meets a full buffer is
    a matter of phases, and so of round trips counted in transmission times (Floyd and Jacobson, On
    Traffic Phase Effects, 1992): seeds that draw them show many phases, not one."""
    recovery: str = "sack"
    mss: int = 1460
    """Payload of a segment, bytes; 40 more of headers in every program."""
    window: int = 10_000
    """Largest window, segments; 10,000 are never reached."""
    every: int = 2
    """Number of segments that one acknowledgement covers; with 2, it is sent after 200 ms at the
    latest."""
    ecn: bool = False
    initial_window: int = 3
    min_th: float = 30
    max_th: float = 90
    w_q: float = 1 / 512
    max_p: float = 0.1
    limit: int = 0
    """Number of packets that may wait; 0 for the number that `room` gives."""
    streams: int = 0
    """Number of streams of datagrams in addition to the bulk senders; a gap between datagrams is
    drawn from half to one and a half of the mean."""
    workload: Workload | None = None
    """Transfers in addition to the bulk senders."""
    cross: int = 0
    """Bulk senders over the first link alone, as many over the second; 0: there is no second."""
    warmup_s: int = 50
    measured_s: int = 200

    @property
    def room(self) -> int:
        """Number of packets that may wait: `limit` if set, 120 with drop-tail and with AVQ (whose
        target it is), 480 with other disciplines."""
        return self.limit or (120 if self.queue in ("droptail", "avq") else 480)

    @property
    def paired(self) -> bool:
        """Whether both programs have the same transfers under a seed."""
        return self.workload is not None

    @property
    def end_s(self) -> int:
        """Time at which the run ends, s."""
        return self.warmup_s + self.measured_s

    def drawn(self, seed: int) -> Self:
        """The case as one run has it: with its round-trip times, if the seed draws them."""
        if not self.drawn_ms:
            return self
        draws = random.Random(seed)
        low, high = (round(end + draws.uniform(0, self.drawn_ms), 3) for end in self.rtt_ms)
        return replace(self, rtt_ms=(low, high), drawn_ms=0)

    def rtt(self, i: int, of: int) -> float:
        """Round-trip time, ms, of end `i` of `of` ends."""
        low, high = self.rtt_ms
        return low + (high - low) * (i + 0.5) / of

    def transfers(self, seed: int) -> list[Transfer]:
        """All transfers of the run with this seed."""
        if self.workload is None:
            return []
        return self.workload.transfers(seed, self)

    def lines(self, seed: int) -> str:
        """The transfers of a run as lines of text, for a program that reads them."""
        return as_lines(self.transfers(seed))

    def words(self) -> list[str]:
        """What is not usual, for the case's name."""
        words = ["mss", str(self.mss)] if self.mss != 1460 else []
        words += [f"window{self.window}"] if self.window < 10_000 else []
        words += ["ack1"] if self.every == 1 else []
        words += ["ecn"] if self.ecn else []
        words += ["drawn"] if self.drawn_ms else []
        words += [str(self.workload)] if self.workload else []
        words += [f"cbr{self.streams}"] if self.streams else []
        return words + (["two"] if self.cross else [])

    def name(self) -> str:
        """Short and unique: `10M-red-10-sack`, then what is not usual."""
        usual = [f"{self.rate_mbit:g}M", self.queue, str(self.flows), self.recovery]
        return "-".join([*usual, *self.words()])


def scenario(case: Case, queue: dict[str, Any], tcp: dict[str, Any], seed: int) -> dict[str, Any]:
    """The case for aqmlab, with a discipline and with what the end systems' profile adds."""
    case = case.drawn(seed)
    tcp = {
        "profile": "plain",
        "mss": case.mss,
        "recovery": case.recovery,
        "window_bytes": case.window * case.mss,
        "initial_window": case.initial_window,
        "rto_min": "1 s",
        "ack_every": case.every,
        "ecn": case.ecn,
        "idle_restart": False,
        **tcp,
    }
    clients = max(case.flows, 1)
    links = ["first", "second"] if case.cross else ["first"]
    return {
        "duration": f"{case.end_s} s",
        "warmup": f"{case.warmup_s} s",
        "network": {
            "clients": clients,
            "servers": 1,
            "rtt": [f"{case.rtt(i, clients)} ms" for i in range(clients)],
        },
        "link": [_link(name, case, queue) for name in links],
        "traffic": _traffic(case, tcp, seed),
        "record": {
            "samples": False,
            "responses": False,
            "datagrams": False,
            "queues": [f"{name}.forward" for name in links],
        },
    }


def _link(name: str, case: Case, queue: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "rate": f"{case.rate_mbit} Mbit/s",
        "reverse_rate": "100 Gbit/s",
        "forward": queue,
        "reverse": {"aqm": "droptail", "limit": 100_000},
    }


def _traffic(case: Case, tcp: dict[str, Any], seed: int) -> list[dict[str, Any]]:
    bulk = {"app": "bulk", "start_within": "1 s", "tcp": tcp}
    groups: list[dict[str, Any]] = []
    if case.flows:
        groups.append({**bulk, "name": "bulk", "flows": case.flows})
    for link in ("first", "second") if case.cross else ():
        groups.append({**bulk, "name": f"{link}-cross", "flows": case.cross, "via": [link]})
    if case.streams:
        groups.append(
            {
                "app": "cbr",
                "name": "streams",
                "flows": case.streams,
                "side": "servers",
                "rate": f"{STREAM['rate_bits_per_s']} bit/s",
                "packet": STREAM["packet_bytes"],
                "jitter": 0.5,
                "start_within": "1 s",
            }
        )
    if transfers := case.transfers(seed):
        rtt_us, octets = lambda i: round(1000 * case.rtt(i, STATIONS)), lambda n: case.mss * n
        groups.append(replayed(transfers, rtt_us, octets, tcp))
    return groups
