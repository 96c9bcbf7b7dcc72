"""Scores against the worked examples and the rules of their sources."""

import math

import pytest

from aqmlab import scores
from aqmlab.errors import SpecError
from aqmlab.scores import (
    aim,
    bufferbloat,
    fairness,
    games,
    ookla,
    qoo,
    responsiveness,
    saturation,
    video,
)


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


ORACLE = (
    (7, math.nan, 885.6218963805625, 550.8944092594284),
    (20, 3000, 891.1403495059429, 543.7202753505605),
    (100, 2716.4299954864227, 892.5041564502912, 544.6667535262735),
    (199, 2714.1995503630415, 889.6346438565205, 545.6485726098865),
    (1000, 2675.781841409573, 889.0132519949829, 545.4056964358989),
)
"""Samples, and what goresponsiveness makes of them: the fastest 5 %, 95 %, its quantile."""


def samples(count):
    """As many foreign and self probes, in seconds, by a rule that needs no library."""
    return (
        [0.06 + 0.3 * ((7919 * i) % 1009) / 1009 for i in range(count)],
        [0.02 + 0.1 * ((6007 * i) % 1013) / 1013 for i in range(count)],
    )


@pytest.mark.parametrize(
    ("count", "fastest", "trimmed", "p90"),
    ORACLE,
)
def test_rpm_as_goresponsiveness_computes_it(count, fastest, trimmed, p90):
    """rpm.CalculateRpm of 29 January 2024, run over these samples with rpm.tmp 5 and 95."""
    foreign, own = samples(count)
    assert responsiveness.goresponsiveness(foreign, own) == pytest.approx(fastest, nan_ok=True)
    assert responsiveness.goresponsiveness(foreign, own, keep=0.95) == pytest.approx(trimmed)
    assert responsiveness.goresponsiveness_percentile(foreign, own) == pytest.approx(p90)


def test_the_course_of_the_draft_is_goodput_then_responsiveness():
    assert saturation.is_stable([100.0] * 4) and not saturation.is_stable([100.0] * 3)
    assert not saturation.is_stable([10.0, 40.0, 90.0, 160.0])
    goodput = [4.0, 8.0, *[10.0] * 18]
    # Moving averages over four: 4, 6, 7.3, 8, 9.5, 10, 10, 10: the last four are within 5 %.
    asked = []
    ended = saturation.draft(goodput, lambda first, last: asked.append((first, last)) or 600.0)
    assert (ended.saturated, ended.first, ended.last, ended.confidence) == (7, 8, 11, "high")
    assert asked == [(5, 8), (6, 9), (7, 10), (8, 11)]
    swings = saturation.draft(goodput, lambda _, last: 600.0 if last % 2 else 300.0)
    assert (swings.last, swings.confidence) == (19, "medium")
    assert saturation.draft(goodput[:9], lambda *_: 600.0).confidence == "low"


def test_the_course_of_goresponsiveness_counts_whole_intervals_before_the_check():
    goodput, probes = [4.0, 8.0, *[10.0] * 18], [0.2] * 20
    ended = saturation.goresponsiveness(goodput, probes)
    # Intervals 2 to 5 are steady, seen at the end of 6; probes of 7 to 10 at the end of 11.
    assert (ended.saturated, ended.first, ended.last, ended.confidence) == (6, 7, 10, "high")
    answered = [i + 1 for i in range(20)]
    assert saturation.goresponsiveness(goodput, probes, answered) == ended
    answered[9] = 12  # after the check
    assert saturation.goresponsiveness(goodput, probes, answered).first == 8
    probes[8] = math.nan  # without an answer
    assert saturation.goresponsiveness(goodput, probes).first == 9


def test_rpm_has_the_words_of_the_draft():
    words = [responsiveness.rating(rpm) for rpm in (299, 300, 999, 1000, 6000, math.nan)]
    assert words == ["poor", "fair", "fair", "good", "excellent", ""]


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


# --- video ---

SESSIONS = (
    ([4.43 if (i // 4) % 2 else 3.8 for i in range(120)], [(0, 2.5), (40, 1.5), (80, 3)], 2.646892),
    ([4.2] * 60, [(0, 1)], 4.504820),
    ([1 + 3.7 * ((37 * i // 5) % 11) / 11 for i in range(180)], [], 3.044561),
    ([2.0] * 30 + [4.5] * 60, [(10, 8), (12, 4)], 3.232910),
)
"""Qualities of seconds, stalls, and what itu_p1203 says of them without its forest."""


@pytest.mark.parametrize(
    ("rate", "pixels", "frames", "quality"),
    [
        (200, 320 * 240, 25, 1.05),
        (1000, 1280 * 720, 25, 3.625362),
        (5000, 1920 * 1080, 25, 4.417255),
        (800, 640 * 360, 15, 1.815644),
        (150, 426 * 240, 10, 1.056295),
    ],
)
def test_a_segment_is_rated_as_the_authors_program_does(rate, pixels, frames, quality):
    assert video.segment_quality(video.Segment(1, rate, pixels, frames)) == pytest.approx(
        quality, abs=1e-4
    )


@pytest.mark.parametrize(("seconds", "stalls", "quality"), SESSIONS)
def test_a_session_is_rated_as_the_authors_program_does(seconds, stalls, quality):
    found = video.session(seconds, [video.Stall(*one) for one in stalls])
    assert found == pytest.approx(quality, abs=1e-6)


def test_seconds_have_the_quality_of_their_segment():
    low, high = video.Segment(2.5, 300, 320 * 240), video.Segment(2.5, 5000, 1920 * 1080)
    found = video.qualities([low, high])
    assert found == [video.segment_quality(low)] * 2 + [video.segment_quality(high)] * 3
    assert video.streaming([low, high]) > video.streaming([low, high], [video.Stall(0, 3)])


def test_the_authors_program_agrees():
    published = pytest.importorskip("itu_p1203.p1203Pq", reason="itu_p1203 is not installed")
    published.rfmodel.calculate = lambda *_: 0.0
    for seconds, stalls, _ in SESSIONS:
        lasted, began = [one for _, one in stalls], [one for one, _ in stalls]
        said = published.P1203Pq([], list(seconds), lasted, began).calculate()["O46"]
        whole = 0.02833052 + (said - 0.02833052) / 0.75
        assert video.session(seconds, [video.Stall(*one) for one in stalls]) == pytest.approx(whole)
