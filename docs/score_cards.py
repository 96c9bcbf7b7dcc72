"""Writes docs/score-cards/NAME.md from finished studies, every claim with its verdict, and copies
their reports into docs/reports.tar.xz, from which the site is built. Numbers and verdicts of a full
study of the printed set go to printed.json in the study's folder.

Usage: python docs/score_cards.py FOLDER...   (as `aqmlab study NAME --full --out FOLDER` left them)

A run of some parts only (`--part`) renews the rows of its claims and says so below; the page's
other rows, and the report, stay. A run with the reconstructed set renews the page of this set
(NAME-reconstructed.md) if there is one; else the study's page shows the verdicts of both sets.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from aqmlab.errors import StoreError
from aqmlab.experiment.folders import shipped
from aqmlab.infer import recorded
from aqmlab.infer.reconstruction import PRINTED
from aqmlab.io.files import read_sealed
from aqmlab.pipeline import registry
from aqmlab.runs.contents import Contents

sys.path.insert(0, str(Path(__file__).parent))
import archive

PAGES = Path(__file__).with_name("score-cards")
BOTH = 5
"""Number of cells in a claim's row that has the verdicts of two sets."""
HEAD_OF_TWO = "| | claim | reconstructed | as printed | why |"
NOT_RUN = "The rows without a verdict are of"
OURS = "Questions of ours, and the claims reassessed with today's end systems"
NONE_OF_OURS = "The claims reassessed with today's end systems were not run with this set"
NOTE = "The claims of the part "


def page(described: dict[str, Any], made: str) -> str:
    """The page of a study: what ran, when and with which code, and how each claim was judged."""
    commit = described["versions"]["commit"][:8]
    mode = "quick" if described["quick"] else "full"
    of_paper = [c for c in described["claims"] if c["kind"] != "ours"]
    ours = [c for c in described["claims"] if c["kind"] == "ours"]
    lines = [
        f"# Score card: {described['title']}",
        "",
        f"`{_command(described, mode)}`, {made}, commit `{commit}`; "
        f"{described['seeds']} seeds, more "
        f"where a claim stayed open. {_whole(described)}"
        "Written by `python docs/score_cards.py`: do not edit. "
        "Verdicts are about our models of the testbed; the rules were written before the runs "
        "([studies.md](../studies.md)).",
        "",
        *_table("Claims of the paper", of_paper),
        *_table(OURS, ours),
    ]
    return "\n".join(lines)


def _is_partial(described: dict[str, Any]) -> bool:
    return 0 < len(described["parts"]) < len(described["all_parts"])


def _whole(described: dict[str, Any]) -> str:
    """A sentence with a link to the report. Only a study's own report is on the site; a set with a
    page of its own has none."""
    name = described["name"]
    if name not in shipped():
        return ""
    which = "report of the printed set" if _is_partial(described) else "whole report"
    link = f"[The {which}](../reports/{name}.html)"
    return f"{link}, with its figures and tables, is on the site and in `docs/reports.tar.xz`. "


def _command(described: dict[str, Any], mode: str) -> str:
    """The command that repeats a study; the name of a set's own page is the study's name and the
    set's."""
    name, assumed = described["name"], described.get("set")
    own, parts = name.removesuffix(f"-{assumed}"), ""
    if _is_partial(described):
        parts = "".join(f" --part {part}" for part in described["parts"])
    assume = f" --assume {assumed}" if assumed and (own != name or parts) else ""
    return f"aqmlab study {own} --{mode}{assume}{parts}"


def renewed(old: str, described: dict[str, Any], made: str) -> str:
    """A page with the claims of some parts judged anew; a note names these parts and their run. On
    a page with two sets, the verdicts of the set that was not run stay."""
    of_printed = described.get("set", PRINTED) == PRINTED
    rows = {claim["id"]: claim for claim in described["claims"]}
    lines, missing = [], set(rows)
    for line in old.rstrip("\n").split("\n"):
        name = line.split(" | ")[0].removeprefix("| ")
        if name not in rows or not line.startswith("| "):
            lines.append(line)
            continue
        before = _row(line)
        cells = _cells(rows[name], both=False)
        if len(before) == BOTH:
            name_, verdict, why = cells
            sets = [before[2], verdict] if of_printed else [verdict, before[3]]
            cells = [name_, *sets, why]
        lines.append(" | ".join(["", name, *cells, ""]).strip())
        missing.discard(name)
    own = [rows[name] for name in rows if name in missing and rows[name].get("kind") == "ours"]
    missing -= {claim["id"] for claim in own}
    if missing or (own and f"## {OURS}" in lines):
        rest = ", ".join(sorted(missing or {claim["id"] for claim in own}))
        raise StoreError(f"the page has no row of {rest}: run the whole study")
    parts, commit = ", ".join(described["parts"]), described["versions"]["commit"][:8]
    short = " in quick runs" if described.get("quick") else ""
    note = f"{NOTE}{parts} were judged anew{short} on {made}, commit `{commit}`: "
    note += f"{', '.join(rows)}."
    left = [without(line, rows) for line in lines if not own or not line.startswith(NONE_OF_OURS)]
    if own:
        notes = next((n for n, line in enumerate(left) if line.startswith(NOTE)), len(left))
        before = "\n".join(left[:notes]).rstrip("\n").split("\n")
        left = [*before, "", *_table(OURS, own), *left[notes:]]
    if not any("| not run |" in line for line in left):  # the counts take its place
        left = ["" if line.startswith(NOT_RUN) else line for line in left]
    body = "\n## ".join(map(_counted, "\n".join(left).rstrip("\n").split("\n## ")))
    return f"{body}\n\n{note}\n"


