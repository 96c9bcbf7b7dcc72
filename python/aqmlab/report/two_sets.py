"""The report's sentences on a study with two sets of values: as printed in the paper, and
reconstructed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from aqmlab.claims.judge import HOLDS
from aqmlab.io.numbers import counted
from aqmlab.tables.document import Sets, StudyDocument, TableOfSets

FRONT, PRINTED = "reconstructed", "printed"
STANDINGS = ("trained", "foretold", "seen")


def headline(result: StudyDocument) -> list[str]:
    """The findings of a study that was run with two sets of values, the reconstructed and the
    printed one, in a few sentences; empty for any other study."""
    sets = result.get("sets")
    if not sets:
        return []
    return list(filter(None, (*_numbers(sets, _runs(result)), _claims(result))))


def closing(result: StudyDocument) -> str:
    """The headline sentences as one paragraph, printed after the study's run; empty for a study
    that was not run with two sets of parameter values."""
    lines = headline(result)
    return f"{result['title']}: {' '.join(lines)}" if lines else ""


def _runs(result: StudyDocument) -> str:
    """Number and length of the runs: `quick runs: 3 seeds of 20 min`."""
    mode = "quick" if result["quick"] else "full"
    seeds = counted(result["seeds"], "seed")
    return f"{mode} runs: {seeds} of {result['settings']['duration']}"


def _numbers(sets: Sets, runs: str) -> Iterator[str]:
    """Texts on how many published numbers are close to simulated ones: first in the tables that
    were used to choose the set; then in tables whose numbers were predicted before they were
    compared, which is the strongest evidence; then in the others."""
    first = True
    for standing in STANDINGS:
        tables = [table for table in sets["tables"] if _first(sets, table["id"]) == standing]
        front, printed = (_sum(tables, name) for name in (FRONT, PRINTED))
        if not front["numbers"]:
            continue
        names = ", ".join(dict.fromkeys(table["table"] for table in tables))
        used = _used([table for table in tables if table["known"] == standing], standing)
        if first:
            yield (
                f"Of {counted(front['numbers'], 'published number')} of {names} ({used}) "
                f"{front['near']} lie within two standard deviations of ours with the "
                f"reconstructed set ({runs}), {printed['near']} with {_as_printed(sets)}."
            )
        else:
            yield (
                f"{names} ({used}): {front['near']} of {front['numbers']}, as printed "
                f"{printed['near']}."
            )
        first = False


def _first(sets: Sets, table: str) -> str:
    """How a table was used: the first of `STANDINGS` that any of its numbers has."""
    known = {entry["known"] for entry in sets["tables"] if entry["id"] == table}
    return next(standing for standing in STANDINGS if standing in known)


def _used(tables: Sequence[TableOfSets], standing: str) -> str:
    """How the numbers of these tables were used in choosing the set, in words."""
    if standing == "trained":
        return f"{_sum(tables, FRONT)['numbers']} of them chose the set"
    if standing == "foretold":
        days = dict.fromkeys(f"on {table['on']} (commit {table['commit']})" for table in tables)
        return f"not used to choose the set; foretold {', '.join(days)}"
    return "not used to choose the set, but seen before"


def _as_printed(sets: Sets) -> str:
    usual = "the paper as printed and our defaults for the rest"
    recorded = sets.get("recorded")
    return f"{usual} (full runs of {recorded['made']})" if recorded else usual


def _claims(result: StudyDocument) -> str:
    paper = [claim for claim in result["claims"] if claim["kind"] != "ours"]
    if not paper:
        return ""
    front = sum(claim["verdict"] == HOLDS for claim in paper)
    printed = sum((claim.get(PRINTED) or {}).get("verdict") == HOLDS for claim in paper)
    whole = len(result["parts"]) == len(result["all_parts"])
    which = "" if whole else " that these parts decide,"
    return (
        f"Of {counted(len(paper), 'claim')} of the paper{which} {front} hold with the "
        f"reconstructed set, {printed} as printed."
    )


def _sum(tables: Sequence[TableOfSets], name: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for table in tables:
        found.update({key: table[name][key] for key in ("numbers", "near")})
    return found
