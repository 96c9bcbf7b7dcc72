"""The page of what every comparison with another program last showed: docs/validation-runs.md.

Usage: python -m validation.page
A comparison that is given `--out validation/records/PART` writes a record of itself there (what
ran, when, which versions, its table). This puts the records into one page, and a picture of the
ratios of each beside it. `python -m validation` runs them all and does so last; a comparison
without a record is named.
"""

from __future__ import annotations

import json
import math
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from aqmlab.simulator.engine import version
from validation import causes

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "validation-runs.md"
PICTURES = ROOT / "docs" / "images" / "validation"
RECORDS = Path(__file__).with_name("records")
RECORD, RATIOS = "record.json", "ratios.csv"
PARTS = {
    "ns2": "TCP in ns-2",
    "ns3": "TCP in ns-3",
    "linux": "TCP through the Linux kernel's queues",
    "linux.arrivals": "The same arrivals through the Linux kernel's queues, packet by packet",
    "linux.losses": "The Linux kernel's TCP with listed losses and marks",
}
"""Modules below `validation`, in the order of the page, and their headings."""


MOST_RUNS = 100_000
"""More than these are not counted."""
LEFT, RIGHT = 0.6, 1.4
"""Ratios that the picture has room for."""

HEAD = """\
# What the comparisons last showed

Written by `python -m validation.page`, the last step of `make validate`: do not edit. What is
compared, how it is judged, and the cause of every difference that is known stand in
[validation.md](validation.md). *same*: the whole 95 % interval of the ratio lies within the
margin; *apart*: beyond it; *open*: neither. The number behind *open* is about how many runs of each
program would make it *same* or *apart* if the ratio is what it seems, since an interval shrinks
with their square root. The cause of a difference is believed as far as its control shows it: the
case with nothing but the cause taken out, which must be the same.
"""


@dataclass(frozen=True)
class Record:
    """One comparison as it last ran."""

    part: str
    """Which one, of `PARTS`."""
    command: str
    """What was typed."""
    made: str
    """The day, in UTC."""
    versions: Mapping[str, str]
    """Of aqmlab and of the other program."""
    text: str
    """Its table in Markdown."""
    summary: str = ""
    """Its verdicts in a line of words."""
    again: Sequence[str] = ()
    """What was run again since, a line each: its command, day, versions and how many cases."""

    def keep(self, folder: Path) -> None:
        """Writes it into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RECORD).write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n")


def verdicts(rows: Sequence[tuple[str, str]]) -> str:
    """How many figures are the same, open and apart, from their titles and verdicts."""
    told: dict[str, Counter[str]] = {}
    for title, verdict in rows:
        told.setdefault(title, Counter())[verdict] += 1
    return "; ".join(
        f"{title}: " + ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
        for title, counts in told.items()
    )


def cells(line: str) -> list[str]:
    """The cells of a row of a record's table; none of any other line."""
    each = [cell.strip() for cell in line.strip("|").split("|")]
    return each if line.startswith("| ") and each[0] not in ("case", "---") else []


def runs_to_decide(runs: int, ratio: float, half: float, margin: float) -> float:
    """About how many runs make an interval end at the margin, from its half width after `runs`."""
    room = abs(abs(ratio - 1) - margin)
    return runs * (half / room) ** 2 if room > 0 else math.inf


def _told(line: str) -> str:
    """A record's line for the page: what is open says how many runs would decide it."""
    row = cells(line)
    if not row or row[-1] != "**open**":
        return line
    ratio, _, half = row[-3].partition(" ± ")
    if not half:
        return line
    margin = float(row[-2].strip("%")) / 100
    count = runs_to_decide(int(row[2]), float(ratio), float(half), margin)
    told = f"{float(f'{count:.2g}'):,.0f}" if count <= MOST_RUNS else f"over {MOST_RUNS:,}"
    return f"{line.removesuffix('**open** |')}**open**: {told} |"


def wide(text: str, most: int) -> set[str]:
    """The cases of a record's table with an interval wider than half the margin, or not known.

    Those that more seeds tell more of: without what has been run `most` times already. Widths
    decide, not verdicts (`equivalence.Seeds`).
    """
    found: set[str] = set()
    for case, _, runs, *_, ratio, margin, _ in filter(None, map(cells, text.splitlines())):
        _, _, half = ratio.partition(" ± ")
        if int(runs) >= most:
            continue
        if not half or float(half) > float(margin.strip("%")) / 200:
            found.add(case)
    return found


def renewed(old: Record, new: Record) -> Record:
    """`old` with the rows of the cases in `new` in place of its own; it says what was run again.

    A case that `old` has not in that family is put at the family's end.
    """
    kept, again = families(old.text), families(new.text)
    for family, (head, fresh) in again.items():
        rows = kept.setdefault(family, (head, {}))[1]
        for _, others in kept.values():
            if others is not rows:
                for case in fresh:
                    others.pop(case, None)
        rows.update(fresh)
    text = "\n".join(
        line
        for head, of in kept.values()
        for line in [*head, *(row for rows in of.values() for row in rows), ""]
    ).rstrip("\n")
    each = [row for row in map(cells, text.splitlines()) if row]
    summary = verdicts([(row[1], row[-1].strip("*")) for row in each])
    versions = f"aqmlab {new.versions['aqmlab']}, {new.versions['other']}"
    count = sum(len(of) for _, of in again.values())
    told = f"`{new.command}`, {new.made}; {versions}: {count} cases"
    return replace(old, text=text, summary=summary, again=(*old.again, told))


