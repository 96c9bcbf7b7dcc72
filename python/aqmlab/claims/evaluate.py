"""Evaluates the claims of a study in several looks (interim analyses).

The first look uses the runs of the tables and figures. For claims that are then inconclusive their
scenarios are run under more seeds, until every rule is decided or the last look is over. The number
of looks is fixed before the run, and each look has a share of the error probability, so that more
looks do not make a claim hold by chance.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.plan import Plan
from aqmlab.experiment.rules import Across, Claim, Number, Pair
from aqmlab.io.numbers import counted
from aqmlab.runs.laboratory import Laboratory
from aqmlab.tables.dataset import Dataset

from . import rule, scorecard
from .evidence import Evidence
from .judge import INCONCLUSIVE

if TYPE_CHECKING:
    from aqmlab.tables.document import Line

STILL_OPEN = 0.4
"""The share of claims expected to be inconclusive after each interim analysis: 19 of 50 were, in
the quick runs of the study harsh-red."""
MORE = "more seeds for open claims"


def more_seeds(claims: Sequence[Claim], plan: Plan, looks: Sequence[int]) -> dict[Hashable, float]:
    """The simulated seconds, by scenario, that are expected after the first interim analysis.

    Which claims stay inconclusive is unknown in advance: a scenario that several claims use is
    likely to be run again; one that no claim uses never is.
    """
    requested = Counter(key for claim in claims for key in scenarios(claim, plan))
    work: dict[Hashable, float] = {}
    likely = 1.0
    for earlier, look in itertools.pairwise(looks):
        likely *= STILL_OPEN
        before, after = plan.work(earlier), plan.work(look)
        for key, count in requested.items():
            chance = 1 - (1 - likely) ** count
            work[key] = work.get(key, 0.0) + chance * (after[key] - before[key])
    return work


def scenarios(claim: Claim, plan: Plan) -> set[str]:
    """Keys of the scenarios in a plan that a claim's rule names."""
    places = []
    for condition, names in rule.leaves(claim):
        for let in rule.lets_of(condition, names).values():
            places += [let.a, let.b] if isinstance(let, Pair) else []
            places += [let] if isinstance(let, Across | Number) else []
    return {cell.key for place in places for cell in plan.of(place.group, place.where)}


def judge(
    experiment: Experiment,
    claims: Sequence[Claim],
    dataset: Dataset,
    laboratory: Laboratory,
    looks: Sequence[int],
) -> list[Line]:
    """Evaluates the claims in up to `len(looks)` interim analyses; returns the lines of the score
    card in the order of the claims.

    `looks` are multiples of the number of seeds at the first look, which is 1.
    """
    evidence = Evidence(dataset.plan, dataset.metrics, dict(dataset.results), dataset.calibrations)
    rows: dict[str, Line] = {}
    laboratory.expect({})
    for number, look in enumerate(looks):
        open_ = [c for c in claims if c.id not in rows or rows[c.id]["verdict"] == INCONCLUSIVE]
        if number:
            runs = dataset.plan.runs(look, _resting_on(open_, rows))
            if not runs:
                break
            title = f"{experiment.name}: {counted(len(open_), 'open claim')}, more seeds"
            laboratory.expect(more_seeds(open_, dataset.plan, looks[number:]), MORE)
            evidence.results |= laboratory.by_scenario(title, runs, experiment.where)
        for claim in open_:
            row = scorecard.row(experiment.name, claim, evidence, len(looks))
            rows[claim.id] = {**row, "scenarios": sorted(evidence.requested)}
    return [rows[claim.id] for claim in claims]


def _resting_on(claims: Sequence[Claim], rows: Mapping[str, Line]) -> set[str]:
    """Keys of the scenarios of those claims that more seeds can decide: claims whose estimate has a
    confidence interval."""
    judged = (rows[claim.id] for claim in claims)
    return {key for row in judged if row["interval"] for key in row.get("scenarios", ())}
