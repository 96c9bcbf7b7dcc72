"""One recorded series of arrivals through the kernel's disciplines and through ours.

Usage: python -m validation.linux.arrivals [--only WORD] [--seeds N] [--out FOLDER]
Nothing answers to losses here: both see the same packets at the same instants. Where nothing is
random, the line is free at the same instants too, and every packet must have the same fate:
dropped, marked or sent, and when. Where something is, the line has the same rate; the numbers of
packets dropped and marked, and the mean delay, are held against each other over seeds.
Needs the kernel of `make uml`; without it, says so in one line and ends well.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import aqmlab
from aqmlab.tables.equivalence import Margin, judge
from validation import report
from validation.external import several
from validation.linux import cases, machine
from validation.linux.cases import DRAWING, FRAME, PIE, RATE
from validation.linux.embedded import Arrival, Fates, Queue, replay

HEADER = 14
"""Bytes of the Ethernet header, which disciplines and line count."""
PACKETS = 6000
NS_PER_BYTE = 8_000_000_000 // RATE
"""Time per byte on the line, ns: a whole number, so that rounding causes no difference."""
MADE = 4_000_000
"""When ours is made, ns on the guest's clock. A first update is due half a second after the making.
The kernel makes its queue in the first millisecond, and its timer wheel ends so long a timer at the
next multiple of eight ticks of 1 ms: at 504 ms."""
ECT0, CE = 2, 3

Row = tuple[int, int, int, int]
"""Nanoseconds, flow, bytes of the IP packet, ECN field."""


@dataclass(frozen=True)
class Discipline:
    """What `tc` is told, and the same for ours."""

    words: str
    name: str
    parameters: dict[str, Any]

    @property
    def random(self) -> bool:
        """Whether the discipline draws random numbers."""
        return self.name in DRAWING


RED = {"min_th": 15, "max_th": 45, "w_q": 1 / 512, "max_p": 0.1}
BYTES = {
    "limit_bytes": 240 * FRAME,
    "min_th": 15,
    "max_th": 45,
    "w_q": 1 / 512,
    "max_p": 0.1,
    "mean_packet_bytes": FRAME,
}
TOLD = (
    f"limit {240 * FRAME} min {15 * FRAME} max {45 * FRAME} avpkt {FRAME} burst 120 probability 0.1"
)

ROOT = cases.ROOT | {"profile": machine.profile()}
"""Root settings of CoDel and its relatives, under the kernel that is tested."""

DISCIPLINES: dict[str, Discipline] = {
    "pfifo": Discipline("pfifo limit 50", "droptail", {"limit": 50}),
    "bfifo": Discipline("bfifo limit 50000", "droptail", {"limit_bytes": 50_000}),
    "pfifo_head_drop": Discipline(
        "pfifo_head_drop limit 50", "droptail", {"limit": 50, "from_front": True}
    ),
    "codel": Discipline("codel limit 240", "codel", {**ROOT, "limit": 240}),
    "codel, ECN": Discipline("codel limit 240 ecn", "codel", {**ROOT, "limit": 240, "ecn": True}),
    "codel, 20 ms": Discipline(
        "codel limit 240 target 20ms interval 60ms",
        "codel",
        {**ROOT, "limit": 240, "target": "20 ms", "interval": "60 ms"},
    ),
    "fq_codel": Discipline(
        "fq_codel limit 240 noecn",
        "fq_codel",
        {**ROOT, "limit": 240, "ecn": False},
    ),
    "fq_codel, ECN": Discipline(
        "fq_codel limit 240 ecn",
        "fq_codel",
        {**ROOT, "limit": 240, "ecn": True},
    ),
    "fq_codel, full": Discipline(
        "fq_codel limit 30 drop_batch 4 target 500ms interval 2s noecn",
        "fq_codel",
        {
            **ROOT,
            "limit": 30,
            "drop_batch": 4,
            "target": "500 ms",
            "interval": "2 s",
            "ecn": False,
        },
    ),
    "sfq": Discipline("sfq limit 60", "sfq", {**cases.ROOT, "limit": 60}),
    "sfq, head drop": Discipline(
        "sfq limit 60 headdrop", "sfq", {**cases.ROOT, "limit": 60, "head_drop": True}
    ),
    "hhf": Discipline("hhf limit 60", "hhf", {"limit": 60}),
    # The kernel rounds turns at random to 1,513 or 1,514 bytes: eight seeds moved no packet.
    "cake": Discipline(
        "cake unlimited besteffort flows",
        "cake",
        {"tins": "besteffort", "isolation": "flows"},
    ),
    "red": Discipline(f"red {TOLD} bandwidth 10mbit", "red", {"profile": "linux", **BYTES}),
    "red, ECN": Discipline(
        f"red {TOLD} bandwidth 10mbit ecn", "red", {"profile": "linux", **BYTES, "ecn": True}
    ),
    "ared": Discipline(
        f"red {TOLD} bandwidth 10mbit adaptive", "ared", {"profile": "linux", **BYTES}
    ),
    "gred": Discipline(
        f"gred setup vqs 1 default 0 limit {240 * FRAME}; gred {TOLD} bandwidth 10mbit vq 0 prio 1",
        "gred",
        {"virtual_queues": 1, "limit": 240, **RED, "mean_packet_bytes": FRAME},
    ),
    "choke": Discipline(
        "choke limit 240 min 15 max 45 burst 120 probability 0.1 bandwidth 10mbit",
        "choke",
        {"profile": "linux", "limit": 240, **RED},
    ),
    "pie": Discipline("pie limit 240", "pie", PIE | {"limit": 240}),
    "pie, ECN": Discipline("pie limit 240 ecn", "pie", PIE | {"limit": 240, "ecn": True}),
    "fq_pie": Discipline("fq_pie limit 240", "fq_pie", PIE | {"limit": 240}),
    "sfb": Discipline(
        "sfb limit 240 max 25 target 20 increment 0.001007 decrement 0.000168",
        "sfb",
        {"profile": "linux", "limit": 240},
    ),
}


def recorded() -> list[Row]:
    """What reaches a drop-tail queue of 60: seven bulk flows and a stream, half with ECN."""
    scenario = {
        "name": "arrivals",
        "duration": "12 s",
        "warmup": "0 s",
        "network": {"clients": 8, "servers": 1, "rtt": "40 ms"},
        "link": [
            {
                "rate": f"{RATE} bit/s",
                "framing_bytes": HEADER,
                "forward": {"aqm": "droptail", "limit": 60},
                "reverse": {"aqm": "droptail", "limit": 10_000},
            }
        ],
        "traffic": [
            {"app": "bulk", "flows": 7, "start_within": "1 s", "tcp": {"profile": "linux-6.12"}},
            {"app": "cbr", "users": 1, "rate": "1500 kbit/s", "packet": "600 B"},
        ],
        "record": {"samples": False, "responses": False, "trace": True},
    }
    run = aqmlab.run(scenario, seeds=1, jobs=1).runs[0]
    trace = run.table("trace").filter(event=0).head(PACKETS)
    # Which of two things at one instant comes first is not compared. The line's instants lie 1.6 us
    # apart (it sends 1,514 or 614 B), and so do arrivals that it sets the pace of: halfway between,
    # the guest's clock, of steps of 256 ns, tells before from after.
    return [
        (at + 800, user, size, ECT0 if user % 2 else 0)
        for at, user, size in trace.select("time_ns", "user", "bytes").iter_rows()
    ]


def in_linux(
    discipline: Discipline, arrivals: Sequence[Row], seed: int
) -> tuple[Fates, list[Arrival]]:
    """The kernel's, and when the packets came by its own clock."""
    described = machine.run(
        {
            "kind": "trace",
            "seed": seed,
            "qdisc": discipline.words,
            "arrivals": arrivals,
            "line": {"rate": [RATE, 1_000_000_000], "delay": [0, 0]},
            "drain_s": 2,
        }
    )
    begun = described["begun_ns"]
    left = {number: at + begun for number, at, _ in described["received"]}
    marked = {n for n, _, ecn in described["received"] if ecn == CE and arrivals[n][3] != CE}
    came = [
        Arrival(at + begun, flow, size + HEADER, ecn)
        for at, (_, flow, size, ecn) in zip(described["sent_ns"], arrivals, strict=True)
    ]
    return Fates(left, marked, set(range(len(came))) - left.keys()), came


