"""L4S queues in aqmlab and in a Linux kernel 7.x, with scalable and classic senders.

Usage: python -m validation.linux.l4s [--only WORD] [--seeds N] [--out FOLDER]
Scalable senders are DCTCP, the only ones in the kernel's tree; they send ECT(0), so DualPI2 has
`any_ect` wherever they are, and classic senders then go without ECN. The number of seeds of each
case is fixed before: what is inconclusive after it stays so. Needs a kernel 7.x of `make uml`;
without it, says so in one line and ends well.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from validation import equivalence
from validation.equivalence import Program
from validation.figures import Numbers, jain_index
from validation.linux import machine
from validation.linux.cases import BUFFER, CLOCK, PIE, ROOT, ends_of_guest
from validation.linux.machine import HZ

FEW, SEEDS = 4, 8
"""Seeds of every case, few where there is one kind of sender at 4 or 10 Mbit/s. Set on 2026-11-29
before the first run, from the spread of three runs each of 2026-11-28 (with other starts)."""

SLOTS, IN_SLOTS = "A line that serves in slots", 6
"""The family with slots and its number of seeds, set on 2026-11-30 before its first run;
docs/validation/l4s.md lists later changes."""

SHARE = 0.25
"""Share of a period in which a line with slots is open; its rate is higher by the inverse."""

LATE_S = 2
"""All senders begin within this time, seconds."""

Settings = dict[str, Any]


@dataclass(frozen=True)
class Queue:
    """A discipline in tc's words and in ours."""

    words: str
    ours: Settings


def dualpi2(words: str = "", **ours: Any) -> Queue:
    """DualPI2 with these arguments of tc, and with the parameters `ours` in aqmlab."""
    return Queue(f"dualpi2 {words}".strip(), {"aqm": "dualpi2", "profile": "linux", **ours})


ANY = dualpi2("any_ect", any_ect=True)


@dataclass(frozen=True)
class Case:
    """Scalable and classic senders before one queue."""

    family: str
    """Heading of the table that lists the case."""
    title: str
    queue: Queue
    rate_mbit: float
    rtt_ms: float
    scalable: int = 0
    """Number of DCTCP senders."""
    classic: int = 0
    congestion: str = "cubic"
    """Congestion control of the classic senders."""
    feedback: str = ""
    """ECN of the classic senders: none, `classic` (RFC 3168) or `accurate` (RFC 9768)."""
    period_ms: float = 0
    """Period of slots, each open for the first `SHARE` of it; 0 for a line without slots."""
    kinds: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        each = ("scalable",) * self.scalable + ("classic",) * self.classic
        object.__setattr__(self, "kinds", each)

    @property
    def paired(self) -> bool:
        """Both start senders at equal instants. Where each draws which packets to mark, and senders
        answer to that, they soon part; DCTCP alone before a slow line meets the step, which draws
        nothing, and goes on as in the other program packet by packet."""
        return self._steady and not self.classic

    @property
    def _steady(self) -> bool:
        """Whether the case has one kind of sender, a line of at most 10 Mbit/s, and DualPI2 with
        its defaults."""
        return self.rate_mbit <= 10 and len(set(self.kinds)) == 1 and self.title == "dualpi2"

    @property
    def warmup_s(self) -> int:
        """Number of seconds at the beginning of a run that are discarded."""
        return 5 if self.family == SLOTS else 4 if self.rate_mbit <= 10 else 3

    @property
    def measured_s(self) -> int:
        """Duration of the measured interval, s: the faster the line the shorter, so that a run has
        15,000 to 70,000 packets."""
        if self.family == SLOTS:
            return 15
        return {4: 40, 10: 20, 40: 8, 100: 5, 200: 4}[round(self.shaped_mbit)]

    @property
    def shaped_mbit(self) -> float:
        """Rate that gets through, Mbit/s: that of CAKE's shaper if it has one, else the line's."""
        return 10 if "rate" in self.queue.ours else self.rate_mbit

    @property
    def seeds(self) -> int:
        """Number of seeds with which the case is run."""
        return IN_SLOTS if self.family == SLOTS else FEW if self._steady else SEEDS

    @property
    def flows(self) -> int:
        """Number of all senders."""
        return len(self.kinds)

    @property
    def ecn(self) -> bool:
        """Whether any sender uses ECN."""
        return bool(self.scalable or self.feedback)

    def name(self) -> str:
        """The case's name, short and unique."""
        ends = [f"{self.scalable} DCTCP"] if self.scalable else []
        if self.classic:
            with_ecn = {"": "", "classic": " ECN", "accurate": " AccECN"}[self.feedback]
            ends.append(f"{self.classic} {self.congestion}{with_ecn}")
        slots = f" slots {self.period_ms:g}ms" if self.period_ms else ""
        return f"{self.title} {self.rate_mbit:g}M {self.rtt_ms:g}ms{slots}: {', '.join(ends)}"

    def starts(self, seed: int) -> list[float]:
        """When senders begin, s; scalable and classic ones in any order."""
        draws = random.Random(20261129 + seed)
        return [round(LATE_S * draws.random(), 6) for _ in self.kinds]


