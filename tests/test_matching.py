"""`aqmlab infer`: history matching and what cannot be had, on a stand-in of the simulator."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from aqmlab.infer import (
    conflicts,
    directed,
    implausibility,
    inference,
    posterior,
    predictions,
    sampling,
    waves,
)
from aqmlab.infer.targets import Target, Targets


@pytest.fixture(autouse=True)
def one_thread():
    """As `aqmlab infer` does: on two threads small matrices take four times as long."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield


# --- history matching on a stand-in -------------------------------------------------------------

LOADS = np.linspace(0.4, 1.1, 3)
SPREAD = np.repeat([2.0, 0.3], len(LOADS))


def stand_in(points: np.ndarray, seeds) -> np.ndarray:
    """A queue and a loss at three loads of three unknowns; points share a part of the noise."""
    a, b, c = (points[:, [i]] for i in range(3))
    mean = np.hstack([20 + 100 * a * LOADS ** (1 + 2 * b), 5 * LOADS ** (2 + 3 * a) * (1 + 2 * c)])
    runs = []
    for seed in seeds:
        shared = np.random.default_rng(seed).standard_normal(len(SPREAD))
        own = np.random.default_rng([seed, len(points)]).standard_normal(mean.shape)
        runs.append(mean + SPREAD * (0.8 * shared + 0.6 * own))
    return np.stack(runs, axis=1)