def in_aqmlab(discipline: Discipline, came: Sequence[Arrival], theirs: Fates, seed: int) -> Fates:
    """Ours, of packets that come at the same instants before a line that is free at the same."""
    queue = Queue(discipline.name, discipline.parameters, RATE, seed, MADE)
    # Where other packets are sent, the line is free at other instants.
    ends = [] if discipline.random else sorted(theirs.left_ns.values())
    try:
        return replay(queue, came, ends, NS_PER_BYTE)
    finally:
        queue.close()


def _nearest(of: Discipline, came: Sequence[Arrival], theirs: Fates) -> Fates:
    """Ours under the hash of eight by which most packets have the kernel's fate.

    Of equally long queues FQ-CoDel cuts the one with the lower hash, and the kernel draws its hash
    at each start: which one that is cannot be known from outside.
    """
    if of.name != "fq_codel":
        return in_aqmlab(of, came, theirs, 1)
    tried = (
        in_aqmlab(replace(of, parameters={**of.parameters, "hash_seed": seed}), came, theirs, 1)
        for seed in range(8)
    )
    return min(tried, key=lambda ours: len(ours.dropped ^ theirs.dropped))


def packet_by_packet(name: str, arrivals: Sequence[Row]) -> str:
    """A row of the table of those in which nothing is random."""
    of = DISCIPLINES[name]
    theirs, came = in_linux(of, arrivals, 1)
    ours = _nearest(of, came, theirs)
    numbers = range(len(came))
    moved = [n for n in numbers if theirs.left_ns.get(n) != ours.left_ns.get(n)]
    late = [
        abs(theirs.left_ns[n] - ours.left_ns[n])
        for n in theirs.left_ns.keys() & ours.left_ns.keys()
    ]
    cells = [
        name,
        len(ours.dropped),
        len(theirs.dropped),
        len(ours.marked),
        len(theirs.marked),
        len(theirs.dropped ^ ours.dropped),
        len(theirs.marked ^ ours.marked),
        len(moved),
        f"{max(late, default=0) / 1e6:g}",
        moved[0] if moved else "all",
    ]
    return f"| {' | '.join(map(str, cells))} |"


