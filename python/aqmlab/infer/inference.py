"""An inference from its files to its results: waves, then the posterior, conflicts and
predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aqmlab.experiment.experiment import Experiment
from aqmlab.runs.laboratory import Laboratory

from . import conflicts, directed, posterior, sensitivity, sets, waves
from .bench import Bench, Training
from .conflicts import Impossible
from .emulator import Features
from .posterior import Posterior
from .predictions import Prediction, predict
from .spec import Inference
from .unknowns import Value
from .waves import History, Wave

FINALISTS = 8
"""Largest number of points that are run again with more seeds; one of them becomes the inferred
set."""

Notify = Callable[[Wave, int], None]


@dataclass(frozen=True)
class InferenceResult:
    """All results of an inference."""

    bench: Bench
    training: Training
    history: History
    posterior: Posterior
    values: dict[str, Value]
    """The inferred set: the most likely one of `FINALISTS` points by runs with more seeds."""
    impossible: Impossible
    sensitivity: np.ndarray
    """Sobol' total indices: unknowns × targets."""
    whole: Training
    """The targets of all rows of the training tables, also of those that a quick inference leaves
    out."""
    plain: np.ndarray
    """The runs' numbers for each target (seeds × targets of `whole`) with the study's own
    values."""
    inferred: np.ndarray
    """The runs' numbers for each target (seeds × targets of `whole`) with the inferred set."""
    predictions: list[Prediction]

    @property
    def inference(self) -> Inference:
        """The inference as `infer.toml` specifies it."""
        return self.bench.inference


def infer(
    experiment: Experiment,
    inference: Inference,
    laboratory: Laboratory,
    *,
    quick: bool,
    most_waves: int | None = None,
    seed: int = 1,
    notify: Notify = lambda _wave, _number: None,
) -> InferenceResult:
    """Carries out an inference; finished runs of the laboratory's folder are not repeated.

    Linear algebra is limited to one thread: with matrices of a few hundred rows two threads take
    four times as long as one (measured with OpenBLAS), and the last digits depend on the number of
    threads.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        return _inferred(
            experiment,
            inference,
            laboratory,
            quick,
            most_waves=most_waves,
            seed=seed,
            notify=notify,
        )


def _inferred(
    experiment: Experiment,
    inference: Inference,
    laboratory: Laboratory,
    quick: bool,
    *,
    most_waves: int | None,
    seed: int,
    notify: Notify,
) -> InferenceResult:
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
        given=sets.places(experiment, inference),
        published=bench.published(),
        notify=notify,
    )
    closer = Closer(training, inference.unknowns.features, seed, notify)
    for _ in range(bench.amount.closer):
        history = closer(history, posterior.weigh(history, seed).draws(bench.amount.more, seed))
    history = verified(history, closer, bench.amount.check, bench.amount.rounds, seed)
    history = directed.searched(history, training, bench.amount.search, seed)
    impossible = conflicts.found(history, seed)
    weighed = posterior.weigh(history, seed)
    points, seen = confirmed(training, history, weighed)
    values = inference.unknowns.values(points[int(np.argmax(seen))])
    weighed = posterior.mixed(weighed, points, seen, seed)
    whole = Training(bench, every=True)
    name, confirm = experiment.name, bench.amount.confirm
    plain, inferred = whole.runs([{}, values], confirm, f"{name}: the plain and the inferred set")
    draws = [inference.unknowns.values(p) for p in weighed.draws(bench.amount.draws, seed)]
    return InferenceResult(
        bench,
        training,
        history,
        weighed,
        values,
        impossible,
        sensitivity.total(history.knowledge, [u.name for u in inference.unknown]),
        whole,
        plain,
        inferred,
        predict(bench, draws),
    )


def confirmed(
    training: Training, history: History, weighed: Posterior
) -> tuple[np.ndarray, np.ndarray]:
    """The points that are the most likely by emulation or by few runs, and the logarithms of their
    likelihoods with more seeds, since the best of many points under two seeds is partly so by
    luck."""
    points = posterior.finalists(history, weighed, FINALISTS)
    bench = training.bench
    sets = [bench.inference.unknowns.values(point) for point in points]
    runs = training.runs(sets, bench.amount.confirm, f"{bench.experiment.name}: the most likely")
    return points, posterior.Likelihood(history).seen(points, runs)


@dataclass(frozen=True)
class Closer:
    """Simulates given points, fits the emulators again to all runs, and reports each round."""

    simulate: waves.Simulator
    features: Features
    seed: int
    notify: Notify

    def __call__(self, history: History, points: np.ndarray) -> History:
        """The history with these points simulated and the emulators fitted again."""
        seed = self.seed + len(history.waves)
        history = waves.closer(history, points, self.simulate, self.features, seed)
        self.notify(history.waves[-1], len(history.waves))
        return history


def verified(history: History, closer: Closer, count: int, rounds: int, seed: int) -> History:
    """The history after up to `rounds` further rounds of up to `count` simulated points each. The
    points nearly meet targets that seem impossible; their runs show whether these are."""
    for _ in range(rounds):
        points = conflicts.to_simulate(history, count, seed)
        if not len(points):
            break
        history = closer(history, points)
    return history
