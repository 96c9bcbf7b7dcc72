"""Writes docs/weaknesses.md: for every queue and each of its usual senders the first promise that
the adversary breaks, as small as it gets, or how many trials failed. `make docs` does not run it,
for it takes long:

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
SENDERS = ("cubic", "bbr")
"""What most flows of the Internet run, and besides the control for which a queue was made."""
MADE_FOR = {
    **dict.fromkeys(("dualpi2", "curvy_red", "docsis_lld"), "prague"),
    **dict.fromkeys(("dctcp_step", "dcn"), "dctcp"),
}
HEAD = f"""# Where each queue breaks

For every queue of the catalogue with its defaults, and for each of its usual senders,
[the adversary](how-to/weaknesses.md) had {TRIALS} trials for each of three promises that nobody
would give up: {", ".join(f"`{one}`" for one in PROMISES)}.
The first that it broke stands here, shrunk to the smallest scenario that still breaks it; no trial
had an outage or random losses, which do their harm whatever the queue does. *Kept* means no more
than that the trials of its row found nothing: a longer search may find something.

All flows of a row run one control: CUBIC, BBR, and DCTCP or Prague where the queue was made for it.
Where the rows of a queue differ, its control matters; where they agree, the queue does.
The last column names what the smallest scenario needs, in the words of
[the adversary's page](how-to/weaknesses.md): `drop_to 0.235` is a rate that falls to 23.5 % at 40 %
of the run, `pulse 1.4` are pulses of datagrams at 1.4 times the rate. The *simple line* has none of
it: two flows, 10 Mbit/s, 40 ms. Delay is that of all packets, also of the pulses, which a fair
queue keeps waiting by themselves. *Under seeds*: in how many of five fresh runs the promise breaks.

A row's search is repeated by

    aqmlab break QUEUE --promise "…" --trials {TRIALS} --fix outage,loss,control=cubic,second=cubic

and the page is written by `docs/weaknesses.py`.

| queue | senders | breaks | measured | under seeds | in this scenario |
| --- | --- | --- | --- | --- | --- |
"""


def senders(name: str) -> list[str]:
    """The usual senders of a queue."""
    return [*SENDERS, *(one for queue, one in MADE_FOR.items() if queue == name)]


def searched(name: str, sender: str) -> dict[str, Any]:
    """What was found of one queue with these senders."""
    tried = 0
    fixed = (*FIXED, f"control={sender}", f"second={sender}")
    for words in PROMISES:
        (found,) = attack(name, [words], TRIALS, SEED, 1, fixed)
        if isinstance(found, Finding):
            return {"queue": name, "senders": sender, "promise": words} | row_of(found)
        tried += found[1]
    return {"queue": name, "senders": sender, "trials": tried}


def row_of(finding: Finding) -> dict[str, Any]:
    """A finding in plain numbers."""
    genes = {gene.name: gene for gene in finding.target.genes}
    document = finding.document()
    return {
        "value": finding.value,
        "measure": finding.promise.measure,
        "seeds": [finding.seeds_broken, document["seeds"]],
        "needed": [
            [name, genes[name].shown(finding.genome[name])] for name, _, _ in finding.without
        ],
        "fingerprint": document["fingerprint"],
    }


def page(rows: list[dict[str, Any]]) -> str:
    """The page of these rows."""
    return HEAD + "".join(f"| {' | '.join(cells(row))} |\n" for row in rows)


def text(rows: list[dict[str, Any]]) -> str:
    """The rows as JSON, each on a line."""
    return "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"


def cells(row: dict[str, Any]) -> list[str]:
    """A row's cells."""
    name, sender = f"`{row['queue']}`", f"`{row['senders']}`"
    if "promise" not in row:
        return [name, sender, "kept", "", "", f"none in {row['trials']} trials"]
    said = "; ".join(f"{name} {value}" for name, value in row["needed"])
    broken, seeds = row["seeds"]
    return [
        name,
        sender,
        f"`{row['promise']}`",
        f"{row['value']:.3g}",
        f"{broken} of {seeds}",
        said or "the simple line",
    ]


def main(arguments: list[str]) -> None:
    """Searches, and writes data and page."""
    names = [entry["name"] for entry in engine.catalogue()["aqm"]]
    wanted = [(name, sender) for name in names for sender in senders(name)]
    stored = json.loads(FOUND.read_text()) if FOUND.exists() else []
    known = {(row["queue"], row.get("senders", "")): row for row in stored}
    if "--page" not in arguments:
        for one in wanted:
            if arguments and one[0] not in arguments:
                continue
            known[one] = searched(*one)
            print(" | ".join(cells(known[one])), flush=True)
            rows = [known[each] for each in wanted if each in known]
            FOUND.write_text(text(rows), encoding="utf-8")
    rows = [known[one] for one in wanted if one in known]
    (DOCS / "weaknesses.md").write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