FATES = (
    "discipline",
    "dropped",
    "Linux",
    "marked",
    "Linux",
    "other fate",
    "other mark",
    "other time",
    "by ms",
    "the same up to packet",
)
"""Columns of the table of those in which nothing is random."""

MEASURES = {"dropped": Margin(0.10, 3), "marked": Margin(0.10, 3), "delay, ms": Margin(0.05, 0.05)}


def _numbers(fates: Fates, came: Sequence[Arrival]) -> tuple[float, float, float]:
    delays = [left - came[n].at_ns for n, left in fates.left_ns.items()]
    return float(len(fates.dropped)), float(len(fates.marked)), sum(delays) / len(delays) / 1e6


def by_distribution(name: str, arrivals: Sequence[Row], seeds: int) -> Iterator[str]:
    """Rows of the table of those that draw: means over seeds, and whether they are the same."""
    of = DISCIPLINES[name]
    theirs, ours = [], []
    for seed in range(1, seeds + 1):
        fates, came = in_linux(of, arrivals, seed)
        theirs.append(_numbers(fates, came))
        ours.append(_numbers(in_aqmlab(of, came, fates, seed), came))
    for i, (title, margin) in enumerate(MEASURES.items()):
        found = judge([row[i] for row in ours], [row[i] for row in theirs], margin)
        if found.ours or found.theirs:
            yield (
                f"| {name} | {title} | {found.ours:.4g} | {found.theirs:.4g} | "
                f"{found.ours - found.theirs:+.3g} ± {found.half:.2g} | {found.margin:.3g} | "
                f"{found.verdict} |"
            )


def main() -> int:
    """Runs what was chosen and prints the tables; 0 also where there is no kernel for it."""
    parser = argparse.ArgumentParser(
        prog="python -m validation.linux.arrivals", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--only", default="", help="disciplines whose name has this in it")
    parser.add_argument("--seeds", type=int, default=20, help="of those that draw (20)")
    return report.main(parser, _report, "Linux", machine.kernel, machine.release)


def _report(arguments: argparse.Namespace) -> Iterator[str]:
    arrivals = recorded()
    names = [name for name in DISCIPLINES if arguments.only in name]
    fixed = [name for name in names if not DISCIPLINES[name].random]
    if fixed:
        yield f"| {' | '.join(FATES)} |"
        yield "| --- " * len(FATES) + "|"
        yield from several(lambda name: packet_by_packet(name, arrivals), fixed)
    if drawn := [name for name in names if DISCIPLINES[name].random]:
        yield from ("", "| discipline | measure | aqmlab | Linux | difference | margin | verdict |")
        yield "| --- " * 7 + "|"
        rows = several(lambda name: list(by_distribution(name, arrivals, arguments.seeds)), drawn)
        yield from chain.from_iterable(rows)


if __name__ == "__main__":
    raise SystemExit(main())
