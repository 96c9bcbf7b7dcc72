"""Scores against the worked examples and the rules of their sources."""

import math

import pytest

from aqmlab import scores
from aqmlab.errors import SpecError
from aqmlab.scores import aim, bufferbloat, fairness, games, ookla, qoo, responsiveness


def test_every_score_says_what_it_is():
    for name, score in scores.SCORES.items():
        assert (name, score.meaning[-1], score.weakness[-1]) == (score.name, ".", ".")
        assert score.source and score.title
    with pytest.raises(SpecError, match='no score "rmp"; did you mean "rpm"'):
        scores.find("rmp")


# --- responsiveness ---


def test_rpm_of_the_draft_is_the_mean_of_two_rates():
    """Draft 09: 60000/((20 + 30 + 40)/3) = 2000 and 60000/100 = 600, on average 1300."""
    tcp, tls, http, loaded = ([ms / 1e3] * 20 for ms in (20, 30, 40, 100))
    assert responsiveness.draft(tcp, http, loaded, tls) == pytest.approx(1300)
    # Without TLS: 60000/((20 + 40)/2) = 2000 again.
    assert responsiveness.draft(tcp, http, loaded) == pytest.approx(1300)


def test_the_trimmed_mean_is_single_sided():
    """goresponsiveness, TrimBy: the smallest int(n · 95/100) values."""
    assert responsiveness.trimmed_mean([*[1.0] * 19, 1000.0]) == 1.0
    assert responsiveness.trimmed_mean([3.0, 1.0, 2.0]) == 1.5  # int(2.85) values
    assert math.isnan(responsiveness.trimmed_mean([]))


def test_rpm_as_goresponsiveness_computes_it():
    """rpm/calculations.go: a foreign probe of 90 ms is three of 30 ms; 60/((0.03 + 0.1)/2)."""
    foreign, loaded = [0.09] * 40, [0.1] * 40
    assert responsiveness.goresponsiveness(foreign, loaded) == pytest.approx(60 / 0.065)
    ramp = [i / 100 for i in range(1, 101)]
    # CalculatePercentile takes the value at the place int(0.9 n), counted from 0.
    p90 = responsiveness.goresponsiveness_percentile(ramp, ramp, trips=1)
    assert p90 == pytest.approx(60 / 0.91)


def test_stability_is_a_standard_deviation_of_moving_averages():
    assert responsiveness.is_stable([100.0] * 4)
    assert not responsiveness.is_stable([100.0] * 3)
    assert not responsiveness.is_stable([10.0, 40.0, 90.0, 160.0])
    assert responsiveness.is_stable([10.0, *[100.0] * 7])


# --- letters ---


@pytest.mark.parametrize(
    ("ms", "letter"),
    [(0, "A+"), (4.9, "A+"), (5, "A"), (30, "B"), (60, "C"), (199, "C"), (200, "D"), (400, "F")],
)
def test_dslreports_letters(ms, letter):
    assert bufferbloat.dslreports(ms / 1e3, ms / 1e3) == letter
    assert bufferbloat.dslreports(0, 2 * ms / 1e3) == letter, "the mean of both directions"


def test_waveform_takes_the_worse_direction():
    assert bufferbloat.waveform(0.001, 0.1) == "C"
    assert bufferbloat.waveform(math.nan, math.nan) == "-"


# --- AIM: the cases of the package's own tests ---


def test_an_excellent_line_by_aim():
    line = {"latency": 5, "packet_loss": 0, "download": 100e6, "loaded_latency_increase": 10}
    assert aim.points(line)["streaming"] == 20 + 10 + 30 + 10
    assert aim.words(line)["streaming"] == "great"


def test_a_poor_line_by_aim():
    line = {"latency": 200, "packet_loss": 0.3, "loaded_latency_increase": 300}
    assert (aim.points(line)["gaming"], aim.words(line)["gaming"]) == (0, "bad")


def test_aim_says_nothing_of_what_was_not_measured():
    assert aim.points({"latency": 10}) == {}
    assert set(aim.points({"latency": 5, "download": 1e8, "loaded_latency_increase": 5})) == {
        "streaming",
        "gaming",
    }


# --- QoO: the draft's example ---


def test_the_example_of_the_draft_on_qoo():
    needs = qoo.Requirement(
        {0.99: 0.2, 0.999: 0.3}, {0.99: 0.5, 0.999: 0.6}, 0.01, 0.05, throughput=4e6
    )
    measured = {0.99: 0.35, 0.999: 0.375}
    assert qoo.qoo(measured, 0.02, 28e6, needs) == pytest.approx(50)
    assert qoo.qoo({0.99: 0.1, 0.999: 0.1}, 0.02, 28e6, needs) == pytest.approx(75)
    assert qoo.qoo(measured, 0.02, 3e6, needs) == 0
    assert qoo.qoo({0.99: 9.0, 0.999: 9.0}, 0.0, 28e6, needs) == 0


# --- shares ---


def test_shares_by_hand():
    assert fairness.jain([3, 3, 3]) == 1
    assert fairness.jain([5, 0, 0, 0]) == 0.25
    assert math.isnan(fairness.jain([]))
    assert fairness.max_min([2, 8, 10], 12) == [2, 5, 5]
    assert fairness.max_min_ratio([2, 2.5, 7.5], [2, 8, 10], 12) == 0.5
    assert fairness.starvation_ratio([1, 4]) == 4
    assert fairness.starvation_ratio([0, 4]) == math.inf


def test_harm_is_what_an_incumbent_loses():
    """Ware et al.: (alone - beside)/alone of throughput, (beside - alone)/beside of delay."""
    assert fairness.harm(10, 4) == pytest.approx(0.6)
    assert fairness.harm(0.02, 0.08, more_is_better=False) == pytest.approx(0.75)
    assert fairness.harm(10, 12) == 0
    assert fairness.slowdown(6.0, 2.0) == 3


def test_the_interquartile_mean():
    assert ookla.interquartile_mean([1, 2, 3, 1000]) == 2.5


# --- games ---


def test_games_as_the_published_implementation_has_them():
    """Its test: at no delay the interaction is rated 4.6229955301830845 (class high)."""
    temporal = 47.03 + 0.01747 * 60**2 - 1.823 * 60  # of 60 frames a second, without loss
    impairment = (100 - games.network_rating(0.0, frames_per_s=60) - 0.227 * temporal) / 0.848
    assert games.mos(100 - impairment) == pytest.approx(4.6229955301830845)
    assert games.network_rating(0.1) < games.network_rating(0.02)
    assert games.network_rating(0.1, loss=0.002) < games.network_rating(0.1)
    assert games.mos(0) == 1.3