def families(text: str) -> dict[str, tuple[list[str], dict[str, list[str]]]]:
    """Of each family the lines before its first row, and the rows of each case; by its heading.

    A family that comes twice is one. A text without any is a ValueError.
    """
    found: dict[str, tuple[list[str], dict[str, list[str]]]] = {}
    if not text.startswith("**"):
        raise ValueError("no family at the head of its table")
    for line in text.splitlines():
        if line.startswith("**"):
            head, of = found.setdefault(line, ([], {}))
        if row := cells(line):
            of.setdefault(row[0], []).append(line)
        elif not of:
            head.append(line)
    return found


def record(program: str, other: str, text: str, summary: str = "") -> Record:
    """The record of a comparison that has just run as `program` ("python -m validation.ns2")."""
    ours = version()
    return Record(
        program.partition("validation.")[2],
        f"{program} {shlex.join(sys.argv[1:])}".strip(),
        datetime.now(UTC).strftime("%Y-%m-%d"),
        {"aqmlab": f"{ours.version} ({ours.commit})", "other": other},
        text,
        summary,
    )


def text(
    records: Mapping[str, Record],
    pictures: Mapping[str, str],
    ratios: Mapping[str, pl.DataFrame],
) -> str:
    """The page; `pictures` as the page links them, and ratios, by part."""
    lines = [*HEAD.splitlines(), ""]
    known = causes.known()
    for part, title in PARTS.items():
        lines += [f"## {title}", ""]
        one = records.get(part)
        if one is None:
            lines += ["Not run.", ""]
            continue
        versions = f"aqmlab {one.versions['aqmlab']}, {one.versions['other']}"
        lines += [f"`{one.command}`, {one.made}; {versions}.", ""]
        lines += ["Of them run again: " + "; ".join(one.again) + ".", ""] if one.again else []
        lines += [f"{one.summary}.", ""] if one.summary else []
        lines += [f"![ratios]({pictures[part]})", ""] if part in pictures else []
        if part in ratios:
            lines += _not_the_same([*causes.differences(part, ratios[part], known)])
        lines += [*map(_told, one.text.strip().splitlines()), ""]
    return "\n".join(lines)


def _not_the_same(each: Sequence[causes.Difference]) -> list[str]:
    """What is apart or open, and why as far as it is known."""
    if not each:
        return []
    shown = sum(one.shown for one in each)
    head = ("case", "figure", "ratio", "verdict", "cause", "control", "its ratio")
    return [
        f"**Not the same: {len(each)} figures, of {shown} a control shows the cause**",
        "",
        f"| {' | '.join(head)} |",
        "| --- " * len(head) + "|",
        *(
            f"| {one.case} | {one.figure} | {one.ratio} | {one.verdict} | "
            f"{one.why or 'not known'} | {one.control} | {one.told} |"
            for one in each
        ),
        "",
    ]


def found(folder: Path) -> dict[str, Record]:
    """The records of a folder by part."""
    each = [Record(**json.loads(file.read_text("utf-8"))) for file in sorted(folder.rglob(RECORD))]
    return {one.part: one for one in each}


def drawn(ratios: pl.DataFrame, path: Path) -> None:
    """Ratios of aqmlab to the other program with their intervals, a column for each figure."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "aqmlab", "svg.fonttype": "none"}
    from matplotlib import pyplot

    ratio = pl.col("ratio")
    titles = ratios["figure"].unique(maintain_order=True).to_list()
    cases = ratios["case"].unique(maintain_order=True).to_list()
    height = 0.9 + 0.16 * len(cases)
    figure, axes = pyplot.subplots(
        1,
        len(titles),
        sharey=True,
        squeeze=False,
        figsize=(3 + 1.9 * len(titles), height),
    )
    colours = {"same": "#1b7f5c", "open": "#8a8a8a", "apart": "#c0392b"}
    for axis, title in zip(axes[0], titles, strict=True):
        of = ratios.filter(pl.col("figure") == title)
        margin = float(of["margin"][0])
        axis.axvspan(1 - margin, 1 + margin, color="#1b7f5c", alpha=0.12, lw=0)
        axis.axvline(1, color="#555555", lw=0.6)
        for verdict, colour in colours.items():
            some = of.filter(pl.col("verdict") == verdict)
            places = [cases.index(case) for case in some["case"]]
            look = {"fmt": "o", "ms": 2.5, "lw": 0.9, "c": colour}
            axis.errorbar(some["ratio"], places, xerr=some["half"], **look)
            for marker, at, beyond in (
                ("<", LEFT + 0.015, ratio < LEFT),
                (">", RIGHT - 0.015, ratio > RIGHT),
            ):
                far = [cases.index(case) for case in some.filter(beyond)["case"]]
                axis.plot([at] * len(far), far, marker, ms=4, c=colour)
        axis.set_title(title, fontsize=8)
        axis.tick_params(labelsize=6)
        axis.set_xlim(LEFT, RIGHT)
    axes[0][0].set_yticks(range(len(cases)), cases)
    axes[0][0].set_ylim(len(cases) - 0.5, -0.5)
    figure.supxlabel(
        "aqmlab over the other program, 95 % interval; shaded: the margin; triangles: farther off",
        fontsize=7,
        y=0.1 / height,
    )
    figure.tight_layout(rect=(0, 0.3 / height, 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def main() -> int:
    """Writes the page and its pictures from the records."""
    ratios = {
        part: pl.read_csv(RECORDS / part / RATIOS)
        for part in PARTS
        if (RECORDS / part / RATIOS).is_file()
    }
    pictures = {part: f"images/validation/{part}.svg" for part in ratios}
    for part, of in ratios.items():
        drawn(of, PICTURES / f"{part}.svg")
    PAGE.write_text(text(found(RECORDS), pictures, ratios), "utf-8")
    print(PAGE)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