def alone() -> Iterator[Case]:
    """One kind of sender behind DualPI2."""
    for rate, flows, rtt in (
        (4, 1, 10),
        (10, 1, 10),
        (10, 4, 20),
        (40, 1, 5),
        (40, 4, 10),
        (100, 4, 10),
    ):
        yield Case("DualPI2, scalable alone", "dualpi2", ANY, rate, rtt, scalable=flows)
    for control in ("cubic", "reno"):
        for rate, flows, rtt in ((4, 1, 20), (10, 1, 20), (10, 4, 20), (40, 4, 10)):
            yield Case(
                "DualPI2, classic alone",
                "dualpi2",
                ANY,
                rate,
                rtt,
                0,
                flows,
                control,
            )
    for control in ("cubic", "reno"):
        for feedback in ("classic", "accurate"):
            for rate, flows, rtt in ((10, 4, 20), (40, 4, 10)):
                yield Case(
                    "DualPI2, classic with ECN", "dualpi2", dualpi2(), rate, rtt, 0, flows, control,
                    feedback,
                )  # fmt: skip


def both() -> Iterator[Case]:
    """Both kinds at a time: what the coupling is for."""
    for rate, rtt, scalable, classic in (
        (4, 10, 1, 1), (10, 10, 1, 1), (10, 20, 4, 4), (40, 10, 1, 1), (40, 5, 1, 1),
        (40, 20, 2, 2), (40, 10, 4, 1), (40, 10, 1, 4), (100, 10, 2, 2), (200, 10, 4, 4),
    ):  # fmt: skip
        yield Case("DualPI2, both", "dualpi2", ANY, rate, rtt, scalable, classic)
    yield Case("DualPI2, both", "dualpi2", ANY, 40, 10, 2, 2, "reno")


SETTINGS: dict[str, Queue] = {
    "step 5 ms": dualpi2("any_ect step_thresh 5ms", any_ect=True, step="5 ms"),
    "step 3 packets": dualpi2("any_ect step_thresh 3p", any_ect=True, step_packets=3),
    "min_qlen_step 4": dualpi2("any_ect min_qlen_step 4", any_ect=True, min_qlen_step=4),
    "coupling 1": dualpi2("any_ect coupling_factor 1", any_ect=True, k=1),
    "coupling 4": dualpi2("any_ect coupling_factor 4", any_ect=True, k=4),
    "target 5 ms": dualpi2("any_ect target 5ms", any_ect=True, target="5 ms"),
    "tupdate 32 ms": dualpi2("any_ect tupdate 32ms", any_ect=True, t_update="32 ms"),
    "drop_enqueue": dualpi2("any_ect drop_enqueue", any_ect=True, drop_enqueue=True),
    "classic_protection 50": dualpi2("any_ect classic_protection 50", any_ect=True, c_weight=50),
}
"""One setting changed at a time."""


