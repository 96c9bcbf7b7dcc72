"""A study's table next to the paper's, as Markdown: every row and every column that was published.

    python validation/paper_table.py results/tuning-red/tables/table-1.csv

Cells are ours and, in brackets, the paper's. Bold are those in which a single run of ours would lie
as far off in fewer than one case in twenty (the study's verdict "outside").
"""

import csv
import sys
from pathlib import Path

# Columns of the table that are neither keys nor the metric's name.
NUMBERS = {
    "table",
    "n",
    "ours",
    "low",
    "high",
    "one_run_low",
    "one_run_high",
    "paper",
    "difference",
    "difference_low",
    "difference_high",
    "verdict",
    "metric",
}


def digits(metric: str) -> int:
    """Decimals of a metric: one of a share or a queue, none of a rate or a time."""
    return 1 if "pct" in metric or "queue" in metric else 0


def cell(row: dict[str, str]) -> str:
    """A cell of the table: aqmlab's number and the paper's."""
    form = f".{digits(row['metric'])}f"
    text = f"{float(row['ours']):{form}} ({float(row['paper']):{form}})"
    return f"**{text}**" if row["verdict"] == "outside" else text


def markdown(rows: list[dict[str, str]]) -> str:
    """The whole table, one line for each combination of its keys."""
    keys = [name for name in rows[0] if name not in NUMBERS]
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    lines = [" | ".join(keys + metrics), " | ".join(["---"] * (len(keys) + len(metrics)))]
    table: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        table.setdefault(tuple(row[key] for key in keys), {})[row["metric"]] = cell(row)
    lines += [" | ".join((*at, *(cells[m] for m in metrics))) for at, cells in table.items()]
    return "\n".join(f"| {line} |" for line in lines)


def main() -> None:
    """Prints the table in the file that is named."""
    with Path(sys.argv[1]).open(encoding="utf-8", newline="") as file:
        print(markdown([row for row in csv.DictReader(file) if row["paper"]]))


if __name__ == "__main__":
    main()
