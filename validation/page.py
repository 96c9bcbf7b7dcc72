"""The page of what every comparison with another program last showed: docs/validation-runs.md.

Usage: python -m validation.page [--site FOLDER]
A comparison that is given `--out validation/records/PART` writes a record of itself there (what
ran, when, which versions, its table). This puts the records into one page, without rows of
equivalent figures. `--site`, which `make site` uses, writes into a folder what the site shows: the
page with all rows, and a picture of the ratios of each comparison.
`python -m validation --all` runs them all and does so last; a comparison without a record is named.
The table of counts in docs/validation.md is written from the records too.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from validation import causes
from validation.recorded import RATIOS, Record, cells, found, runs_of

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "validation-runs.md"
RECORDS = Path(__file__).with_name("records")
PARTS = {
    "ns2": "TCP in ns-2",
    "ns3": "TCP in ns-3",
    "linux": "TCP through the queues of Linux 7.3",
    "linux.older": "TCP through the queues of Linux 6.12",
    "linux.arrivals": "The same arrivals through the Linux kernel's queues, packet by packet",
    "linux.losses": "The Linux kernel's TCP with listed losses and marks",
    "linux.mq": "cake_mq of a Linux kernel 7.x",
    "linux.l4s": "L4S queues in a Linux kernel 7.x, scalable and classic senders",
    "quic": "QUIC in quinn-proto",
    "quic.losses": "quinn-proto with listed losses and marks, and with random losses",
}
"""Modules below `validation`, in the order of the page, and their headings."""

MOST_RUNS = 100_000
"""More than these are not counted."""

HEAD = """\
# What the comparisons last showed

Written by `python -m validation.page`, the last step of `python -m validation --all`: do not edit.
What is compared, how it is judged, and the cause of every difference that is known stand in the
pages that [validation.md](validation.md) lists. *equivalent*: the whole 95 % interval of the ratio
lies within the margin; *different*: beyond it; *inconclusive*: neither. The number behind
*inconclusive* is about how many runs of each program would decide it if the ratio is what it
seems, since an interval shrinks with their square root. The cause of a difference is believed as
far as its counter-experiment shows it: the case with nothing but the cause taken out, which must
be equivalent.
"""


def runs_to_decide(runs: int, ratio: float, half: float, margin: float) -> float:
    """About how many runs make an interval end at the margin, from its half width after `runs`."""
    room = abs(abs(ratio - 1) - margin)
    return runs * (half / room) ** 2 if room > 0 else math.inf


def _described(line: str) -> str:
    """A record's line for the page: an inconclusive one says how many runs would decide it."""
    row = cells(line)
    if not row or row[-1] != "**inconclusive**":
        return line
    ratio, _, half = row[-3].partition(" ± ")
    if not half:
        return line
    margin = float(row[-2].strip("%")) / 100
    count = runs_to_decide(runs_of(row[2])[0], float(ratio), float(half), margin)
    described = f"{float(f'{count:.2g}'):,.0f}" if count <= MOST_RUNS else f"over {MOST_RUNS:,}"
    return f"{line.removesuffix('**inconclusive** |')}**inconclusive**: {described} |"


def _later(one: Record, whole: bool) -> list[str]:
    """What of a comparison was run again after the rest; not whole, how often and when last."""
    if not one.again:
        return []
    if whole:
        return ["Run later than the rest:", "", *(f"- {each}" for each in one.again), ""]
    days = re.findall(r"`, (\d{4}-\d\d-\d\d); ", " ".join(one.again))
    times = f"{len(one.again)} times" if len(one.again) > 1 else "once"
    return [f"Some cases were run later than the rest, {times}, last on {max(days)}.", ""]


MOST_NAMED = 4
"""Cases that a command on the page names; the whole page has all."""


def _shortened(command: str) -> str:
    """A command that names its cases, with the first of them."""
    first, *named = command.split(" --only ")
    if len(named) <= MOST_NAMED:
        return command
    return f"{first} --only {named[0]} … (of {len(named)} cases)"


LEFT_OUT = """
Tables here leave out the figures that are equivalent; the line above each picture counts them. The
site that `make site` builds has every row, and every command.
"""


def text(
    records: Mapping[str, Record],
    pictures: Mapping[str, str],
    ratios: Mapping[str, pl.DataFrame],
    *,
    whole: bool = True,
) -> str:
    """The page; `pictures` as the page links them, and ratios, by part. Not whole it has no row of
    an equivalent figure, and no table that would have no other."""
    lines = [*HEAD.splitlines(), *([] if whole else LEFT_OUT.splitlines()), ""]
    known = causes.known()
    for part, title in PARTS.items():
        lines += [f"## {title}", ""]
        one = records.get(part)
        if one is None:
            lines += ["Not run.", ""]
            continue
        versions = f"aqmlab {one.versions['aqmlab']}, {one.versions['other']}"
        command = one.command if whole else _shortened(one.command)
        lines += [f"`{command}`, {one.made}; {versions}.", ""]
        lines += [f"{one.summary}.", ""] if one.summary else []
        lines += [f"![ratios]({pictures[part]})", ""] if part in pictures else []
        if part in ratios:
            lines += _not_the_same([*causes.differences(part, ratios[part], known)])
        rows = one.text.strip().splitlines()
        lines += [*map(_described, rows if whole else _open(rows)), ""]
        lines += _later(one, whole)
    return "\n".join(lines)


OVERVIEW = ROOT / "docs" / "validation.md"
COUNTS = ("<!-- counts of the records -->\n", "<!-- end of counts -->")
VERDICTS = ("equivalent", "inconclusive", "different")