def changed() -> Iterator[Case]:
    """DualPI2 with other settings, and beyond its capacity to mark."""
    for title, queue in SETTINGS.items():
        yield Case("DualPI2, settings", title, queue, 40, 10, 2, 2)
    overflow = dualpi2("any_ect overflow limit 200", any_ect=True, drop_overload=False, limit=200)
    for title, queue in (("overload", ANY), ("overflow", overflow)):
        yield Case("DualPI2, overload", title, queue, 4, 5, 20, 0)
        yield Case("DualPI2, overload", title, queue, 4, 5, 10, 10)


def others() -> Iterator[Case]:
    """Other queues that know of L4S, and CAKE as a shaper."""
    for words, ours in (
        ("ce_threshold 1ms", {"ce_threshold": "1 ms"}),
        (
            "ce_threshold 1ms ce_threshold_selector 2/3",
            {"ce_threshold": "1 ms", "ce_threshold_selector": 2, "ce_threshold_mask": 3},
        ),
    ):
        queue = Queue(f"fq_codel {words}", {"aqm": "fq_codel", **ROOT, **ours})
        title = "fq_codel " + ("selector" if "selector" in words else "ce_threshold")
        yield Case("FQ-CoDel with ce_threshold", title, queue, 10, 10, 1, 1)
        yield Case("FQ-CoDel with ce_threshold", title, queue, 40, 10, 2, 2)
    for words, ours in (("besteffort", {"tins": "besteffort"}), ("", {})):
        cake = {"aqm": "cake", "rate": "10 Mbit/s", "turns": "whole", **ours}
        queue = Queue(f"cake bandwidth 10mbit {words}".strip(), cake)
        for flows in (1, 4):
            yield Case("CAKE as a shaper", f"cake {words}".strip(), queue, 100, 20, 0, flows)
    for words, ours in (
        ("fq_codel", {"aqm": "fq_codel", **ROOT}),
        ("pie ecn", {"aqm": "pie", **PIE, "ecn": True}),
        ("codel ecn", {"aqm": "codel", **ROOT, "ecn": True}),
    ):
        yield Case("mixed ECN", words, Queue(words, ours), 10, 20, 2, 2)


def in_slots() -> Iterator[Case]:
    """A line that serves in bursts, as in the study l4s-bursts."""
    step = {
        ms: dualpi2(f"any_ect step_thresh {ms}ms", any_ect=True, step=f"{ms} ms") for ms in (5, 10)
    }
    fq = Queue("fq_codel", {"aqm": "fq_codel", **ROOT})
    cake = Queue("cake", {"aqm": "cake", "turns": "whole"})
    each = [("dualpi2", ANY, ms) for ms in (0, 1, 2, 4, 8)]
    each += [("step 5 ms", step[5], ms) for ms in (2, 4, 8)]
    each += [("step 10 ms", step[10], ms) for ms in (4, 8)]
    each += [("fq_codel", fq, 8), *(("cake", cake, ms) for ms in (4, 8, 16))]
    for title, queue, ms in each:
        yield Case(SLOTS, title, queue, 40, 20, 1, 1, period_ms=ms)


def cases() -> Iterator[Case]:
    """All cases."""
    yield from alone()
    yield from both()
    yield from changed()
    yield from others()
    yield from in_slots()


ECN_MODES = {"": 0, "classic": 1, "accurate": 3}
"""Values of the sysctl net.ipv4.tcp_ecn, by the ECN of the classic senders."""


def job(case: Case, seed: int) -> dict[str, Any]:
    """The job for the guest: a run of the case under this seed."""
    controls = ["dctcp" if kind == "scalable" else case.congestion for kind in case.kinds]
    faster, period_ns = (1 / SHARE if case.period_ms else 1), round(case.period_ms * 1e6)
    return {
        "kind": "bulk",
        "seed": seed,
        "hz": HZ,
        "starts": case.starts(seed),
        "line": {
            "rate": [round(case.rate_mbit * 1e6 * faster), 1_000_000_000],
            "slot": [period_ns, round(period_ns * SHARE)],
            "delay": [round(case.rtt_ms * 1_000_000), 0],
        },
        "qdisc": case.queue.words,
        "sysctl": {"ipv4/tcp_ecn": ECN_MODES[case.feedback], "core/txrehash": 0},
        "congestion": controls,
        # Who listens with DCTCP agrees to DCTCP's ECN; other senders request none.
        **({"listener": "dctcp"} if case.scalable and not case.feedback else {}),
        "receive_buffer": BUFFER // 2,
        "send_buffer": BUFFER // 2,
        "warmup_s": case.warmup_s,
        "duration_s": case.warmup_s + case.measured_s,
        "sample_s": 0.02,
    }


