"""cake_mq of a Linux kernel 7.3 and `cake` with `tx_queues`: one rate among a device's queues.

Usage: python -m validation.linux.mq [--only WORD] [--seeds N] [--out FOLDER]
The kernel's device is a veth of four queues (`guest/multiqueue.py`), CUBIC senders without ECN.
Which flows share a queue is drawn, by either program for itself: of one and two flows nothing
depends on it, of more most does, and more seeds are run. The number of seeds of each case is fixed
before. Needs a kernel 7.x of `make uml`; without it, says so in one line and ends well.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from validation import equivalence
from validation.equivalence import Program
from validation.figures import Numbers, jain_index
from validation.linux import machine
from validation.linux.cases import BUFFER, CLOCK, ends_of_guest
from validation.linux.machine import HZ

FEW, SEEDS = 4, 8
"""Seeds of cases of up to two flows and of more, set on 2026-11-29 before the first comparison."""
QUEUES = 4
LATE_S = 2
"""All senders begin within this time, seconds."""


@dataclass(frozen=True)
class Case:
    """A number of bulk senders whose packets share one device with cake_mq."""

    rate_mbit: int
    """Rate of cake_mq's shaper, Mbit/s."""
    flows: int
    rtt_ms: int = 20
    family = "cake_mq"
    ecn = False
    paired = False
    warmup_s = 5
    measured_s = 20

    @property
    def seeds(self) -> int:
        """Number of seeds with which the case is run."""
        return FEW if self.flows <= 2 else SEEDS

    def name(self) -> str:
        """The case's name, short and unique."""
        return f"cake_mq {self.rate_mbit}M {self.rtt_ms}ms: {self.flows} cubic"

    def starts(self, seed: int) -> list[float]:
        """Times at which the senders begin, s."""
        draws = random.Random(20261129 + seed)
        return [round(LATE_S * draws.random(), 6) for _ in range(self.flows)]


def cases() -> Iterator[Case]:
    """From one flow to four for each of the queues."""
    for rate, flows in ((10, 1), (10, 2), (40, 1), (40, 2), (10, 4), (10, 16)):
        yield Case(rate, flows)


def job(case: Case, seed: int) -> dict[str, Any]:
    """The job for the guest: a run of the case under this seed."""
    delay = case.rtt_ms * 500_000
    return {
        "kind": "multiqueue",
        "seed": seed,
        "hz": HZ,
        "starts": case.starts(seed),
        "line": {"rate": [1_000_000_000] * 2, "delay": [delay] * 2},
        "queues": QUEUES,
        "rate": case.rate_mbit * 1_000_000,
        "congestion": "cubic",
        "receive_buffer": BUFFER // 2,
        "send_buffer": BUFFER // 2,
        "warmup_s": case.warmup_s,
        "duration_s": case.warmup_s + case.measured_s,
        "sample_s": 0.02,
    }


def scenario(case: Case, seed: int = 1) -> dict[str, Any]:
    """The case as a scenario of aqmlab."""
    tcp = ends_of_guest() | {"congestion": "cubic"}
    flow = {"app": "bulk", "flows": 1, "start_within": "0 s", "tcp": tcp}
    return {
        "name": "cake-mq",
        "duration": f"{case.warmup_s + case.measured_s} s",
        "warmup": f"{case.warmup_s} s",
        "network": {"clients": 1, "servers": 1, "rtt": f"{case.rtt_ms} ms", "delay_tick": CLOCK},
        "link": [
            {
                "rate": "1 Gbit/s",
                "reverse_rate": "1 Gbit/s",
                "framing_bytes": 14,
                "header_bytes": 14,
                "forward": {
                    "aqm": "cake",
                    "rate": f"{case.rate_mbit} Mbit/s",
                    "tins": "besteffort",
                    "turns": "whole",
                    "tx_queues": QUEUES,
                },
                "reverse": {"aqm": "droptail", "limit": 10_000},
            }
        ],
        "traffic": [
            {**flow, "name": f"bulk{i}", "start": f"{start} s"}
            for i, start in enumerate(case.starts(seed))
        ],
        "record": {"samples": False, "responses": False, "queues": ["bottleneck.forward"]},
    }


def run(case: Case, seed: int) -> Numbers:
    """Runs a case once in the guest and returns its figures."""
    described = machine.run(job(case, seed))
    handled = described["packets"] + described["drops"]
    goodput = [octets * 8e-6 / described["measured_s"] for octets in described["received"]]
    return {
        "queue_time_mean_packets": described["length_mean"],
        "drop_rate": described["drops"] / handled,
        "mark_rate": 0.0,  # no sender uses ECN
        "goodput_mbit_per_s": sum(goodput),
        **jain_index(goodput),
    }


def described(case: Case, seed: int) -> list[object]:
    """The kernel, the guest's program and its job."""
    return [*machine.described("network.py", "bulk.py", "multiqueue.py"), job(case, seed)]


def main() -> int:
    """Runs both and prints the table; 0 also where there is no kernel for it."""
    needs = lambda: machine.kernel_with("cake_mq")  # noqa: E731
    seeds = lambda case: case.seeds  # noqa: E731
    linux = Program("Linux", needs, machine.release, run, described, scenario, seeds)
    return equivalence.main("linux.mq", __doc__ or "", linux, lambda _: cases(), SEEDS)


if __name__ == "__main__":
    raise SystemExit(main())
