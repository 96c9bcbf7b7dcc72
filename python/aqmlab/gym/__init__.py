"""Queues as environments of Gymnasium: an agent acts as the discipline of a port, or tunes one.

    import aqmlab.gym                                   # pip install aqmlab[gym]
    env = aqmlab.gym.AqmEnv("household.toml", action=aqmlab.gym.Probability(limit=500))
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step([0.01])

docs/gym.md describes observations, actions and rewards.
"""

from __future__ import annotations

try:
    import gymnasium
except ImportError as error:
    from aqmlab.errors import EngineError

    raise EngineError(
        "aqmlab.gym needs Gymnasium, which is not installed: pip install 'aqmlab[gym]'"
    ) from error

from .actions import Action, Parameter, Probability
from .environment import OBSERVED, AqmEnv
from .rewards import Reward, ThroughputAndDelay

__all__ = [
    "OBSERVED",
    "Action",
    "AqmEnv",
    "Parameter",
    "Probability",
    "Reward",
    "ThroughputAndDelay",
]

gymnasium.register(id="aqmlab/Aqm-v0", entry_point="aqmlab.gym:AqmEnv")
