"""Which keys each entry of an experiment may have, and which it must have (docs/studies.md)."""

from __future__ import annotations

from dataclasses import dataclass

from aqmlab.errors import nearest


@dataclass(frozen=True)
class Keys:
    """Keys that an entry must have, and those that it may have beside them."""

    needed: frozenset[str]
    known: frozenset[str]

    def problem(self, entry: dict) -> str | None:
        """What is wrong with an entry's keys, if anything."""
        for key in entry:
            if key not in self.known:
                known = sorted(self.known)
                hint = nearest(key, known) or f" (known: {', '.join(known)})"
                return f'unknown key "{key}"{hint}'
        missing = sorted(self.needed - entry.keys())
        return f'has no "{missing[0]}": add it' if missing else None


def keys(needed: str, others: str = "") -> Keys:
    """Keys as two lists of words."""
    must = frozenset(needed.split())
    return Keys(must, must | frozenset(others.split()))


#: The file itself.
WHOLE = keys(
    "name title subtitle question source part settings scenario group metric",
    "port include lead base axis setup calibration table difference figure claim deviation",
)

SETTINGS = keys("seeds", "duration warmup looks calibration_seeds calibration")

#: Entries of the lists.
ENTRIES = {
    "part": keys("name title", "text"),
    "setup": keys("caption", "base"),
    "calibration": keys("rate", "base traffic multiple_of together"),
    "group": keys("name part", "base set axis seeds times only"),
    "metric": keys("name title unit digits", "summary statistic args scale hidden"),
    "table": keys("id part group title keys", "paper where metrics reference headline note"),
    "difference": keys(
        "id part group minus on title",
        "paper where minus_where by metrics headline note",
    ),
    "claim": keys("id part claim rule version condition", "kind known note revisits"),
    "deviation": keys("what text"),
}

AXIS = keys("name", "paths values variant label constructed quick")
VARIANT = keys("name set", "published constructed")

CONDITION = keys("let value", "text unit each some at_least at_most above below")
SEVERAL = keys("", "text each some any all")

#: What a name of a rule may stand for, by the key that tells which; the last is any other.
LETS = {
    "probe": keys("probe", "args"),
    "calibration": keys("calibration", "base"),
    "pair": keys("pair a b", "args over"),
    "across": keys("across group", "where args"),
    "group": keys("group", "where metric statistic summary args scale over"),
}
CELL = keys("group", "where")
