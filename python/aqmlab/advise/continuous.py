"""Searches values between the settings that were compared: Optuna varies the continuous parameters
of the winning discipline.

Optuna is an optional dependency (`aqmlab[optuna]`). Its tree-structured Parzen estimator (TPE;
Bergstra et al., NIPS 2011) proposes values, simulations under the seeds of the comparison give
their scores, and the best proposals are compared with its finalists, so that none wins by lucky
seeds.
"""

from __future__ import annotations

import importlib
import math
from typing import TYPE_CHECKING, Any

from aqmlab.errors import SpecError

from .candidates import Candidate
from .sensitivity import taken, tunable
from .trial import Trial

if TYPE_CHECKING:
    from .advice import Wish

SPAN = 4.0
"""A parameter is searched from a quarter of its value to four times it, on a logarithmic scale;
our own choice, without a source."""
KEPT = 2
"""Number of the best proposals that are compared with the finalists at the end."""


def search(trial: Trial, winner: Candidate, wish: Wish) -> list[Candidate]:
    """The best proposals, as candidates; none if the winner has nothing to search."""
    optuna = _optuna()
    if winner.queue is None:
        return []
    ranges = {name: value for name, value, _ in tunable(winner)}
    chosen = [name for name in ranges if name in winner.queue] or list(ranges)[:3]
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=wish.seed)
    )
    seeds = range(wish.seed, wish.seed + wish.rounds.seeds[1])
    found: dict[str, tuple[float, Candidate]] = {}
    for number in range(wish.trials):
        requested = study.ask()
        one = _proposed(requested, winner, {name: ranges[name] for name in chosen}, number)
        if not taken(trial.situation, one):
            study.tell(requested, state=optuna.trial.TrialState.PRUNED)
            continue
        (scores,) = trial.evaluate([one], seeds)
        mean = math.fsum(scores.values()) / len(scores)
        study.tell(requested, mean)
        found[one.name] = (mean, one)
    best = sorted(found.values(), key=lambda pair: -pair[0])
    return [one for _, one in best[:KEPT]]


def _proposed(
    requested: Any, winner: Candidate, ranges: dict[str, float], number: int
) -> Candidate:
    one = winner
    for name, value in ranges.items():
        share = requested.suggest_float(name, 1 / SPAN, SPAN, log=True)
        one = one.scaled(name, value, share)
    described = ", ".join(f"{name} {one.queue[name]}" for name in ranges if one.queue)
    return Candidate(f"{winner.aqm} {described}", one.queue, winner.shares, rank=1000 + number)


def _optuna() -> Any:
    try:
        return importlib.import_module("optuna")
    except ImportError as error:
        raise SpecError(
            "the engine optuna is not installed: pip install 'aqmlab[optuna]', or --engine race"
        ) from error
