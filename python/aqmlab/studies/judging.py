"""Claims of a study, judged one look after the other.

At the first look every claim sees the runs of the tables and figures. For those still undecided
the scenarios they rest on are run under more seeds, until every rule is decided or the last look
is spent. The looks are fixed before the run, and every look spends its share of the error
probability, so that looking more often makes no claim hold.
"""

from __future__ import annotations

from aqmlab.report.numbers import counted

from .claims import scorecard
from .claims.evidence import Evidence
from .claims.judge import UNDECIDED
from .drawing import Material
from .experiment import Experiment
from .laboratory import Laboratory


def judge(
    experiment: Experiment,
    claims: list[dict],
    material: Material,
    laboratory: Laboratory,
    looks: list[int],
) -> list[dict]:
    """The lines of the score card, in the order of the claims.

    `looks` are multiples of the number of seeds at the first look, which is 1.
    """
    evidence = Evidence(
        material.plan, material.metrics, dict(material.results), material.calibrations
    )
    rows: dict[str, dict] = {}
    for number, look in enumerate(looks):
        open_ = [c for c in claims if rows.get(c["id"], {}).get("verdict", UNDECIDED) == UNDECIDED]
        if number:
            runs = material.plan.runs(look, _resting_on(open_, rows))
            if not runs:
                break
            title = f"{experiment.name}: {counted(len(open_), 'open claim')}, more seeds"
            evidence.results |= laboratory.run(title, runs)
        for claim in open_:
            row = scorecard.row(experiment.name, claim, evidence, len(looks))
            rows[claim["id"]] = row | {"scenarios": sorted(evidence.asked)}
    return [rows[claim["id"]] for claim in claims]


def _resting_on(claims: list[dict], rows: dict[str, dict]) -> set[str]:
    """The scenarios of claims that more seeds can decide: those with an interval."""
    judged = (rows[claim["id"]] for claim in claims)
    return {key for row in judged if row["interval"] for key in row["scenarios"]}
