"""The page docs/mutants.md: how many mutants of each crate are caught, and why others may live."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from validation.mutants import listing, python
from validation.mutants.answers import FOLDER, SURVIVED, Answers
from validation.mutants.listing import Mutant

JUSTIFIED = Path(__file__).with_name("justified.toml")
WORDS = ("caught", "timeout", "unviable", "by hand", "missed", "unreached", "not asked")
MOST_NAMED = 250
"""Survivors that the page names."""
PLACE = re.compile(r":\d+:\d+: ")


def lasting(mutant: Mutant, text: bytes) -> str:
    """A mutant's name with the text of its line in place of its number, which moves with edits."""
    line = text.decode().splitlines()[mutant.start[0] - 1].strip()
    return f"{PLACE.sub(': ', mutant.name)} | {line}"


def justified() -> dict[str, str]:
    """Reasons, by the lasting names of the mutants that no test can or need notice."""
    described: dict[str, str] = {}
    for entry in tomllib.loads(JUSTIFIED.read_text()).get("because", []):
        for name in entry["mutants"]:
            described[name] = entry["reason"]
    return described


def excused(root: Path, mutants: Sequence[Mutant]) -> set[int]:
    """Numbers of the mutants for which there is a reason why they may live."""
    reasons, texts = justified(), {m.file: (root / m.file).read_bytes() for m in mutants}
    return {m.number for m in mutants if lasting(m, texts[m.file]) in reasons}


def write(root: Path, crates: Sequence[str]) -> None:
    """Writes the page from the answers that are kept."""
    reasons = justified()
    counts, open_ones, allowed = [], [], []
    for crate in crates:
        found = listing.mutants(root, f"aqmlab-{crate}")
        texts = {m.file: (root / m.file).read_bytes() for m in found}
        answers = Answers(FOLDER / f"{crate}.json", root, found)
        words = {m: answers.words[m.number] for m in found}
        survivors = [m for m, word in words.items() if word in SURVIVED]
        described = Counter(words.values())
        names = {m: lasting(m, texts[m.file]) for m in survivors}
        excused = [m for m in survivors if names[m] in reasons]
        counts.append([crate, len(found), *(described[word] for word in WORDS), len(excused)])
        allowed += [(m.name, reasons[names[m]]) for m in excused]
        open_ones += [(m.name, words[m]) for m in survivors if m not in excused]
    rows = list(python.answers(root).rows())
    described = Counter(word for _, word in rows)
    left = [(m, word) for m, word in rows if word in SURVIVED]
    excused_too = [m for m, _ in left if m.lasting in reasons]
    counts.append(["Python", len(rows), *(described[word] for word in WORDS), len(excused_too)])
    allowed += [(m.name, reasons[m.lasting]) for m in excused_too]
    open_ones += [(m.name, word) for m, word in left if m.lasting not in reasons]
    page = root / "docs" / "mutants.md"
    begin, _, _ = page.read_text().partition("<!-- generated -->")
    page.write_text(begin + "<!-- generated -->\n" + _text(counts, allowed, open_ones))


def _text(
    counts: list[list[object]], allowed: list[tuple[str, str]], left: list[tuple[str, str]]
) -> str:
    lines = ["", _row(["crate", "mutants", *WORDS, "of the missed, justified"])]
    lines += ["| --- " * (len(WORDS) + 3) + "|", *(_row(row) for row in counts)]
    still_open = _grouped(left) if len(left) <= MOST_NAMED else _counted(left)
    lines += ["", "## Justified", "", *_grouped(allowed), "", "## Open", "", *still_open]
    return "\n".join(lines) + "\n"


def _counted(rows: list[tuple[str, str]]) -> list[str]:
    """How many of each file, where there are too many to name."""
    counts = Counter(name.split(":", 1)[0] for name, _ in rows)
    described = "Too many to name; `python -m validation.mutants CRATE` does. By file:"
    return [described, "", *(f"- `{file}`: {n}" for file, n in sorted(counts.items()))]


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _grouped(rows: list[tuple[str, str]]) -> list[str]:
    """Names under their reasons."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in rows:
        by_reason.setdefault(reason, []).append(name)
    lines: list[str] = []
    for reason, names in by_reason.items():
        lines += [f"- {reason}", *(f"    - `{name}`" for name in names)]
    return lines or ["None."]
