"""The first sentences of the report, made from the results only."""

from __future__ import annotations

from collections import Counter

from aqmlab.claims import reassessed
from aqmlab.claims.judge import FAILS, HOLDS, INCONCLUSIVE
from aqmlab.io.numbers import counted, ranged, signed, with_verb
from aqmlab.tables.document import MetricShown, StudyDocument
from aqmlab.tables.tables import BETWEEN, INSIDE, OUTSIDE

from . import answer, two_sets


def of(result: StudyDocument) -> list[str]:
    """The main findings, for a reader with half a minute."""
    first = answer.of(result)
    return [
        *([first] if first else []),
        *two_sets.headline(result),
        *_advice(result),
        *_claims(result),
        *_agreement(result),
        *_gaps(result),
        *_paired(result),
        *_load(result),
    ]


def _advice(result: StudyDocument) -> list[str]:
    """The study's advice, or why these runs do not support it. Empty if one of its claims was not
    evaluated."""
    advice = result.get("advice")
    if not advice:
        return []
    verdicts = {claim["id"]: claim["verdict"] for claim in result["claims"]}
    if not all(name in verdicts for name in advice["needs"]):
        return []
    if all(verdicts[name] == HOLDS for name in advice["needs"]):
        return [f"Advice: {advice['text']}"]
    against = [f"{n} ({verdicts[n]})" for n in advice["needs"] if verdicts[n] != HOLDS]
    return [f"The advice of this study does not follow from these runs: {', '.join(against)}."]


def _claims(result: StudyDocument) -> list[str]:
    again = reassessed.summary(result["claims"])
    ours = [c for c in result["claims"] if c["kind"] == "ours" and not c.get("revisits")]
    paper = [claim for claim in result["claims"] if claim["kind"] != "ours"]
    of_paper = "of the paper" if result.get("source", True) else "of this file"
    return [
        f"Of {counted(len(claims), what)} {whose}: {with_verb(verdicts[HOLDS], 'hold')} here, "
        f"{with_verb(verdicts[FAILS], 'do')} not hold, {verdicts[INCONCLUSIVE]} inconclusive."
        for claims, what, whose in ((paper, "claim", of_paper), (ours, "question", "of ours"))
        if (verdicts := Counter(claim["verdict"] for claim in claims))
    ] + ([again] if again else [])


def _agreement(result: StudyDocument) -> list[str]:
    found = []
    for table in result["tables"]:
        verdicts = Counter(row.get("verdict") for row in table["rows"] if row.get("verdict"))
        total = sum(verdicts.values())
        if not total:
            continue
        found.append(
            f"{table['paper']}, {counted(total, 'published number')}: {verdicts[INSIDE]} inside "
            f"the 95 % interval of our mean, {verdicts[BETWEEN]} more where a single run of ours "
            f"would lie, {verdicts[OUTSIDE]} farther off than that."
        )
    return found


def _gaps(result: StudyDocument) -> list[str]:
    """The differences from the paper in the measures that a table names as its `headline`.

    They are given as a range over the rows: in a mean, differences in opposite directions would
    cancel.
    """
    metrics = {m["name"]: m for m in result["metrics"]}
    found = []
    for table in result["tables"]:
        first = table["keys"][0] if table["keys"] else None
        if not table["has_reference"] or not table["headline"] or first is None:
            continue
        texts = []
        for place, rows in _by_place(table["rows"], first):
            words = [_range(rows, metrics[name]) for name in table["headline"]]
            if all(words):
                texts.append(f"{place}{', '.join(words)}")
        if texts:
            names = " and ".join(_inside(metrics[name]["title"]) for name in table["headline"])
            found.append(
                f"Ours minus the paper's ({table['paper']}, the range over its rows), {names}: "
                f"{'; '.join(texts)}."
            )
    return found


def _by_place(rows: list[dict], key: str) -> list[tuple[str, list[dict]]]:
    """The rows with a published number, grouped by their value in column `key`, each group with a
    text that names the value.

    There is one group of all rows if every value has only one row, since one row has no range.
    """
    known = [row for row in rows if row["difference"] is not None]
    places = list(dict.fromkeys(row[key] for row in known))
    if len(known) == len({(row[key], row["metric"]) for row in known}):
        return [("", known)]
    unit = " %" if key.startswith("load") else ""
    return [(f"{place}{unit}: ", [r for r in known if r[key] == place]) for place in places]


def _inside(title: str) -> str:
    """A title for use within a sentence: "Throughput" gets a small initial, "UDP lost" is
    unchanged."""
    return title if title[:2].isupper() else title[:1].lower() + title[1:]


def _range(rows: list[dict], metric: MetricShown) -> str:
    gaps = [row["difference"] for row in rows if row["metric"] == metric["name"]]
    unit = "points" if metric["unit"] == "%" else metric["unit"]
    ends = [signed(gap, metric["digits"]) for gap in (min(gaps), max(gaps))] if gaps else []
    return f"{' to '.join(ends)} {unit}" if ends else ""


def _paired(result: StudyDocument) -> list[str]:
    metrics = {m["name"]: m for m in result["metrics"]}
    found = []
    for table in result["tables"]:
        if not table["paired"] or not table["headline"]:
            continue
        name = table["headline"][0]
        # A difference of zero at the shown digits is no finding.
        digits = metrics[name]["digits"]
        rows = [r for r in table["rows"] if r["metric"] == name and _some(r, digits)]
        texts = [
            f"{', '.join(_place(row[key], key) for key in table['keys'])}: "
            f"{ranged(row['ours'], row['low'], row['high'], sign=True)}"
            for row in rows
        ]
        if texts:
            title, unit = metrics[name]["title"], metrics[name]["unit"]
            unit = "points" if unit == "%" else unit
            found.append(f"{table['title']}, {title} in {unit}: {'; '.join(texts)}.")
    return found


def _some(row: dict, digits: int) -> bool:
    """Whether a row's difference is known, and it or an end of its interval is not zero if rounded
    to this number of decimal digits."""
    ends = (row[end] for end in ("ours", "low", "high"))
    return row["ours"] is not None and any(round(end or 0.0, digits) for end in ends)


def _place(value: object, key: str) -> str:
    return f"{value} %" if key == "load" else str(value)


def _load(result: StudyDocument) -> list[str]:
    return [
        f"One user offers {line['bytes_per_user_s']:.0f} bytes/s of IP packets "
        f"[{line['low']:.0f}, {line['high']:.0f}]; 100 % of {line['rate']} is "
        f"{line['users']['100%']:,} users."
        for line in result["calibrations"]
        if not line["open_loop"]
    ]
