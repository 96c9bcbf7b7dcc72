"""The Gymnasium environment (docs/gym.md)."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the extra aqmlab[gym] is not installed")

from aqmlab.errors import SpecError  # noqa: E402
from aqmlab.gym import OBSERVED, AqmEnv, Parameter, Probability, ThroughputAndDelay  # noqa: E402

SCENARIO = {
    "duration": "5 s",
    "network": {"rtt": "40 ms"},
    "link": [{"name": "line", "rate": "4 Mbit/s", "forward": "red"}],
    "traffic": [{"app": "bulk", "flows": 4}],
}


def episode(env: AqmEnv, action: float, seed: int = 1) -> tuple[list[np.ndarray], float]:
    """All observations of one episode, and what it was worth."""
    seen, worth = [env.reset(seed=seed)[0]], 0.0
    while True:
        observation, reward, terminated, truncated, _ = env.step([action])
        seen.append(observation)
        worth += reward
        assert not terminated
        if truncated:
            return seen, worth


def test_gymnasiums_own_checker_is_content():
    from gymnasium.utils.env_checker import check_env

    for action in (Probability(), Parameter("max_p", 0.0, 1.0, first=0.1)):
        with warnings.catch_warnings():
            # An observation without an upper bound is meant.
            warnings.filterwarnings("ignore", message=".*infinity.*")
            check_env(AqmEnv(SCENARIO, action=action), skip_render_check=True)


RENO = """
import aqmlab

