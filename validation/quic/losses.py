"""One transfer with listed losses in quinn-proto and in aqmlab, packet by packet; many with random.

Usage: python -m validation.quic.losses [--only WORD] [--out FOLDER] [--detail]
A server sends 480,000 B over 10 Mbit/s and 40 ms behind a queue that never fills, so that nothing
happens but what is listed. Both must send the same packets at the same time, and have the same
window after each: `--detail` prints where they part. Then the line loses at random, and the times
and repeats of a thousand transfers of each are compared.
Needs cargo, and crates.io once; without them, says so in one line and ends well.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from aqmlab.tables.equivalence import Margin, judge_paired
from validation import report
from validation.external import several
from validation.quic import program
from validation.quic.cases import CHOICES, CONTROLS

NEAR_NS = 50_000
"""Largest difference, ns, of two times since the first packet with data that count as equal."""
NEAR_BYTES = 3
"""Largest difference, bytes, of two congestion windows that count as equal."""
TRANSFERS = 1_000
"""Number of transfers with random losses; their seeds are 1 to this number."""
TOOK, REPEATED = 2, 6
"""Columns of the line that the program prints for a flow: its duration in ns, and its retransmitted
bytes."""


def numbers(first: int, last: int, step: int = 1) -> str:
    """Numbers from `first` to `last` as the program reads them, separated by commas."""
    return ",".join(map(str, range(first, last + 1, step)))


SCRIPTS: dict[str, tuple[str, ...]] = {
    "nothing": (),
    "one": ("drop=150",),
    "one, early": ("drop=30",),
    "three of a window": ("drop=150,155,160",),
    "eight in a row": (f"drop={numbers(150, 157)}",),
    "every second of 20": (f"drop={numbers(150, 169, 2)}",),
    "one, then one": ("drop=60,300",),
    "the first ten": (f"drop={numbers(1, 10)}",),
    "the last": ("drop=409",),
    "the last three": ("drop=407,408,409",),
    "all, until congestion persists": (f"drop={numbers(30, 74)}",),
    "one acknowledgement": ("drop_ack=40",),
    "20 acknowledgements": (f"drop_ack={numbers(40, 59)}",),
    "the client's hello": ("drop_client=1",),
    "the server's hello": ("drop_server=1",),
    "the server's certificate": ("drop_server=2,3",),
    "the client's answers": ("drop_client=2,3,4",),
}
"""Numbers of the server's packets with data, of the client's acknowledgements, of datagrams."""
MARKS: dict[str, tuple[str, ...]] = {
    "one mark": ("mark=150",),
    "20 marks in a row": (f"mark={numbers(150, 169)}",),
}

OURS = ("stack=aqmlab", *(f"tcp.{name}={str(value).lower()}" for name, value in CHOICES.items()))
"""Arguments of the program for aqmlab's QUIC with quinn's choices."""


@dataclass(frozen=True)
class Sent:
    """A packet of the server with data or a PING."""

    at_ns: int
    again: bool
    cwnd: int


@dataclass(frozen=True)
class Transfer:
    """A transfer: the packets that the server sent, and the time until the last byte had arrived,
    ns."""

    sent: list[Sent]
    took_ns: int
    again_bytes: int


def transfer(words: tuple[str, ...]) -> Transfer:
    """Runs the program once with these arguments and returns the transfer."""
    found = program.lines(("trace=true", *words))
    kinds = {kind: [row for row in found if row[0] == kind] for kind in ("sent", "flow")}
    sent = [
        Sent(int(at), again == "1", int(cwnd))
        for _, at, _, _, data, again, ping, cwnd in kinds["sent"]
        if int(data) or ping == "1"
    ]
    (flow,) = kinds["flow"]
    return Transfer(sent, int(flow[TOOK]), int(flow[REPEATED]))


def both(control: str, words: tuple[str, ...]) -> tuple[Transfer, Transfer]:
    """The transfers in aqmlab's QUIC and in quinn with these arguments."""
    ours = transfer((*OURS, f"tcp.congestion={CONTROLS[control]}", *words))
    return ours, transfer((f"control={control}", *words))


def same(ours: Transfer, theirs: Transfer) -> int:
    """Number of packets at the beginning for which both transfers agree: whether it is a
    retransmission, the time, and the window after it."""
    for at, (a, b) in enumerate(zip(ours.sent, theirs.sent, strict=False)):
        later = (b.at_ns - theirs.sent[0].at_ns) - (a.at_ns - ours.sent[0].at_ns)
        # quinn's window is shown with the byte that lets it be filled.
        apart = abs(a.cwnd + 1 - b.cwnd)
        if a.again != b.again or abs(later) > NEAR_NS or apart > NEAR_BYTES:
            return at
    return min(len(ours.sent), len(theirs.sent))


