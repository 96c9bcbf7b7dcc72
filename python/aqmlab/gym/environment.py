"""The environment: a scenario that is simulated in steps of equal length."""

from __future__ import annotations

import copy
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from aqmlab.errors import SpecError
from aqmlab.experiment.inlining import inline_tables
from aqmlab.simulator import engine
from aqmlab.simulator.plugin.trust import granted

from .actions import Action, Probability
from .rewards import Reward, ThroughputAndDelay

Numbers = NDArray[np.float32]

OBSERVED = (
    "queue_packets",
    "queue_bytes",
    "arrivals_per_s",
    "departures_per_s",
    "throughput_bits_per_s",
    "delay_mean_s",
    "drops_per_s",
    "marks_per_s",
    "action",
)
"""The numbers of an observation, in order: the backlog now; rates of arrivals, departures and IP
bits in the last step; the mean queueing delay of its departures (the earlier value if nothing
departed); rates of drops and marks; and the action in force."""
LARGEST_SEED = 2**31


class AqmEnv(gymnasium.Env[Numbers, Numbers]):
    """One queue of a scenario as an environment for an agent.

    `scenario` is a TOML file or a mapping as for `aqmlab.run`, with numbers of users and flows, not
    loads. `port` is `<link>.forward` or `<link>.reverse`, the first link's forward direction if not
    given. A step lasts `interval_s`; an episode is truncated at the scenario's end. The default
    `reward` is `ThroughputAndDelay` with the link's rate. `trust` permits programs that a file
    names (see docs/how-to/share.md).
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium declares it so

    def __init__(
        self,
        scenario: str | os.PathLike[str] | Mapping[str, Any],
        *,
        action: Action | None = None,
        port: str | None = None,
        interval_s: float = 0.1,
        reward: Reward | None = None,
        trust: bool = False,
    ) -> None:
        if not interval_s > 0:
            raise SpecError(f"interval_s: {interval_s} is no time; a step lasts longer than 0 s")
        self._action = action or Probability()
        self._interval_s = interval_s
        with granted(trust):
            read = _read(scenario)
        self._scenario, self._port, link = _steered(read, port, self._action)
        self._reward = reward or ThroughputAndDelay(_capacity(link, self._port))
        engine.World(self._scenario)  # reports errors in the scenario at once
        self.action_space = Box(self._action.low, self._action.high, (1,), np.float32)
        self.observation_space = Box(0.0, np.inf, (len(OBSERVED),), np.float32)
        self._world: engine.World | None = None
        self._value = self._delay_s = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Begins a run. Its seed is drawn from the environment's random numbers, which `seed`
        restarts; `options={"run_seed": n}` sets the run's seed instead, so that different agents
        serve equal users."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(LARGEST_SEED))
        run_seed = (options or {}).get("run_seed", drawn)
        self._world = engine.World({**self._scenario, "seed": run_seed})
        self._value, self._delay_s = self._action.first, 0.0
        seen = dict.fromkeys(OBSERVED, 0.0) | {"action": self._value}
        return _numbers(seen), {"run_seed": run_seed}

    def step(self, action: Any) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        """Sets the parameter that the agent controls to `action`, limited to its range, and runs
        one step. Returns the observation after it, the reward, and whether the run is over."""
        if self._world is None:
            raise SpecError("the environment has not begun: call reset() before step()")
        value = float(np.asarray(action, dtype=np.float64).reshape(-1)[0])
        self._value = min(max(value, self._action.low), self._action.high)
        self._world.set(self._port, self._action.name, self._value)
        over, counted = self._world.advance(self._interval_s, self._port)
        seen = self._seen(counted)
        info = {**seen, "time_s": self._world.now()[0]}
        return _numbers(seen), float(self._reward(seen)), False, over, info

    def _seen(self, counted: list[float]) -> dict[str, float]:
        packets, queued, arrivals, departures, departed, waited_s, drops, marks = counted
        if departures:
            self._delay_s = waited_s / departures
        rates = [n / self._interval_s for n in (arrivals, departures, 8 * departed)]
        lost = [n / self._interval_s for n in (drops, marks)]
        of = (packets, queued, *rates, self._delay_s, *lost, self._value)
        return dict(zip(OBSERVED, of, strict=True))


def _numbers(seen: Mapping[str, float]) -> Numbers:
    return np.fromiter(seen.values(), np.float32, len(OBSERVED))


def _read(scenario: str | os.PathLike[str] | Mapping[str, Any]) -> dict[str, Any]:
    """The scenario of a file or a mapping: its table `scenario` if it has one, else all of it."""
    if isinstance(scenario, Mapping):
        document: Mapping[str, Any] = inline_tables(copy.deepcopy(scenario), Path(), by_user=True)
    else:
        file = Path(scenario)
        try:
            read = tomllib.loads(file.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise SpecError(f"{os.fspath(scenario)}: {error}") from error
        document = inline_tables(read, file.parent)
    return dict(document.get("scenario", document))


def _steered(
    scenario: dict[str, Any], port: str | None, action: Action
) -> tuple[dict[str, Any], str, Mapping[str, Any]]:
    """The scenario with a queue that the agent controls at a port, the name of the port, and the
    port's link."""
    links = scenario.get("link")
    if not links:
        raise SpecError("link: missing; an agent needs the queue of a link")
    usual = ["bottleneck", *(f"link{i}" for i in range(1, len(links)))]
    names = [link.get("name", name) for link, name in zip(links, usual, strict=True)]
    port = port or f"{names[0]}.forward"
    name, _, direction = port.rpartition(".")
    if name not in names or direction not in ("forward", "reverse"):
        known = ", ".join(f"{name}.forward, {name}.reverse" for name in names)
        raise SpecError(f"port: there is no {port!r}; the scenario has {known}")
    link = links[names.index(name)]
    link[direction] = action.queue(link.get(direction))
    return scenario, port, link


def _capacity(link: Mapping[str, Any], port: str) -> float:
    """The rate of the port's direction, bit/s."""
    reverse = port.endswith(".reverse") and "reverse_rate" in link
    rate = link.get("reverse_rate" if reverse else "rate")
    if rate is None:
        raise SpecError(f"reward: {port} has a rate that changes; give a reward of your own")
    return engine.quantity(str(rate), "rate")