class Mine(aqmlab.CongestionControl):
    def on_ack(self, window, ack):
        if ack.may_grow:
            window.cwnd += window.mss * ack.acked // window.cwnd

    def on_loss(self, window):
        window.ssthresh = max(window.cwnd // 2, 2 * window.mss)
"""


def test_a_control_of_ones_own_runs_and_what_it_does_wrong_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(RENO)
    traffic = [{"app": "bulk", "flows": 4, "tcp": {"profile": "linux", "congestion": "mine.py"}}]
    own, ours = ({**SCENARIO, "traffic": traffic}, SCENARIO)
    first, again, other = (np.array(episode(AqmEnv(of), 0.02)[0]) for of in (own, own, ours))
    assert (first == again).all()
    assert not (first == other).all()
    (tmp_path / "mine.py").write_text(RENO.replace("window.mss *", "window.mss // 0 *"))
    with pytest.raises(SpecError, match="ZeroDivisionError"):
        episode(AqmEnv(own), 0.02)
    file = tmp_path / "scenario.toml"
    file.write_text(
        'duration = "1 s"\n[[link]]\nrate = "4 Mbit/s"\n[[traffic]]\napp = "bulk"\nflows = 1\n'
        'tcp = { profile = "linux", congestion = "theirs.py" }\n'
    )
    (tmp_path / "theirs.py").write_text(RENO.replace("Mine", "Theirs"))
    with pytest.raises(SpecError, match="--trust"):
        AqmEnv(file)
    AqmEnv(file, trust=True)


def test_equal_seeds_give_equal_episodes_and_others_do_not():
    env = AqmEnv(SCENARIO, interval_s=0.25)
    once, again, other = (np.array(episode(env, 0.02, seed)[0]) for seed in (1, 1, 2))
    assert once.shape == (21, len(OBSERVED))
    assert (once == again).all()
    assert not (once == other).all()


def test_a_run_seed_gives_the_same_users_whatever_the_environments_stream():
    env = AqmEnv(SCENARIO)
    first = env.reset(seed=1, options={"run_seed": 7})[1]
    assert first == {"run_seed": 7}
    one = [env.step([0.01])[0] for _ in range(5)]
    env.reset(seed=2, options={"run_seed": 7})
    assert np.array_equal(one, [env.step([0.01])[0] for _ in range(5)])


def test_an_agent_that_drops_all_lets_nothing_through():
    seen, _ = episode(AqmEnv(SCENARIO), 1.0)
    last = dict(zip(OBSERVED, seen[-1], strict=True))
    assert (last["queue_packets"], last["throughput_bits_per_s"], last["action"]) == (0, 0, 1)


def test_more_drops_make_a_shorter_queue_and_marks_replace_drops():
    def of(action: Probability, p: float) -> dict[str, float]:
        mean = np.array(episode(AqmEnv(SCENARIO, action=action), p)[0])[20:].mean(axis=0)
        return dict(zip(OBSERVED, mean, strict=True))

    few, many = of(Probability(), 0.002), of(Probability(), 0.05)
    assert many["delay_mean_s"] < few["delay_mean_s"] / 2
    assert many["drops_per_s"] > few["drops_per_s"]


def test_a_parameter_of_a_discipline_is_tuned():
    tuned = Parameter("target", 0.001, 1.0, first=0.015)
    scenario = {**SCENARIO, "duration": "20 s", "link": [{**SCENARIO["link"][0], "forward": "pie"}]}
    delays = [
        np.array(episode(AqmEnv(scenario, action=tuned), target)[0])[100:, 5].mean()
        for target in (0.005, 0.1)
    ]
    assert delays[1] > 2 * delays[0]


def test_the_reward_is_ours_or_the_users():
    ours = ThroughputAndDelay(4e6)
    assert ours({"throughput_bits_per_s": 2e6, "delay_mean_s": 0.02}) == pytest.approx(0.3)
    env = AqmEnv(SCENARIO, reward=lambda seen: -seen["queue_packets"])
    seen, worth = episode(env, 0.01)
    assert worth == -sum(observation[0] for observation in seen)


def test_vectors_of_environments():
    vector = gymnasium.vector.SyncVectorEnv([lambda: AqmEnv(SCENARIO)] * 3)
    observations, _ = vector.reset(seed=[1, 2, 1])
    assert observations.shape == (3, len(OBSERVED))
    for _ in range(10):
        observations, *_ = vector.step(np.full((3, 1), 0.01, np.float32))
    assert np.array_equal(observations[0], observations[2])
    assert not np.array_equal(observations[0], observations[1])
    made = gymnasium.make("aqmlab/Aqm-v0", scenario=SCENARIO)
    assert made.reset(seed=1)[0].shape == (len(OBSERVED),)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"port": "lien.forward"}, "there is no 'lien.forward'"),
        ({"interval_s": 0.0}, "longer than 0 s"),
        ({"scenario": {"duration": "1 s"}}, "link: missing"),
        ({"port": "line.reverse", "action": Parameter("max_p", 0, 1, 0)}, "none written"),
        ({"scenario": "nowhere.toml"}, "nowhere.toml"),
        ({"scenario": {**SCENARIO, "duration": "x"}}, "duration"),
    ],
)
def test_mistakes_are_one_sentence(change, sentence):
    with pytest.raises(SpecError, match=sentence):
        AqmEnv(**{"scenario": SCENARIO, **change})
    env = AqmEnv(SCENARIO, action=Parameter("min_th", 0.0, 9.0, first=1.0))
    env.reset(seed=1)
    with pytest.raises(SpecError, match="cannot change min_th"):
        env.step([5.0])
    with pytest.raises(SpecError, match=r"reset\(\)"):
        AqmEnv(SCENARIO).step([0.0])


def test_the_speed_is_measured_by_aqmlab_bench(monkeypatch):
    from aqmlab.bench import steps

    monkeypatch.setattr(steps, "SCENARIO", {**steps.SCENARIO, "duration": "2 s"})
    monkeypatch.setattr(steps, "SEEDS", range(1, 2))
    measured = steps.measure("red")
    assert measured is not None
    assert [row["interval_s"] for row in measured] == [0.1, 0.01]
    assert all(row["steps_per_cpu_s"] > 0 for row in measured)
    assert steps.sentences(measured)[0].endswith("steps of 0.1 s per CPU second")
    assert steps.sentences(None) == []
