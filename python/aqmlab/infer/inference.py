"""An inference from its files to its results: wave by wave, then the posterior and what follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aqmlab.experiment.experiment import Experiment
from aqmlab.runs.laboratory import Laboratory

from . import posterior, sampling, sensitivity, waves
from .bench import Bench, Training
from .implausibility import Conflict, conflicts
from .posterior import Posterior
from .predictions import Prediction, predict
from .spec import Inference
from .waves import History, Wave

POOL = 8192
"""Points of the prior at which conflicts between targets are looked for."""

Tell = Callable[[Wave, int], None]


@dataclass(frozen=True)
class Found:
    """All that an inference has found."""

    bench: Bench
    training: Training
    history: History
    posterior: Posterior
    values: dict[str, Any]
    """The inferred set: the posterior's best point."""
    conflicts: list[Conflict]
    sensitivity: np.ndarray
    """Sobol' total indices: unknowns × targets."""
    whole: Training
    """All rows of the training tables, those that a quick inference leaves out too."""
    plain: np.ndarray
    """Seeds × rows of `whole`, with the study's own values."""
    inferred: np.ndarray
    """The same with the inferred set."""
    predictions: list[Prediction]

    @property
    def inference(self) -> Inference:
        """What was asked for."""
        return self.bench.inference


def infer(
    experiment: Experiment,
    inference: Inference,
    laboratory: Laboratory,
    *,
    quick: bool,
    most_waves: int | None = None,
    seed: int = 1,
    tell: Tell = lambda _wave, _number: None,
) -> Found:
    """Carries out an inference; finished runs of the laboratory's folder are not repeated."""
    bench = Bench(experiment, inference, quick, laboratory)
    training = Training(bench)
    history = waves.match(
        training,
        training.all(),
        inference.unknowns.features,
        len(inference.unknowns),
        waves.Settings(
            bench.amount.points, most_waves or bench.amount.waves, bench.amount.more, seed
        ),
        published=bench.published(),
        tell=tell,
    )
    weighed = posterior.weigh(history, seed)
    history = waves.closer(
        history,
        weighed.draws(bench.amount.more, seed),
        training,
        inference.unknowns.features,
        seed + len(history.waves),
    )
    tell(history.waves[-1], len(history.waves))
    weighed = posterior.weigh(history, seed)
    values = inference.unknowns.values(weighed.best)
    whole = Training(bench, every=True)
    name, confirm = experiment.name, bench.amount.confirm
    plain, inferred = whole.runs([{}, values], confirm, f"{name}: the plain and the inferred set")
    draws = [inference.unknowns.values(p) for p in weighed.draws(bench.amount.draws, seed)]
    return Found(
        bench,
        training,
        history,
        weighed,
        values,
        incompatible(history),
        sensitivity.total(history.knowledge, [u.name for u in inference.unknown]),
        whole,
        plain,
        inferred,
        predict(bench, draws),
    )


def incompatible(history: History) -> list[Conflict]:
    """Targets that cannot be had, alone or together, anywhere in the prior."""
    everywhere = sampling.uniform(POOL, history.points.shape[1], 1)
    points = np.vstack([everywhere, history.region.points, history.points])
    names = [target.name for target in history.targets.each]
    return conflicts(history.knowledge.implausibility(points), names)
