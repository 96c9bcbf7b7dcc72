"""One transfer with listed losses and marks, in a Linux kernel and in aqmlab, segment by segment.

Usage: python -m validation.linux.losses [--only WORD] [--out FOLDER] [--detail]
1,500 segments over 10 Mbit/s and 80 ms behind a queue that never fills, so that nothing happens but
what is listed. Both must send the same segments in the same order and at the same time: what is
repeated, when, and when the last byte has come. `--detail` prints where they part.
Needs the kernel of `make uml`; without it, says so in one line and ends well.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aqmlab
from validation import report
from validation.external import several
from validation.linux import machine
from validation.linux.cases import BUFFER, DATA, RATE, ends_of_guest
from validation.linux.segments import Segment, Sent, read_pcap, sent

SEGMENTS = 1_500
"""Number of segments of a transfer."""
PORT = 5001
DURATION_S = 30
START_S = 1
"""When the transfer begins, counted from a turn of the wheel of the kernel's timers."""
NEAR_NS = 2_300_000
"""Two instants are the same within this: a tick of the kernel's clock and a segment on the line."""
FRESH = 170 / 256
"""What of the receive buffer full segments fill that come into memory of their own: 1,448 in 2,176
(`__netdev_alloc_skb`: a head with room for the frame and 64 B, the description of the packet)."""
CLOSE_NS = 5_000_000
"""The first retransmission and the last segment come close to the kernel's within this."""
STARTS_US = range(0, 1_000, 50)
"""Where in a tick of the kernel's clock (1 ms) a transfer may begin: CUBIC counts ticks."""


@dataclass(frozen=True)
class Script:
    """Numbers of data segments, from 1, that are lost or marked."""

    drop: tuple[int, ...] = ()
    mark: tuple[int, ...] = ()
    again: int = 0
    """Segment whose first retransmission is lost, too."""
    before: int = 0
    """Retransmissions on the line before the last that is listed."""


SCRIPTS: dict[str, Script] = {
    "nothing": Script(),
    "one": Script((150,)),
    "three of a window": Script((150, 155, 160)),
    "eight in a row": Script(tuple(range(150, 158))),
    "every second of 20": Script(tuple(range(150, 170, 2))),
    "one and its repeat": Script((150,), again=150),
    "the first ten": Script(tuple(range(1, 11))),
    "the last": Script((SEGMENTS,)),
    "the last three": Script((SEGMENTS - 2, SEGMENTS - 1, SEGMENTS)),
    "one, then one": Script((100, 900), before=1),
}
MARKS: dict[str, Script] = {
    "one mark": Script(mark=(150,)),
    "20 marks in a row": Script(mark=tuple(range(150, 170))),
    "a mark and a loss": Script((155,), (150,)),
}


@dataclass(frozen=True)
class Case:
    """A script of losses or marks, and the end systems to which it is applied."""

    script: str
    congestion: str
    sack: bool = True
    ecn: bool = False
    quickack: bool = True
    """Whether every segment is acknowledged at once; then it does not matter when the receiver's
    program reads."""
    grows: bool = False
    """Whether the receive buffer begins with 128 KiB and grows, as it does by default."""
    fresh: bool = False
    """Whether segments come into memory of their own, as from a card, not in their sender's."""

    @property
    def described(self) -> Script:
        """The script: which segments are lost or marked."""
        return MARKS[self.script] if self.ecn else SCRIPTS[self.script]

    @property
    def name(self) -> str:
        """The case's name as the table has it."""
        ends = [self.congestion, *(() if self.sack else ("no SACK",)), *(("ECN",) * self.ecn)]
        ends += [] if self.quickack else ["delayed ACKs"]
        ends += ["growing buffer"] if self.grows else []
        return f"{', '.join(ends)}: {self.script}"


def cases() -> Iterator[Case]:
    """All cases that are compared."""
    for congestion, sack, script in itertools.product(("reno", "cubic"), (True, False), SCRIPTS):
        yield Case(script, congestion, sack)
    for congestion, script in itertools.product(("reno", "cubic", "dctcp"), MARKS):
        yield Case(script, congestion, ecn=True)
    for script in ("nothing", "one", "eight in a row", "the last three"):
        yield Case(script, "bbr")
    for congestion, script in itertools.product(
        ("reno", "cubic"), ("nothing", "three of a window")
    ):
        yield Case(script, congestion, quickack=False)
    for congestion, script in itertools.product(("reno", "cubic"), list(SCRIPTS)[:7]):
        yield Case(script, congestion, quickack=False, grows=True)