def scenario(case: Case, seed: int = 1) -> dict[str, Any]:
    """The case as a scenario of aqmlab."""
    traffic = []
    for i, (kind, start) in enumerate(zip(case.kinds, case.starts(seed), strict=True)):
        tcp = ends_of_guest() | {"congestion": "dctcp" if kind == "scalable" else case.congestion}
        if kind == "scalable":
            tcp["ecn"] = True
        elif case.feedback:
            tcp |= {"ecn": True, "ecn_feedback": case.feedback}
            if case.feedback == "accurate":
                tcp["accecn_option"] = True  # net.ipv4.tcp_ecn_option = 2
        flow = {"app": "bulk", "flows": 1, "start": f"{start} s", "start_within": "0 s"}
        traffic.append({**flow, "name": f"bulk{i}-{kind}", "tcp": tcp})
    period = f"{case.period_ms:g} ms"
    slots = {"kind": "slots", "period": period, "share": SHARE, "direction": "forward"}
    return {
        "name": "l4s",
        "duration": f"{case.warmup_s + case.measured_s} s",
        "warmup": f"{case.warmup_s} s",
        "network": {"clients": 1, "servers": 1, "rtt": f"{case.rtt_ms} ms", "delay_tick": CLOCK},
        "link": [
            {
                "rate": f"{round(case.rate_mbit * 1e6)} bit/s",
                "reverse_rate": "1 Gbit/s",
                "framing_bytes": 14,
                "header_bytes": 14,
                "forward": case.queue.ours,
                "reverse": {"aqm": "droptail", "limit": 10_000},
                **({"effects": [slots]} if case.period_ms else {}),
            }
        ],
        "traffic": traffic,
        "record": {"samples": False, "responses": False, "queues": ["bottleneck.forward"]},
    }


def run(case: Case, seed: int) -> Numbers:
    """Runs a case once in the guest and returns its figures."""
    described = machine.run(job(case, seed))
    handled = described["packets"] + described["drops"]
    goodput = [octets * 8e-6 / described["measured_s"] for octets in described["received"]]
    found = {
        "queue_time_mean_packets": described["length_mean"],
        "drop_rate": described["drops"] / handled,
        "mark_rate": described["marked"] / handled,
        "goodput_mbit_per_s": sum(goodput),
        **jain_index(goodput),
    }
    for kind in dict.fromkeys(case.kinds):
        of = [i for i, one in enumerate(case.kinds) if one == kind]
        packets, marked, waited = (
            sum(described[name][i] for i in of)
            for name in ("flow_packets", "flow_marked", "flow_waited")
        )
        found[f"wait_{kind}_s"] = waited / packets / 1e9
        if len(set(case.kinds)) > 1:
            found[f"goodput_{kind}_mbit_per_s"] = sum(goodput[i] for i in of)
            if kind == "scalable":
                found["mark_rate_scalable"] = marked / packets
    return found


def described(case: Case, seed: int) -> list[object]:
    """The kernel, the guest's program and its job."""
    return [*machine.described("network.py", "bulk.py", "dualpi2.py"), job(case, seed)]


def main() -> int:
    """Runs both and prints the table; 0 also where there is no kernel for it."""
    needs = lambda: machine.kernel_with("L4S queues")  # noqa: E731
    seeds = lambda case: case.seeds  # noqa: E731
    linux = Program("Linux", needs, machine.release, run, described, scenario, seeds)
    return equivalence.main("linux.l4s", __doc__ or "", linux, lambda _: cases(), SEEDS)


if __name__ == "__main__":
    raise SystemExit(main())
