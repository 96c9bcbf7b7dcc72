"""What a report says of a study that has two sets: as printed, and reconstructed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from aqmlab.claims.judge import HOLDS
from aqmlab.io.numbers import counted

FRONT, PRINTED = "reconstructed", "printed"


def headline(result: Mapping[str, Any]) -> list[str]:
    """The findings of a study with two sets in at most three sentences; none of any other study."""
    if not result.get("sets"):
        return []
    return list(filter(None, (_numbers(result), _foretold(result), _claims(result))))


def closing(result: Mapping[str, Any]) -> str:
    """All of that in one paragraph, for the user who has just run the study."""
    lines = headline(result)
    return f"{result['title']}: {' '.join(lines)}" if lines else ""


def _numbers(result: Mapping[str, Any]) -> str:
    tables = result["sets"]["tables"]
    front, printed = (_sum(tables, name) for name in (FRONT, PRINTED))
    if not front["numbers"]:
        return ""
    return (
        f"Of {counted(front['numbers'], 'published number')} {front['near']} lie within two "
        f"deviations of ours with the reconstructed set, {printed['near']} with the paper as it is "
        "printed and our defaults for the rest."
    )


def _foretold(result: Mapping[str, Any]) -> str:
    """What the set had foretold: the strongest thing that a study can say."""
    found = [table for table in result["sets"]["tables"] if table["known"] == "foretold"]
    return " ".join(
        f"{table['table']}, which was not used to find the set and was foretold on {table['on']} "
        f"(commit {table['commit']}): {table[FRONT]['near']} of {table[FRONT]['numbers']}, as "
        f"printed {table[PRINTED]['near']}."
        for table in found
    )


def _claims(result: Mapping[str, Any]) -> str:
    paper = [claim for claim in result["claims"] if claim["kind"] != "ours"]
    if not paper:
        return ""
    front = sum(claim["verdict"] == HOLDS for claim in paper)
    printed = sum((claim.get(PRINTED) or {}).get("verdict") == HOLDS for claim in paper)
    return (
        f"Of {counted(len(paper), 'claim')} of the paper {front} hold with the reconstructed set, "
        f"{printed} as printed."
    )


def _sum(tables: Sequence[Mapping[str, Any]], name: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for table in tables:
        found.update({key: table[name][key] for key in ("numbers", "near")})
    return found