def whole(ours: Transfer, theirs: Transfer) -> bool:
    """Whether both transfers agree to the last packet."""
    return same(ours, theirs) == len(ours.sent) == len(theirs.sent)


COLUMNS = (
    "control of quinn: lost or marked",
    "packets here",
    "repeated, B",
    "done, ms",
    "quinn: packets",
    "repeated, B",
    "done, ms",
    "the same up to packet",
)


def row(name: str, ours: Transfer, theirs: Transfer) -> str:
    """The table's row for two transfers."""
    cells: list[object] = [name]
    for of in (ours, theirs):
        cells += [len(of.sent), of.again_bytes, f"{of.took_ns / 1e6:.1f}"]
    cells += ["all" if whole(ours, theirs) else same(ours, theirs)]
    return f"| {' | '.join(map(str, cells))} |"


def detail(ours: Transfer, theirs: Transfer) -> Iterator[str]:
    """Twelve lines with the packets of both transfers, from two packets before the first difference
    on."""
    at = max(same(ours, theirs) - 2, 0)
    for a, b in itertools.islice(itertools.zip_longest(ours.sent, theirs.sent), at, at + 12):
        described = [
            f"{x.at_ns / 1e6:9.3f} ms {x.cwnd:8} B{' again' * x.again}" if x else "" for x in (a, b)
        ]
        yield f"    {described[0]:40} {described[1]}"


def cases() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Name, control and words of all that are compared."""
    for control in CONTROLS:
        for name, words in SCRIPTS.items():
            yield f"{control}: {name}", control, words
        for name, words in MARKS.items():
            yield f"{control}, ECN: {name}", control, ("ecn=true", "tcp.ecn=true", *words)


RANDOM = {"1 %": 10_000, "3 %": 30_000}
"""Shares of the server's packets with data that are lost, of a million."""


def random_losses() -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """For each case with random losses: its name, and the program's arguments for aqmlab and for
    quinn."""
    for control, (share, lost) in itertools.product(CONTROLS, RANDOM.items()):
        theirs = (f"control={control}", f"lost={lost}")
        yield (
            f"{control}, {share}",
            (*OURS, f"tcp.congestion={CONTROLS[control]}", f"lost={lost}"),
            theirs,
        )
    shipped = ("shipped=true", "control=cubic", "lost=10000")
    yield (
        "as shipped (cubic), 1 %",
        ("stack=aqmlab", "tcp.congestion=rfc9438", "lost=10000"),
        shipped,
    )


def compared(case: tuple[str, tuple[str, ...], tuple[str, ...]]) -> Iterator[str]:
    """Rows of one share of losses: under a seed both lose packets by the same numbers drawn."""
    name, *each = case
    runs = [program.lines((*words, f"seeds={TRANSFERS}")) for words in each]
    for title, scale, margin, column in (
        ("transfer, ms", 1e-6, 0.05, TOOK),
        ("repeated, kB", 1e-3, 0.10, REPEATED),
    ):
        ours, theirs = (
            [scale * float(row[column]) for row in some if row[0] == "flow"] for some in runs
        )
        found = judge_paired(ours, theirs, Margin(margin, 0))
        means = [sum(some) / len(some) for some in (ours, theirs)]
        verdict = found.verdict if found.verdict == "equivalent" else f"**{found.verdict}**"
        cells = [name, title, TRANSFERS, *(f"{mean:.4g}" for mean in means)]
        cells += [f"{found.ratio:.3f} ± {found.ratio_half:.3f}", f"{margin:.0%}", verdict]
        yield f"| {' | '.join(map(str, cells))} |"


def _report(arguments: argparse.Namespace) -> Iterator[str]:
    """The lines of both tables."""
    yield f"| {' | '.join(COLUMNS)} |"
    yield "| --- " * len(COLUMNS) + "|"
    chosen = [case for case in cases() if arguments.only in case[0]]
    for (name, *_), (ours, theirs) in zip(
        chosen, several(lambda case: both(*case[1:]), chosen), strict=True
    ):
        yield row(name, ours, theirs)
        if arguments.detail and not whole(ours, theirs):
            yield from detail(ours, theirs)
    yield ""
    head = ("control, lost at random", "figure", "transfers", "aqmlab", "quinn", "ratio", "margin")
    yield f"| {' | '.join((*head, 'verdict'))} |"
    yield "| --- " * (len(head) + 1) + "|"
    some = [case for case in random_losses() if arguments.only in case[0]]
    for rows in several(lambda case: list(compared(case)), some):
        yield from rows


def main() -> int:
    """Runs the chosen cases and prints the tables; 0 also where quinn cannot be built."""
    parser = argparse.ArgumentParser(
        prog="python -m validation.quic.losses", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--detail", action="store_true", help="print where the two part")
    return report.main(parser, _report, "quinn", program.built, program.release)


if __name__ == "__main__":
    raise SystemExit(main())
