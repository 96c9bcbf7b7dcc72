"""Writes docs/weaknesses.md: for every queue the first promise that the adversary breaks, as small
as it gets, or how many trials failed. `make docs` does not run it, for it takes long:

    .venv/bin/python docs/weaknesses.py [QUEUE...]    all, or these anew; the others' rows stay
    .venv/bin/python docs/weaknesses.py --page        the page alone, from docs/weaknesses.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from aqmlab.adversary.attack import attack
from aqmlab.adversary.finding import Finding
from aqmlab.simulator import engine

DOCS = Path(__file__).parent
FOUND = DOCS / "weaknesses.json"
PROMISES = ("p99 delay < 250 ms", "use > 0.4", "starvation > 0.02")
TRIALS, SEED = 24, 1
FIXED = ("outage", "loss")
HEAD = f"""# Where each queue breaks

For every queue of the catalogue with its defaults, [the adversary](how-to/weaknesses.md) had
{TRIALS} trials for each of three promises that nobody would give up:
{", ".join(f"`{one}`" for one in PROMISES)}.
The first that it broke stands here, shrunk to the smallest scenario that still breaks it; no trial
had an outage or random losses, which do their harm whatever the queue does. *Kept* means no more
than that the trials of its row found nothing: a longer search may find something. The
flows that a queue meets are part of what is changed, so that a row may say more of a control than
of the queue. What the adversary adds is in the words of [its page](how-to/weaknesses.md); the
simple line has none of it.

A row's search is repeated by

    aqmlab break QUEUE --promise "…" --fix outage --fix loss --trials {TRIALS}

and the page is written by `docs/weaknesses.py`.

| queue | breaks | measured | under seeds | in this scenario |
| --- | --- | --- | --- | --- |
"""


def searched(name: str) -> dict[str, Any]:
    """What was found of one queue."""
    tried = 0
    for words in PROMISES:
        (found,) = attack(name, [words], TRIALS, SEED, 1, FIXED)
        if isinstance(found, Finding):
            return {"queue": name, "promise": words} | row_of(found)
        tried += found[1]
    return {"queue": name, "trials": tried}


def row_of(finding: Finding) -> dict[str, Any]:
    """A finding in plain numbers."""
    genes = {gene.name: gene for gene in finding.target.genes}
    document = finding.document()
    return {
        "value": finding.value,
        "measure": finding.promise.measure,
        "seeds": [finding.seeds_broken, document["seeds"]],
        "needed": [
            [name, genes[name].shown(finding.genome[name]), genes[name].says]
            for name, _, _ in finding.without
        ],
        "fingerprint": document["fingerprint"],
    }


def page(rows: list[dict[str, Any]]) -> str:
    """The page of these rows."""
    return HEAD + "".join(f"| {' | '.join(cells(row))} |\n" for row in rows)


def cells(row: dict[str, Any]) -> list[str]:
    """A row's cells."""
    name = f"`{row['queue']}`"
    if "promise" not in row:
        return [name, "kept", "", "", f"none in {row['trials']} trials"]
    said = "; ".join(f"{name} {value}" for name, value, _ in row["needed"])
    broken, seeds = row["seeds"]
    return [
        name,
        f"`{row['promise']}`",
        f"{row['value']:.3g}",
        f"{broken} of {seeds}",
        said or "the simple line",
    ]


def main(arguments: list[str]) -> None:
    """Searches, and writes data and page."""
    names = [entry["name"] for entry in engine.catalogue()["aqm"]]
    known = {row["queue"]: row for row in json.loads(FOUND.read_text())} if FOUND.exists() else {}
    if "--page" not in arguments:
        for name in arguments or names:
            known[name] = searched(name)
            print(" | ".join(cells(known[name])), flush=True)
            rows = [known[one] for one in names if one in known]
            FOUND.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    rows = [known[name] for name in names if name in known]
    (DOCS / "weaknesses.md").write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