def without(line: str, renewed: Iterable[str]) -> str:
    """A line of a page. If the line lists claims that an earlier run judged anew, those of
    `renewed` are removed from the list."""
    said, colon, names = line.partition(": ")
    if not said.startswith(NOTE) or not colon:
        return line
    left = [name for name in names.rstrip(".").split(", ") if name not in renewed]
    return f"{said}: {', '.join(left)}." if left else ""


def beside(old: str, described: dict[str, Any], made: str) -> str:
    """The page of a run of some parts with another set: each claim has the printed set's verdict
    next to that of the run. Claims of parts that were not run have the old page's verdicts only."""
    before = {row[0]: row for row in map(_row, old.split("\n")) if len(row) >= BOTH - 1}
    before = {name: row for name, row in before.items() if name[:1] not in "|-"}
    claims, rest = [], []
    for claim in described["claims"]:
        known = {"printed": {"verdict": before[claim["id"]][-2]}} if claim["id"] in before else {}
        claims.append(claim | ({} if claim.get("printed") else known))
    for name, claim, *verdicts, why in before.values():
        if name not in {claim["id"] for claim in claims}:
            own = verdicts[0] if len(verdicts) > 1 else "not run"
            rest.append(f"| {name} | {claim} | {own} | {verdicts[-1]} | {why} |")
    parts = {part["name"] for part in described["all_parts"]} - set(described["parts"])
    note = f"{NOT_RUN} {', '.join(sorted(parts))}: parts that were not run "
    note += "with the reconstructed set; the printed set's are of the report."
    head = [HEAD_OF_TWO, "| --- | --- | --- | --- | --- |"]
    left = ["## Claims of other parts", "", note, "", *head, *rest, ""] if rest else []
    of = described["set"]
    name = described["name"].removesuffix(f"-{of}")
    title = described["title"].removesuffix(f" ({of})")
    own = {"name": name, "title": title, "claims": claims}
    return page(described | own, made) + "\n" + "\n".join(left)


def _row(line: str) -> list[str]:
    """The cells of a table's line: name, claim, one verdict or two, why."""
    return line.removeprefix("| ").removesuffix(" |").split(" | ")


def _counted(section: str) -> str:
    """A section of a page, with a line that counts the verdicts in its table."""
    lines = section.split("\n")
    rows = [line.split(" | ") for line in lines if line.startswith("| ") and line.count(" | ") > 2]
    verdicts = [row[2] for row in rows if row[0] not in ("|", "| ---")]
    if len(lines) > 2 and verdicts:
        lines[2] = f"{_counts(verdicts)}."
    return "\n".join(lines)


def _counts(verdicts: Iterable[str]) -> str:
    return ", ".join(f"{number} {verdict}" for verdict, number in sorted(Counter(verdicts).items()))


def _table(title: str, claims: list[dict[str, Any]]) -> list[str]:
    if not claims:
        return []
    described = _counts(claim["verdict"] for claim in claims)
    both = any(claim.get("printed") for claim in claims)
    rows = [" | ".join(["", claim["id"], *_cells(claim, both), ""]) for claim in claims]
    head = ["| | claim | verdict | why |", "| --- | --- | --- | --- |"]
    if both:
        head = [HEAD_OF_TWO, "| --- | --- | --- | --- | --- |"]
    return [f"## {title}", "", f"{described}.", "", *head, *(row.strip() for row in rows), ""]


def _cells(claim: dict[str, Any], both: bool) -> list[str]:
    printed = [(claim.get("printed") or {}).get("verdict", "not run")] if both else []
    return [_cell(t) for t in (claim["claim"], claim["verdict"], *printed, claim["why"])]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _page_of_parts(pages: Path, study: str, of: str) -> tuple[Path, Callable[..., str]]:
    """The page that a run of some parts renews, and the function that does it: a set whose whole
    study was run has its own page, and a page may show both sets already."""
    own, page = pages / f"{study}-{of}.md", pages / f"{study}.md"
    if own.exists():
        return own, renewed
    both = page.exists() and HEAD_OF_TWO in page.read_text("utf-8")
    return page, renewed if of == PRINTED or both else beside


def main(folders: list[str]) -> int:
    """Writes the pages of these folders; returns 1 if a folder does not hold what a study
    writes."""
    PAGES.mkdir(exist_ok=True)
    for folder in map(Path, folders):
        try:
            if (contents := Contents.load(folder)) is None:
                raise StoreError(f"{folder} holds no results: give the folder of a study's --out")
            described, report = (
                json.loads(contents.read("result.json")),
                contents.read("report.html"),
            )
            made = str(read_sealed(folder / "manifest.json")["created"])[:10]
        except StoreError as error:
            print(error, file=sys.stderr)
            return 1
        of = described.get("set") or PRINTED
        study = described["name"].removesuffix(f"-{of}")
        if _is_partial(described):
            file, renew = _page_of_parts(PAGES, study, of)
            file.write_text(renew(file.read_text("utf-8"), described, made), "utf-8")
            continue
        if described.get("set") == PRINTED and not described["quick"]:
            recorded.write(registry.find(study), described, made)
            continue
        (PAGES / f"{described['name']}.md").write_text(page(described, made), "utf-8")
        if described["name"] in shipped():
            archive.add(archive.REPORTS, {f"{described['name']}.html": report})
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
