"""What a comparison that has run leaves of itself in a folder, and what is added to it later."""

from __future__ import annotations

import gzip
import json
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from aqmlab.simulator.engine import version

RECORD, RATIOS = "record.json.gz", "ratios.csv.gz"


def packed(text: str) -> bytes:
    """A file of the repository in little room, alike on every day."""
    return gzip.compress(text.encode(), mtime=0)


@dataclass(frozen=True)
class Record:
    """One comparison as it last ran."""

    part: str
    """Which comparison it is, one of `page.PARTS`."""
    command: str
    """The command with which the comparison was run."""
    made: str
    """The day of the run, in UTC."""
    versions: Mapping[str, str]
    """Versions of aqmlab and of the other program."""
    text: str
    """The comparison's table in Markdown."""
    summary: str = ""
    """The comparison's verdicts in one line of text."""
    again: Sequence[str] = ()
    """What was run again since, a line each: its command, day, versions and how many cases."""

    def keep(self, folder: Path) -> None:
        """Writes the record into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"
        (folder / RECORD).write_bytes(packed(text))


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


def found(folder: Path) -> dict[str, Record]:
    """The records of a folder by part."""
    each = [
        Record(**json.loads(gzip.decompress(file.read_bytes())))
        for file in sorted(folder.rglob(RECORD))
    ]
    return {one.part: one for one in each}


def verdicts(rows: Sequence[tuple[str, str]]) -> str:
    """How many figures are equivalent, inconclusive and different, from titles and verdicts."""
    described: dict[str, Counter[str]] = {}
    for title, verdict in rows:
        described.setdefault(title, Counter())[verdict] += 1
    return "; ".join(
        f"{title}: " + ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
        for title, counts in described.items()
    )


def cells(line: str) -> list[str]:
    """The cells of a row of a record's table; none of any other line."""
    each = [cell.strip() for cell in line.strip("|").split("|")]
    return each if line.startswith("| ") and each[0] not in ("case", "---") else []


def runs_of(cell: str) -> tuple[int, int]:
    """How many runs a row is of: `8`, both; `20 (160)`, the other program's and ours."""
    theirs, _, ours = cell.strip(")").partition(" (")
    return int(theirs), int(ours or theirs)


def wide(text: str, most: int) -> set[str]:
    """The cases of a record's table with an interval wider than half the margin, or not known.

    Those of which more seeds say more: without what has been run `most` times already. Widths
    decide, not verdicts (`equivalence.Seeds`).
    """
    found: set[str] = set()
    for case, _, runs, *_, ratio, margin, _ in filter(None, map(cells, text.splitlines())):
        _, _, half = ratio.partition(" ± ")
        if runs_of(runs)[0] >= most:
            continue
        if not half or float(half) > float(margin.strip("%")) / 200:
            found.add(case)
    return found


def families(text: str) -> dict[str, tuple[list[str], dict[str, list[str]]]]:
    """For each family, by its heading: the lines before its first row, and the rows of each case.

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
    described = f"`{new.command}`, {new.made}; {versions}: {count} cases"
    return replace(old, text=text, summary=summary, again=(*old.again, described))