def in_linux(case: Case) -> list[Sent]:
    """The segments that crossed the kernel's line."""
    script = case.described
    # The kernel's line counts every segment that it carries, ours the first of each.
    drop = list(script.drop)
    drop[-1:] = [number + script.before for number in drop[-1:]]
    found = _guest(case, drop)
    if script.again:
        # On the line it is the next one after those that came, and those that were lost before.
        repeat = next(at for at, one in enumerate(found) if one.first == (script.again - 1) * DATA)
        found = _guest(case, [*drop, repeat + 1 + len(drop)])
    return found


def _guest(case: Case, drop: Sequence[int]) -> list[Sent]:
    described = machine.run(
        {
            "kind": "transfer",
            "seed": 1,
            "hz": machine.HZ,
            "start_s": START_S,
            "bytes": SEGMENTS * DATA,
            "qdisc": "pfifo limit 5000",
            "line": {
                "rate": [RATE, 1_000_000_000],
                "delay": [40_000_000, 40_000_000],
                "drop": list(drop),
                "mark": list(case.described.mark),
                **({"fresh": [1]} if case.fresh else {}),
            },
            "sysctl": {
                "ipv4/tcp_ecn": int(case.ecn),
                "ipv4/tcp_sack": int(case.sack),
                # The guest's own, which has little memory, is less.
                "ipv4/tcp_rmem": f"4096 131072 {BUFFER}",
            },
            "congestion": case.congestion,
            "quickack": case.quickack,
            "send_buffer": BUFFER // 2,
            "duration_s": DURATION_S,
        }
        | ({} if case.grows else {"receive_buffer": BUFFER // 2})
    )
    return sent((Segment(*row) for row in described["segments"]), PORT)


def in_aqmlab(case: Case, start_us: int = 0) -> list[Sent]:
    """Ours, of the kernel's profile, begun so long after a tick."""
    script = case.described
    rules: list[dict[str, Any]] = []
    if script.drop:
        rules.append({"drop": list(script.drop)})
    if script.again:
        rules.append({"drop": [script.again], "sent": [2]})
    if script.mark:
        rules.append({"mark": list(script.mark)})
    ends = ends_of_guest() | {"congestion": case.congestion, "ecn": case.ecn}
    ends |= {"autotuning": case.grows} | ({"scaling_ratio": FRESH} if case.fresh else {})
    if case.quickack:
        ends["ack_every"] = 1
    group = {
        "app": "bulk",
        "flows": 1,
        "start": f"{START_S * 1_000_000 + start_us} us",
        "start_within": "0 s",
        "bytes": SEGMENTS * DATA,
        "tcp": ends if case.sack else ends | {"recovery": "newreno"},
    }
    scenario = {
        "name": "losses",
        "duration": f"{DURATION_S} s",
        "warmup": "0 s",
        "network": {"clients": 1, "servers": 1, "rtt": "80 ms"},
        "link": [
            {
                "rate": f"{RATE} bit/s",
                "reverse_rate": "1 Gbit/s",
                "framing_bytes": 14,
                "header_bytes": 14,
                "forward": {"aqm": "droptail", "limit": 5000},
                "reverse": {"aqm": "droptail", "limit": 5000},
            }
        ],
        "traffic": [group | ({"script": rules} if rules else {})],
        "record": {"samples": False, "responses": False},
    }
    with tempfile.TemporaryDirectory() as work:
        file = Path(work, "losses.pcap")
        aqmlab.run(scenario, seeds=1, jobs=1, pcap=file)
        found = list(read_pcap(file.read_bytes()))
    # The side that sends most is the sender: the other's port is the receiver's.
    by_port: dict[int, int] = {}
    for one in found:
        by_port[one.source] = by_port.get(one.source, 0) + one.data
    return sent(found, min(by_port, key=lambda port: by_port[port]))


@dataclass(frozen=True)
class Comparison:
    """The comparison of a transfer in aqmlab with that in the kernel."""

    ours: list[Sent]
    theirs: list[Sent]
    start_us: int = 0
    """Offset of the start of aqmlab's transfer within a tick of the kernel's clock,
    microseconds."""

    def same(self) -> int:
        """Number of segments at the beginning that have equal bytes and nearly equal times in both
        transfers."""
        for at, (a, b) in enumerate(zip(self.ours, self.theirs, strict=False)):
            near = abs(b.at_ns - a.at_ns) <= NEAR_NS
            if (a.first, a.data) != (b.first, b.data) or not near:
                return at
        return min(len(self.ours), len(self.theirs))

    def whole(self) -> bool:
        """Whether both transfers agree to the last segment."""
        return self.same() == len(self.ours) == len(self.theirs)

    def repeats_alike(self) -> bool:
        """Whether both transfers have equal numbers of retransmissions."""
        ours, theirs = ([one for one in of if one.again] for of in (self.ours, self.theirs))
        return len(ours) == len(theirs)

    def close(self) -> bool:
        """Whether, of as many retransmissions, the first, and the last segment, come close."""
        ours, theirs = (
            [next((one for one in of if one.again), of[-1]), of[-1]]
            for of in (self.ours, self.theirs)
        )
        near = [abs(a.at_ns - b.at_ns) <= CLOSE_NS for a, b in zip(ours, theirs, strict=True)]
        return self.repeats_alike() and all(near)

    def row(self, name: str) -> str:
        """The transfer's row of the table."""
        cells: list[object] = [name]
        for of in (self.ours, self.theirs):
            again = [one for one in of if one.again]
            first = f"{again[0].at_ns / 1e6:.1f}" if again else ""
            cells += [len(again), first, f"{of[-1].at_ns / 1e6:.1f}" if of else ""]
        cells += ["all" if self.whole() else self.same(), self.start_us / 1e3 or ""]
        return f"| {' | '.join(map(str, cells))} |"

    def detail(self) -> Iterator[str]:
        """Twelve lines with the segments of both transfers, from two segments before the first
        difference on."""
        at = max(self.same() - 2, 0)
        for a, b in itertools.islice(itertools.zip_longest(self.ours, self.theirs), at, at + 12):
            described = [
                f"{x.at_ns / 1e6:9.3f} ms {x.first / DATA + 1:7.2f} {x.data}{' again' * x.again}"
                if x
                else ""
                for x in (a, b)
            ]
            yield f"    {described[0]:40} {described[1]}"


COLUMNS = (
    "end systems: lost or marked",
    "repeated here",
    "first, ms",
    "last data, ms",
    "Linux: repeated",
    "first, ms",
    "last data, ms",
    "the same up to segment",
    "begun within the tick, ms",
)


def main() -> int:
    """Runs the chosen cases and prints the table; 0 also where there is no kernel for it."""
    parser = argparse.ArgumentParser(
        prog="python -m validation.linux.losses", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--detail", action="store_true", help="print where the two part")
    described = "segments come into memory of their own, as from a card, not in their sender's"
    parser.add_argument("--fresh", action="store_true", help=described)
    return report.main(parser, _report, "Linux", machine.kernel, machine.release)


def _report(arguments: argparse.Namespace) -> Iterator[str]:
    yield f"| {' | '.join(COLUMNS)} |"
    yield "| --- " * len(COLUMNS) + "|"
    every = (replace(case, fresh=arguments.fresh) for case in cases())
    chosen = [case for case in every if arguments.only in case.name]
    each: list[Comparison] = []
    for case, found in zip(chosen, several(compared, chosen), strict=True):
        each.append(found)
        yield found.row(case.name)
        if arguments.detail and not found.whole():
            yield from found.detail()
    yield ""
    yield (
        f"Of {len(each)} transfers {sum(one.whole() for one in each)} are the kernel's to the last "
        f"segment, {sum(one.repeats_alike() for one in each)} have as many retransmissions, and of "
        f"{sum(one.close() for one in each)} the first of these and the last segment come within "
        f"{CLOSE_NS / 1e6:g} ms of the kernel's too."
    )


def compared(case: Case) -> Comparison:
    """The transfer in both; of CUBIC, with the first start within a tick at which they agree."""
    theirs = in_linux(case)
    starts = STARTS_US if case.congestion == "cubic" else STARTS_US[:1]
    tried = (Comparison(in_aqmlab(case, us), theirs, us) for us in starts)
    first = next(tried)
    return first if first.whole() else next((one for one in tried if one.whole()), first)


if __name__ == "__main__":
    raise SystemExit(main())
