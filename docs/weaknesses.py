"""Writes docs/weaknesses.md: for every queue and each of its usual senders the first promise that
the adversary breaks, as small as it gets, or how many trials failed. `make docs` does not run it,
for it takes long:

    .venv/bin/python docs/weaknesses.py [QUEUE...]    all, or these anew; the others' rows stay
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from aqmlab.adversary.attack import attack
from aqmlab.adversary.finding import Finding
from aqmlab.simulator import engine

PAGE = Path(__file__).with_suffix(".md")
PROMISES = ("p99 delay < 250 ms", "use > 0.4", "starvation > 0.02")
TRIALS, SEED = 24, 1
FIXED = ("outage", "loss")
SENDERS = ("cubic", "bbr")
"""What most flows of the Internet run, and besides the control for which a queue was made."""
MADE_FOR = {
    **dict.fromkeys(("dualpi2", "curvy_red", "docsis_lld"), "prague"),
    **dict.fromkeys(("dctcp_step", "dcn"), "dctcp"),
}
PARTS = {1.0: "", 0.5: "; half as long", 0.25: "; a quarter as long"}
"""Parts of a trial's length, in words."""
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
*Half as long*: than a trial is. The run has its fingerprint natively and in the laboratory's page.

A row's search is repeated by

    aqmlab break QUEUE --promise "…" --trials {TRIALS} --fix outage,loss,control=cubic,second=cubic

and the page is written by `docs/weaknesses.py`.

| queue | senders | breaks | measured | under seeds | in this scenario | fingerprint |
| --- | --- | --- | --- | --- | --- | --- |
"""


def senders(name: str) -> list[str]:
    """The usual senders of a queue."""
    return [*SENDERS, *(one for queue, one in MADE_FOR.items() if queue == name)]


def searched(name: str, sender: str) -> list[str]:
    """What was found of one queue with these senders, as cells of its row."""
    tried = 0
    fixed = (*FIXED, f"control={sender}", f"second={sender}")
    for words in PROMISES:
        (found,) = attack(name, [words], TRIALS, SEED, 1, fixed)
        if isinstance(found, Finding):
            return [f"`{name}`", f"`{sender}`", f"`{words}`", *cells(found)]
        tried += found[1]
    return [f"`{name}`", f"`{sender}`", "kept", "", "", f"none in {tried} trials", ""]


def cells(finding: Finding) -> list[str]:
    """A finding as cells: number, seeds, scenario, fingerprint."""
    genes = {gene.name: gene for gene in finding.target.genes}
    document = finding.document()
    needed = (f"{name} {genes[name].shown(finding.genome[name])}" for name, *_ in finding.without)
    said = "; ".join(needed) or "the simple line"
    return [
        f"{finding.value:.3g}",
        f"{finding.seeds_broken} of {document['seeds']}",
        said + PARTS[finding.length],
        f"`{document['fingerprint']}`",
    ]


def rows(text: str) -> dict[tuple[str, str], list[str]]:
    """The rows that a page holds, by queue and senders."""
    lines = (line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| `"))
    return {(cells[0].strip("`"), cells[1].strip("`")): cells for cells in lines}


def page(found: Iterable[list[str]]) -> str:
    """The page of these rows."""
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in found)


def main(names: list[str]) -> None:
    """Searches, and writes the page after each row."""
    queues = [entry["name"] for entry in engine.catalogue()["aqm"]]
    wanted = [(name, sender) for name in queues for sender in senders(name)]
    known = rows(PAGE.read_text(encoding="utf-8"))
    for one in wanted:
        if not names or one[0] in names:
            known[one] = searched(*one)
            print(" | ".join(known[one]), flush=True)
            kept = (known[each] for each in wanted if each in known)
            PAGE.write_text(page(kept), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