def overview(page: str, records: Mapping[str, Record]) -> str:
    """The page about validation with today's counts between its marks."""
    before, rest = page.split(COUNTS[0])
    _, after = rest.split(COUNTS[1])
    names = ("comparison", "with", "figures", *VERDICTS)
    lines = [f"| {' | '.join(names)} |", "| --- | --- |" + " ---: |" * 4]
    lines += [_counted(part, records.get(part)) for part in PARTS]
    return f"{before}{COUNTS[0]}\n" + "\n".join(lines) + f"\n\n{COUNTS[1]}{after}"


def _counted(part: str, one: Record | None) -> str:
    """How many figures of a comparison have which verdict; of one that goes packet by packet,
    which has no verdicts, how many of its rows are equal to the last packet."""
    title = f"{PARTS[part]} (`validation.{part}`)"
    if one is None:
        return f"| {title} | not run | | | | |"
    described = f"{one.versions['other']}, {one.made}"
    each = [row[-1].strip("*") for row in map(cells, one.text.splitlines()) if row]
    counts = Counter(each)
    if not counts.keys() <= {*VERDICTS}:
        rows, equal = _equal(one.text)
        return f"| {title} | {described} | {rows} rows | {equal} equal | | |"
    shown = (counts[verdict] or "none" for verdict in VERDICTS)
    return f"| {title} | {described} | {len(each)} | {' | '.join(map(str, shown))} |"


SAME = "the same up to"


def _equal(text: str) -> tuple[int, int]:
    """How many rows a record's tables have that say how far both are equal, and how many of these
    are so to the end."""
    column, rows, equal = None, 0, 0
    for line in text.splitlines():
        row = [cell.strip() for cell in line.strip("|").split("|")]
        heads = [place for place, cell in enumerate(row) if cell.startswith(SAME)]
        if heads or not line.startswith("|"):
            column = heads[0] if heads else None
        elif column is not None and not row[0].startswith("---"):
            rows += 1
            equal += row[column] == "all"
    return rows, equal


EQUIVALENT = "| equivalent |"


def _open(rows: Sequence[str]) -> list[str]:
    """A record's lines without equivalent rows, and without tables and headings of only such."""
    kept: list[str] = []
    heading: list[str] = []
    for block in "\n".join(rows).split("\n\n"):
        given = block.splitlines()
        lines = [line for line in given if not line.endswith(EQUIVALENT)]
        if given[0].startswith("**") and len(given) == 1:
            heading = [*given, ""]
        elif any(map(cells, lines)) or not any(map(cells, given)):
            kept += [*heading, *lines, ""]
            heading = []
    return kept[:-1]


def _not_the_same(each: Sequence[causes.Difference]) -> list[str]:
    """What is different, and what is inconclusive with a known cause.

    Figures that are inconclusive for want of runs stand in the tables of the cases alone.
    """
    if not each:
        return []
    shown = sum(one.shown for one in each)
    listed = [one for one in each if one.why or one.verdict == "different"]
    head = ("case", "figure", "ratio", "verdict", "cause", "counter-experiment", "its ratio")
    title = f"Not equivalent: {len(each)} figures, of {shown} a counter-experiment shows the cause"
    if rest := len(each) - len(listed):
        title += f"; {rest} inconclusive without a known cause are below alone"
    if not listed:
        return [f"**{title}**", ""]
    # A cause of several figures is written once, below the table.
    found = dict.fromkeys(one.why for one in listed if one.why)
    numbers = {why: f"({number})" for number, why in enumerate(found, 1)}
    return [
        f"**{title}**",
        "",
        f"| {' | '.join(head)} |",
        "| --- " * len(head) + "|",
        *(
            f"| {one.case} | {one.figure} | {one.ratio} | {one.verdict} | "
            f"{numbers.get(one.why, 'not known')} | {one.control} | {one.described} |"
            for one in listed
        ),
        "",
        *(f"- {number} {why}" for why, number in numbers.items()),
        "",
    ]


def write() -> None:
    """Writes the page from the records."""
    ratios, records = kept_ratios(), found(RECORDS)
    PAGE.write_text(text(records, pictures(ratios), ratios, whole=False), "utf-8")
    OVERVIEW.write_text(overview(OVERVIEW.read_text("utf-8"), records), "utf-8")
    print(PAGE)


def kept_ratios() -> dict[str, pl.DataFrame]:
    """The ratios of every comparison that has a record with some, by part."""
    files = {part: RECORDS / part / RATIOS for part in PARTS}
    return {part: pl.read_csv(file) for part, file in files.items() if file.is_file()}


def pictures(parts: Iterable[str]) -> dict[str, str]:
    """Where the page finds the picture of each part."""
    return {part: f"images/validation/{part}.svg" for part in parts}


def write_for_site(folder: Path) -> Path:
    """Writes the page with every row and command, and its pictures; returns the page's path."""
    from validation import picture

    ratios = kept_ratios()
    for part, place in pictures(ratios).items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(picture.drawn(ratios[part]), "utf-8")
    page = folder / PAGE.name
    page.write_text(text(found(RECORDS), pictures(ratios), ratios), "utf-8")
    return page


def main(arguments: Sequence[str]) -> int:
    """The command of this module."""
    parser = argparse.ArgumentParser(prog="python -m validation.page")
    parser.add_argument("--site", metavar="FOLDER", type=Path, help="write what the site shows")
    folder = parser.parse_args(arguments).site
    if folder is None:
        write()
    else:
        write_for_site(folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
