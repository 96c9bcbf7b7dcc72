"""The first sentences of the report, made of the results alone."""

from __future__ import annotations

from collections import Counter

from aqmlab.report.numbers import counted, ranged, signed

from .findings import CONFIRMED, REFUTED, UNDECIDED
from .tables import BETWEEN, INSIDE, OUTSIDE


def of(result: dict) -> list[str]:
    """What a reader should know after half a minute."""
    return [
        *_agreement(result),
        *_shares(result),
        *_paired(result),
        *_statements(result),
        *_load(result),
    ]


def _agreement(result: dict) -> list[str]:
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


def _shares(result: dict) -> list[str]:
    """How far we are from the paper, by load, in the two figures that matter most.

    As a range over the rows: in a mean, rows that differ in opposite directions would cancel.
    """
    found = []
    for table in result["tables"]:
        if not table["has_reference"]:
            continue
        texts = []
        for load in dict.fromkeys(row["load_pct"] for row in table["rows"]):
            gaps = {
                metric: [
                    row["difference"]
                    for row in table["rows"]
                    if row["load_pct"] == load
                    and row["metric"] == metric
                    and row["difference"] is not None
                ]
                for metric in ("pct_le_1s", "median_response_ms")
            }
            if all(gaps.values()):
                share, median = (
                    f"{signed(min(g), digits)} to {signed(max(g), digits)}"
                    for g, digits in zip(gaps.values(), (1, 0), strict=True)
                )
                texts.append(f"{load} %: {share} points, {median} ms")
        if texts:
            listed = "; ".join(texts)
            found.append(
                f"Ours minus the paper's ({table['paper']}, the range over its rows), share of "
                f"responses within a second and median, by load: {listed}."
            )
    return found


def _paired(result: dict) -> list[str]:
    found = []
    for table in result["tables"]:
        rows = [r for r in table["rows"] if r["metric"] == "pct_le_1s"] if table["paired"] else []
        texts = []
        for row in rows:
            how = ranged(row["ours"], row["low"], row["high"], sign=True)
            texts.append(f"{row['load']} %: {how}")
        if texts:
            listed = "; ".join(texts)
            found.append(f"{table['title']}, in points of responses within a second: {listed}.")
    return found


def _statements(result: dict) -> list[str]:
    verdicts = Counter(finding["verdict"] for finding in result["findings"])
    total = sum(verdicts.values())
    if not total:
        return []
    return [
        f"We checked {counted(total, 'statement')} of the paper: {verdicts[CONFIRMED]} confirmed, "
        f"{verdicts[REFUTED]} not confirmed, {verdicts[UNDECIDED]} undecided with "
        f"{counted(len(result['seeds']), 'seed')}."
    ]


def _load(result: dict) -> list[str]:
    line = result["calibration"]
    if line is None:
        return []
    return [
        f"One user offers {line['bytes_per_user_s']:.0f} bytes/s of IP packets "
        f"[{line['low']:.0f}, {line['high']:.0f}]; 100 % of the link is "
        f"{line['users']['100%']:,} users."
    ]
