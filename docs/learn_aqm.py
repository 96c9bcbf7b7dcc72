"""A worked example: an agent learns to drop better than fixed RED does (docs/gym.md).

    python docs/learn_aqm.py            # ten training seeds, twenty held-out runs; some minutes

The agent moves a drop probability ten times a second. Its policy is linear: the change of the
logit is a weighted sum of a constant, the wait over 20 ms, the wait's change over 20 ms, and the
share of the line used. The four weights are learned by the cross-entropy method (R. Y. Rubinstein,
1999) with numpy alone: no gradient, no other library. Noise keeps the search from closing in too
early, and validation runs choose among its rounds.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import aqmlab.gym as agm
from aqmlab.intervals import interval

HOUSEHOLD = Path(__file__).parent.parent / "python/aqmlab/experiments/examples/household.toml"
LIMIT = 500
"""Packets of the household's modem."""
POPULATION, ELITE, ROUNDS, EPISODES, VALIDATION = 16, 4, 15, 4, 20
NOISE = 0.5
"""What is added to the spread of the weights, less every round: a search that closes in too early
finds what is good at first (Szita and Lorincz 2006)."""
Policy = Callable[[NDArray[np.float32]], float]


def scenario(forward: Any, seconds: int) -> dict[str, Any]:
    """The household, cut to a number of seconds, with this queue downstream."""
    import tomllib

    document = tomllib.loads(HOUSEHOLD.read_text("utf-8"))["scenario"]
    link = {**document["link"][0], "forward": forward}
    return {**document, "link": [link], "duration": f"{seconds} s", "warmup": "0 s"}


def worth(env: agm.AqmEnv, policy: Policy, run_seed: int) -> float:
    """Mean reward of a step of one episode."""
    observation, _ = env.reset(options={"run_seed": run_seed})
    rewards: list[float] = []
    over = False
    while not over:
        observation, reward, _, over, _ = env.step([policy(observation)])
        rewards.append(reward)
    return float(np.mean(rewards))


def linear(weights: NDArray[np.float64], capacity: float) -> Policy:
    """The policy with these weights; it keeps its probability's logit."""
    state = {"logit": -6.0, "wait": 0.0}

    def decide(seen: NDArray[np.float32]) -> float:
        wait, used = float(seen[5]) / 0.02, float(seen[4]) / capacity
        features = np.array([1.0, wait, wait - state["wait"], used])
        state["wait"] = wait
        moved = state["logit"] + float(np.clip(weights @ features, -3.0, 3.0))
        state["logit"] = min(max(moved, -9.0), 0.0)
        return 1.0 / (1.0 + math.exp(-state["logit"]))

    return decide


def train(seed: int, seconds: int, capacity: float) -> NDArray[np.float64]:
    """Weights learned from one seed: of every round's mean policy that which did best in validation
    runs. Every round meets runs that no other has met; held-out runs are met by none."""
    rng = np.random.default_rng(seed)
    env = agm.AqmEnv(scenario("droptail", seconds), action=agm.Probability(limit=LIMIT))

    def score(weights: NDArray[np.float64], runs: Sequence[int]) -> float:
        return float(np.mean([worth(env, linear(weights, capacity), run) for run in runs]))

    validation = _drawn(rng, VALIDATION)
    mean, spread = np.zeros(4), np.full(4, 0.5)
    best, best_score = mean, -math.inf
    for number in range(ROUNDS):
        runs = _drawn(rng, EPISODES)
        tried = rng.normal(mean, spread, (POPULATION, 4))
        elite = tried[np.argsort([score(weights, runs) for weights in tried])[-ELITE:]]
        noise = NOISE * max(0.0, 1.0 - number / (ROUNDS / 2))
        mean, spread = elite.mean(axis=0), elite.std(axis=0) + noise + 0.02
        if (reached := score(mean, validation)) > best_score:
            best, best_score = mean, reached
    return best


def _drawn(rng: np.random.Generator, count: int) -> list[int]:
    """Run seeds, apart from those of the held-out runs."""
    return [int(run) for run in rng.integers(10_000, 2**31, count)]


def held_out(env: agm.AqmEnv, make: Callable[[], Policy], seeds: Sequence[int]) -> np.ndarray:
    """What a policy is worth in runs that no training has met."""
    return np.array([worth(env, make(), seed) for seed in seeds])


def main() -> None:
    """Trains, and compares with RED run by run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--training-seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1, help="training seed")
    parser.add_argument("--held-out", type=int, default=20)
    parser.add_argument("--first-held-out", type=int, default=101, help="run seed")
    parser.add_argument("--seconds", type=int, default=60, help="of an episode")
    requested = parser.parse_args()
    seeds = range(requested.first_held_out, requested.first_held_out + requested.held_out)
    capacity = 12e6
    fixed = agm.Parameter("max_p", 0.0, 1.0, first=0.1)
    red = agm.AqmEnv(
        scenario({"aqm": "red", "max_p": 0.1, "limit": LIMIT}, requested.seconds), action=fixed
    )
    reference = held_out(red, lambda: lambda _: 0.1, seeds)
    print(f"fixed RED: {reference.mean():.4f} a step")
    env = agm.AqmEnv(scenario("droptail", requested.seconds), action=agm.Probability(limit=LIMIT))
    differences = []
    for training_seed in range(requested.first, requested.first + requested.training_seeds):
        weights = train(training_seed, requested.seconds, capacity)
        gained = held_out(env, lambda w=weights: linear(w, capacity), seeds) - reference
        differences.append(gained.mean())
        _, low, high = interval(list(gained))
        written = ", ".join(f"{weight:.2f}" for weight in weights)
        print(
            f"training seed {training_seed}: {gained.mean():+.4f}"
            f" [{low:+.4f}, {high:+.4f}] over {len(gained)} held-out runs; weights {written}"
        )
    _, low, high = interval(differences)
    print(f"all training seeds: {np.mean(differences):+.4f} [{low:+.4f}, {high:+.4f}]")


if __name__ == "__main__":
    main()
