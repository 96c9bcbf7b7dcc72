"""The first sentence of a report: the main result in words, with numbers and units.

For variants it compares delays of their queues and what users get; for a study it gives the
deciding claims, or the rank of a user's own discipline. It is made by rules from the measures in
`result.json` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from aqmlab.claims.judge import FAILS, HOLDS
from aqmlab.io.numbers import fixed, ranged, significant
from aqmlab.tables.document import Line, MetricShown, Row, StudyDocument

DELAY, USED, LOSS = "queue_delay_mean_s", "utilisation", "drop_rate"
USERS = (
    ("datagrams", "r_mean", "calls are rated R {b} instead of {a}"),
    (
        "requests",
        "page_load_p50_s",
        "half of the pages load within {b} {unit} instead of {a} {unit}",
    ),
    (
        "requests",
        "response_p50_s",
        "half of the answers come within {b} {unit} instead of {a} {unit}",
    ),
    ("datagrams", "delay_p99_s", "99 % of datagrams take at most {b} {unit} instead of {a} {unit}"),
    ("videos", "bitrate_mean_bits_per_s", "films play at {b} {unit} instead of {a} {unit}"),
    ("flows", "elapsed_s", "transfers take {b} {unit} instead of {a} {unit}"),
    ("flows", "goodput_bits_per_s", "a long flow gets {b} {unit} instead of {a} {unit}"),
)
"""Texts for what users get, by table and metric; one is used if the difference exceeds chance."""
MOST_USERS = 2
"""Largest number of texts on what users get in a sentence."""
NOTABLE = 0.02
"""Smallest relative change that users notice; our own choice, without a source."""
MOST_NAMED = 4
"""Largest number of variants that a sentence names one by one."""


def of(result: StudyDocument) -> str | None:
    """The sentence; None if no rule applies to the results."""
    return _own(result) or _variants(result) or _chosen(result) or _claims(result)


def _variants(result: StudyDocument) -> str | None:
    """The sentence for a scenario or a sweep: delays in queues first, then what users get."""
    tables = {table["id"]: table["rows"] for table in result["tables"]}
    known = {metric["name"]: metric for metric in result["metrics"]}
    delays = [row for row in tables.get("queues", ()) if row["metric"] == DELAY and _has(row)]
    if not delays or not all("variant" in row for row in delays):
        return None
    base = delays[0]["variant"]
    port = max((row for row in delays if row["variant"] == base), key=lambda row: row["ours"])
    way = port["queue"].rpartition(".")[2]
    sums: dict[str, float] = {}
    for row in (row for row in delays if row["queue"].endswith(f".{way}")):
        sums[row["variant"]] = sums.get(row["variant"], 0.0) + row["ours"]
    if len(sums) == 1:
        return _alone(base, port, tables["queues"], known)
    about = known[DELAY]
    waits = {name: f"{fixed(ms, about['digits'])} {about['unit']}" for name, ms in sums.items()}
    best = min(sums, key=sums.__getitem__)
    parts = [
        f"{_compared(base, best, waits, max(sums, key=sums.__getitem__))} ({_WAYS.get(way, way)})"
    ]
    if best != base:
        parts += [*_cost(tables, best, port), *_users(tables, known, best)]
    once = any(map(_once, tables.get("queues-differences", ())))
    return f"{'; '.join(parts)}{' (one seed; --seeds 5 shows what is chance)' if once else ''}."


_WAYS = {"forward": "queues towards the clients", "reverse": "queues towards the servers"}


def _compared(base: str, best: str, waits: Mapping[str, str], worst: str) -> str:
    """A text on how long packets wait with each variant; of many, with the best and the worst."""
    if len(waits) <= MOST_NAMED:
        others = " and ".join(f"{waits[name]} with {name}" for name in waits if name != base)
        return f"Packets wait {waits[base]} with {base}, {others}"
    described = f"Of {len(waits)} variants {best} keeps packets the shortest time, {waits[best]}"
    return f"{described}; {worst} the longest, {waits[worst]}"


def _alone(name: str, port: Row, rows: Sequence[Row], known: Mapping[str, MetricShown]) -> str:
    """The sentence for a single variant: delay, loss and utilisation of its queue."""
    own = {row["metric"]: row for row in rows if row["queue"] == port["queue"] and _has(row)}

    def said(metric: str) -> str:
        row, about = own[metric], known[metric]
        number = ranged(row["ours"], row["low"], row["high"], about["digits"])
        return f"{number} {about['unit']}".strip()

    parts = [f"{name}: packets wait {said(DELAY)} on average in {port['queue']}"]
    parts += [f"{said(LOSS)} of them are lost"] if LOSS in own else []
    parts += [f"the line is used to {said(USED)}"] if USED in own else []
    return f"{', '.join(parts)}."


def _cost(tables: Mapping[str, Sequence[Row]], best: str, port: Row) -> Iterator[str]:
    """A text on the utilisation with the shortest queue compared with the base, if it is known."""
    for row in tables.get("queues-differences", ()):
        same = row["variant"] == best and row["queue"] == port["queue"]
        if not same or row["metric"] != USED or not _has(row):
            continue
        if _sure(row) and abs(row["ours"]) >= 1:
            more = "more" if row["ours"] > 0 else "less"
            yield f"{best} uses the line {fixed(abs(row['ours']), 1)} points {more}"
        else:
            yield f"{best} uses the line as much"


def _users(
    tables: Mapping[str, Sequence[Row]], known: Mapping[str, MetricShown], best: str
) -> Iterator[str]:
    """Texts on what users get with the shortest queue compared with the base, largest changes
    first."""
    found, small = [], False
    for table, metric, words in USERS:
        means = [r for r in tables.get(table, ()) if r["metric"] == metric and _has(r)]
        for row in tables.get(f"{table}-differences", ()):
            if row["metric"] != metric or row["variant"] != best or not _sure(row):
                continue
            here = [r for r in means if r["group"] == row["group"]]
            before = here[0]["ours"] if here else None
            if not before or row["group"] == "all":
                continue
            about = known[metric]
            ends = {"a": before, "b": before + row["ours"]}
            described = {name: fixed(value, about["digits"]) for name, value in ends.items()}
            if abs(row["ours"] / before) < NOTABLE:
                small = True
            elif described["a"] != described["b"]:
                sentence = f"{row['group']}: {words.format(unit=about['unit'], **described)}"
                found.append((abs(row["ours"] / before), table, sentence))
    found.sort(key=lambda one: -one[0])
    kinds = list(dict.fromkeys(table for _, table, _ in found))[:MOST_USERS]
    yield from (next(said for _, table, said in found if table == kind) for kind in kinds)
    if not found and tables.get("queues-differences"):
        much = f"by {NOTABLE:.0%}".replace("%", " %") if small else "beyond chance"
        yield f"what users get does not differ {much}"


def _chosen(result: StudyDocument) -> str | None:
    """The sentences for a study that lists the claims that answer its question: these, in its
    order."""
    wanted = result.get("answer") or []
    claims = {claim["id"]: claim for claim in result["claims"]} if wanted else {}
    found = [claims[name] for name in wanted if name in claims]
    before = {HOLDS: "", FAILS: "Does not hold: "}
    said = [before.get(claim["verdict"], "Open: ") + _judged(claim) for claim in found]
    return " ".join(said) or None


def _claims(result: StudyDocument) -> str | None:
    """The sentences for a study: the first claim that holds and the first that does not, with the
    numbers that decide them."""
    parts = []
    for verdict, words in ((HOLDS, "Holds here"), (FAILS, "Does not hold")):
        claims = [c for c in result["claims"] if c["verdict"] == verdict and not c.get("revisits")]
        # Claims that are headlines of the paper come first, since they are about the study's
        # question.
        claims.sort(key=lambda claim: claim.get("kind") != "headline")
        claim = next((c for c in claims if c.get("deciding")), None)
        if claim is not None:
            parts.append(f"{words}: {_judged(claim)}")
    return " ".join(parts) or None


def _judged(claim: Line) -> str:
    """The sentence of a claim, with the number that decides it if there is one."""
    deciding = claim.get("deciding")
    if not deciding:
        return claim["claim"]
    low, high = deciding["interval"] or (None, None)
    number = significant(deciding["estimate"])
    ends = f" [{significant(low)}, {significant(high)}]" if low is not None else ""
    what = f"{deciding['text']}: {number}{ends} {deciding['unit']}".strip()
    return f"{claim['claim'].rstrip('.')} ({what})."


_LOWER = re.compile(r"delay|queue|loss|lost|drop|wait|time|frozen", re.IGNORECASE)
"""Titles of metrics for which less is better."""


def _own(result: StudyDocument) -> str | None:
    """The sentence on the rank of a user's own discipline, in the first table that has it and
    others."""
    known = {metric["name"]: metric for metric in result["metrics"]}
    for name in result.get("own") or ():
        for table in result["tables"]:
            keys = [key for key in table["keys"] if any(r[key] == name for r in table["rows"])]
            if table["paired"] or not keys:
                continue
            place = [k for k in table["keys"] if k != keys[0]]
            ours = next(row for row in table["rows"] if row[keys[0]] == name)
            beside = [r for r in table["rows"] if all(r[k] == ours[k] for k in place) and _has(r)]
            said = list(_ranks(beside, keys[0], name, known))
            if said:
                where = ", ".join(str(ours[key]) for key in place)
                title = f"{table['title']}{f', {where}' if where else ''}"
                return f"{name} ({title}): {'; '.join(said[:3])}."
    return None


def _ranks(
    rows: Sequence[Row], key: str, name: str, known: Mapping[str, MetricShown]
) -> Iterator[str]:
    """Texts on a discipline's rank by each metric, with the best and the median of all."""
    for metric in dict.fromkeys(row["metric"] for row in rows):
        about = known[metric]
        lower = bool(_LOWER.search(about["title"]))
        order = sorted((r for r in rows if r["metric"] == metric), key=lambda r: r["ours"])
        order = order if lower else order[::-1]
        place = next((i for i, row in enumerate(order) if row[key] == name), None)
        if place is None or len(order) < 2:
            continue

        def said(row: Row, digits: int = about["digits"], unit: str = about["unit"]) -> str:
            return f"{fixed(row['ours'], digits)} {unit}".strip()

        yield (
            f"{about['title']} {said(order[place])}, number {place + 1} of {len(order)} "
            f"({order[0][key]} {said(order[0])}, median {said(order[len(order) // 2])})"
        )


def _has(row: Row) -> bool:
    return row["ours"] is not None


def _sure(row: Row) -> bool:
    """Whether a difference is reported: its interval leaves out zero, or one seed has none."""
    if not _has(row) or row["low"] is None or row["high"] is None:
        return _has(row) and _once(row)
    return row["low"] > 0 or row["high"] < 0


def _once(row: Row) -> bool:
    """Whether a number comes from a single seed, which does not show the effect of chance."""
    return row.get("n") == 1