def matched(
    numbers: dict[int, float] | np.ndarray,
    seed: int,
    discrepancy: float = 0.05,
    given: np.ndarray | None = None,
) -> tuple[waves.History, waves.Simulator]:
    """The inference of a table, or of those of its columns that are given."""
    known = dict(enumerate(numbers)) if isinstance(numbers, np.ndarray) else numbers
    each = [
        Target(
            f"{LOADS[i % 3]:.2f}", ("queue", "loss")[i // 3], float(v), float(v), 0.05, discrepancy
        )
        for i, v in known.items()
    ]

    def simulate(points: np.ndarray) -> np.ndarray:
        return stand_in(points, (1, 2, 3))[:, :, list(known)]

    settings = waves.Settings(points=20, waves=2, more=10, seed=seed)
    return waves.match(simulate, Targets(each), features, 3, settings, given=given), simulate


@cache
def known(trial: int) -> tuple[np.ndarray, waves.History, posterior.Posterior]:
    """Unknowns drawn under a number, the inference of their table, and its posterior."""
    truth = np.random.default_rng(trial).random(3)
    history, _ = matched(stand_in(truth[None], [1000 + trial])[0, 0], trial)
    return truth, history, posterior.weigh(history, trial, 300)


def features(points: np.ndarray) -> np.ndarray:
    return 2 * points - 1


def impossible(
    numbers: dict[int, float] | np.ndarray, discrepancy: float = 0.05
) -> tuple[waves.History, conflicts.Impossible]:
    """What cannot be had of such a table, after runs that verify it."""
    history, simulate = matched(numbers, 1, discrepancy)
    closer = inference.Closer(simulate, features, 1, lambda _wave, _number: None)
    history = inference.verified(history, closer, count=4, rounds=2, seed=1)
    return history, conflicts.found(history, 1)


@pytest.mark.parametrize(
    ("trials", "least"), [(range(5), 4), pytest.param(range(5, 25), 18, marks=pytest.mark.slow)]
)
def test_unknowns_are_found_again_within_their_intervals(trials, least):
    """Tables of known unknowns. The intervals hold for all three together with 95 %: fewer than
    4 of 5 would be seen in 2 of 100 such tests, fewer than 18 of 20 in 8; the seeds are fixed."""
    found = 0
    for trial in trials:
        truth, history, weighed = known(trial)
        sample = weighed.points
        low, high = np.quantile(sample, [0.05 / 6, 1 - 0.05 / 6], axis=0)
        found += bool(history.fits and np.all((low <= truth) & (truth <= high)))
    assert found >= least


def test_a_point_that_was_given_and_whose_runs_are_the_table_is_the_most_likely_one():
    given = np.array([[0.9, 0.1, 0.3], [0.25, 0.5, 0.75]])
    table = stand_in(given, (1, 2, 3))[1].mean(axis=0)
    history, _ = matched(table, 1, given=given)
    assert history.points[:2] == pytest.approx(given)
    weighed = posterior.weigh(history, 1, 300)
    among = posterior.finalists(history, weighed, 4)
    assert len(among) == 4
    assert (among == given[1]).all(axis=1).any()
    likely = posterior.Likelihood(history).seen(among, stand_in(among, (1, 2, 3)))
    assert likely[(among == given[1]).all(axis=1)][0] > likely.max() - 1
    assert likely.min() < likely.max() - 1
    failed = np.full((1, 3, len(table)), np.nan)
    assert posterior.Likelihood(history).seen(given[:1], failed) == [-np.inf]


def test_a_table_of_another_model_is_not_to_be_had():
    # A queue that falls with the load: no values of the unknowns do that.
    history, found = impossible(np.array([120.0, 80.0, 40.0, 1.0, 2.0, 4.0]))
    assert not history.fits
    assert ("queue (0.40)",) in [c.names for c in found.numbers]


def test_a_pair_that_excludes_each_other_is_named_and_nothing_else():
    # Queues of 55 and 60 packets can be had alone, not together: the family's grow faster.
    history, found = impossible({0: 55.0, 2: 60.0, 4: 2.0})
    assert not history.fits
    assert [c.names for c in found.numbers] == [("queue (0.40)", "queue (1.10)")]
    assert [c.names for c in found.rows] == [("0.40", "1.10")]
    (pair,) = found.numbers
    # Runs at the nearest points bear out what is emulated.
    assert pair.nearest > found.cut
    assert pair.nearest == pytest.approx(pair.least, rel=0.5)
    assert found.unseen == []


def test_a_model_that_may_be_wrong_does_not_hide_that_a_pair_excludes_each_other():
    history, found = impossible({0: 55.0, 2: 60.0, 4: 2.0}, discrepancy=20.0)
    assert history.fits
    assert [c.names for c in found.numbers] == [("queue (0.40)", "queue (1.10)")]
    assert found.left == found.numbers


@pytest.mark.parametrize("trial", [1, 2, 3])
def test_nothing_of_a_table_of_the_family_is_called_impossible(trial):
    truth = np.random.default_rng(trial).random(3)
    _, found = impossible(stand_in(truth[None], [1000 + trial])[0, 0])
    assert found.numbers == found.rows == []
    assert found.together is None
    assert found.others is not None and len(found.others.names) == 6


def test_the_inferred_set_is_the_likeliest_by_more_seeds_and_not_the_luckiest_by_few():
    """The stand-in of a study gives, under two seeds, the table itself at a wrong point."""
    truth = np.array([[0.25, 0.5, 0.75]])
    wrong = np.array([[0.9, 0.1, 0.3]])
    history, _ = matched(stand_in(truth, range(1, 7))[0].mean(axis=0), 1, given=wrong)
    lucky = history.runs.copy()
    lucky[0] = history.targets.described(history.targets.low)
    lucky = replace(history, points=np.vstack([truth, wrong]), runs=lucky[[1, 0]])
    requested = []

    class Study:
        bench = SimpleNamespace(
            amount=SimpleNamespace(confirm=6),
            experiment=SimpleNamespace(name="a study"),
            inference=SimpleNamespace(unknowns=SimpleNamespace(values=lambda point: point)),
        )

        def runs(self, sets, seeds, _title):
            requested.append(seeds)
            return stand_in(np.array(sets), range(1, seeds + 1))

    weighed = posterior.Posterior(wrong, wrong[0])
    by_few = posterior.Likelihood(lucky).seen(lucky.points, lucky.runs)
    assert np.argmax(by_few) == 1
    points, seen = inference.confirmed(Study(), lucky, weighed)
    assert points[np.argmax(seen)] == pytest.approx(truth[0])
    assert requested == [6]


def test_a_search_by_runs_alone_finds_what_no_wave_met_and_stops_there():
    history, simulate = matched(stand_in(np.array([[0.9, 0.1, 0.8]]), (1, 2, 3))[0].mean(axis=0), 1)
    cut = conflicts.bar(len(history.targets))
    far = conflicts.of_runs(history).max(axis=1) > cut
    blind = replace(history, points=history.points[far], runs=history.runs[far])
    assert not directed.met(blind, cut)
    assert directed.searched(blind, simulate, 0, 1) is blind
    assert len(directed.searched(blind, simulate, 8, 1).points) == len(blind.points) + 8
    found = directed.searched(blind, simulate, 640, 1)
    assert directed.met(found, cut)
    assert len(blind.points) < len(found.points) < len(blind.points) + 640
    assert found.points[: len(blind.points)] == pytest.approx(blind.points)
    assert directed.searched(found, simulate, 640, 1) is found


def test_runs_are_asked_for_where_an_impossible_set_nearly_fits():
    history, _ = matched({0: 55.0, 2: 60.0, 4: 2.0}, 1)
    points = conflicts.to_simulate(history, 4, 1)
    far = conflicts.within_noise(history)
    assert 1 <= len(points) <= 4
    assert far(points)[:, :2].max(axis=1).min() <= far(history.points)[:, :2].max(axis=1).min()


def test_a_wave_never_widens_what_an_earlier_one_has_left_by_much():
    truth = np.array([[0.3, 0.6, 0.5]])
    history, _ = matched(stand_in(truth, [77])[0, 0], 3)
    assert history.waves[-1].share <= 1.5 * history.waves[0].share
    assert history.knowledge.score(truth)[0] <= implausibility.CUT


def test_subset_simulation_finds_a_small_region_and_its_share():
    def score(points: np.ndarray) -> np.ndarray:
        return np.linalg.norm(points - 0.5, axis=1)

    region = sampling.below(score, 0.1, 2000, 3, 1)
    assert region.scores.max() <= 0.1
    assert region.share == pytest.approx(4 / 3 * np.pi * 0.1**3, rel=0.3)
    assert sampling.below(lambda p: 1 + score(p), 0.5, 500, 3, 1).empty


def test_tempering_finds_a_normal_density():
    def density(points: np.ndarray) -> np.ndarray:
        return -0.5 * np.sum(((points - [0.3, 0.7]) / 0.05) ** 2, axis=1)

    points, _ = sampling.tempered(sampling.uniform(500, 2, 1), density, 2000, 1)
    assert points.mean(axis=0) == pytest.approx([0.3, 0.7], abs=0.006)
    assert points.std(axis=0) == pytest.approx([0.05, 0.05], rel=0.12)


# --- sets of numbers ---------------------------------------------------------------------------


def test_minimal_sets_name_what_no_point_gives_alone_then_in_pairs_then_in_threes():
    far = [[5.0, 0.0, 9.0, 0.0], [4.0, 9.0, 0.0, 0.0]]
    assert conflicts.minimal(np.array(far), 3.0) == [(0,), (1, 2)]
    assert conflicts.least(np.array(far), (1, 2)) == 9.0
    one_of_three = 5.0 * np.eye(3)
    assert conflicts.minimal(one_of_three, 3.0) == [(0, 1, 2)]
    assert conflicts.minimal(one_of_three, 3.0, largest=2) == []


def test_the_bar_of_impossibility_rises_with_the_numbers_of_a_table():
    # A normal error beyond it in any of 64 numbers: one table in a hundred.
    assert conflicts.bar(1) == implausibility.CUT
    assert 64 * 2 * norm.sf(conflicts.bar(64)) == pytest.approx(0.01)


def test_a_set_of_more_than_three_is_found_by_leaving_out_what_the_others_do_without():
    def far(points: np.ndarray) -> np.ndarray:
        # Each coordinate below 0.3, their sum above 1.2; and something that all points meet.
        total = points.sum(axis=1, keepdims=True)
        return np.hstack([10 * points, 3 + 10 * (1.2 - total), 0 * total])

    search = conflicts.Search(far, 3.0, sampling.uniform(256, 3, 1), np.empty((0, 5)), 1)
    assert search.sets() == []
    assert search.together((0, 1, 2, 3, 4)) == (0, 1, 2, 3)
    assert search.together((0, 1, 3, 4)) == ()


def test_a_pair_that_is_allowed_but_in_no_run_is_told_as_open():
    seen = np.array([[0.0, 5.0, 0.0], [9.0, 0.0, 0.0]])
    search = conflicts.Search(np.zeros_like, 3.0, sampling.uniform(8, 3, 1), seen, 1)
    (pair,) = conflicts._unseen(search, ["a", "b", "c"])
    assert pair == conflicts.Conflict(("a", "b"), 0.0, 5.0)


# --- predictions ----------------------------------------------------------------------------------

OTHERS = np.array([0.55, 0.75, 0.95])
"""Loads of which no table is used."""


def other_numbers(points: np.ndarray, seeds) -> np.ndarray:
    """The stand-in's numbers at other loads, each point under a seed of its own."""
    a, b, c = (points[:, [i]] for i in range(3))
    mean = np.hstack(
        [20 + 100 * a * OTHERS ** (1 + 2 * b), 5 * OTHERS ** (2 + 3 * a) * (1 + 2 * c)]
    )
    own = np.stack([np.random.default_rng([7, s]).standard_normal(len(SPREAD)) for s in seeds])
    return mean + SPREAD * own


def foretold(trial: int, draws: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Whether the numbers of an inferred study lie in the intervals foretold for them, and how wide
    those are, in deviations of a published run's own noise."""
    truth, history, weighed = known(trial)
    points = posterior.finalists(history, weighed, 4)
    seen = posterior.Likelihood(history).seen(points, stand_in(points, range(1, 7)))
    drawn = posterior.mixed(weighed, points, seen, trial).draws(draws, trial)
    sample = other_numbers(drawn, [10_000 * trial + i for i in range(draws)])
    published = other_numbers(truth[None], [5_000 + trial])[0]
    ends = np.array([predictions.predictive(column, 0.07) for column in sample.T])
    inside = (ends[:, 0] <= published) & (published <= ends[:, 1])
    return inside, (ends[:, 1] - ends[:, 0]) / 2 / 1.96 / SPREAD


def test_foretold_numbers_lie_inside_their_intervals_as_often_as_is_said():
    """Of 60 numbers of 10 studies 57 are expected inside: more than 98 % would say that intervals
    are too wide. Seeds are fixed."""
    found = [foretold(trial) for trial in range(10)]
    inside = np.concatenate([inside for inside, _ in found])
    widths = np.concatenate([width for _, width in found])
    assert 0.90 <= inside.mean() <= 0.98
    # Not because they are wide: the training rows decide these unknowns.
    assert np.quantile(widths, 0.9) <= 3.0 and np.median(widths) <= 2.0, np.median(widths)


def test_what_runs_have_confirmed_is_in_the_posterior_though_the_emulator_gives_it_nothing():
    truth = np.array([[0.25, 0.5, 0.75]])
    history, _ = matched(stand_in(truth, range(1, 7))[0].mean(axis=0), 1)
    far = np.array([[0.95, 0.05, 0.05]])
    alone = posterior.weigh(history, 1, 300)
    assert (np.abs(alone.points - far).max(axis=1) < 0.2).mean() < 0.01

    def part(likelihoods: list[float]) -> float:
        """Of the draws that lie near the point that runs have confirmed."""
        points = np.vstack([alone.best, far])
        sample = posterior.mixed(alone, points, np.array(likelihoods), 1).points
        return float((np.abs(sample - far).max(axis=1) < 0.2).mean())

    # As likely by runs as the emulator's best point; ten times as likely; hardly; not at all.
    assert part([0.0, 0.0]) == pytest.approx(0.5, abs=0.1)
    assert part([0.0, np.log(10)]) == pytest.approx(0.9, abs=0.06)
    assert part([0.0, 100.0]) == pytest.approx(1 - posterior.LEAST, abs=0.06)
    assert part([0.0, -100.0]) == part([0.0, -np.inf]) == 0.0
    # Where no run ended nothing is mixed in.
    assert part([-np.inf, -np.inf]) == 0.0
