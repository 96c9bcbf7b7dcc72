"""Advice: what an objective's words mean, who wins a race, and the whole command once."""

from __future__ import annotations

import json
import random

import pytest

from aqmlab.advise import advice, candidates, objective, situation, users
from aqmlab.advise.candidates import PRESENT, Candidate
from aqmlab.advise.race import EQUAL, Rounds, advised, race
from aqmlab.errors import SpecError
from aqmlab.simulator import engine, measures

pytestmark = pytest.mark.usefixtures("real_core")


# --- the objective ---


def grade(words: str, **summary: float | None) -> float:
    """Of one term."""
    (term,) = objective.parse(words)
    return term.grade(summary)


@pytest.mark.parametrize(
    ("rating", "expected"), [(40, 0), (50, 0), (60, 0.4), (70, 0.8), (93.2, 1), (99, 1)]
)
def test_a_call_is_graded_between_the_ratings_of_g_109(rating, expected):
    assert grade("calls ok", voip_r_mean=rating) == pytest.approx(expected)


def test_a_page_is_graded_the_other_way_round():
    assert grade("pages fast", page_load_p90_s=2.5) == pytest.approx(0.8)
    assert grade("pages fast", page_load_p90_s=0.0) == 1
    assert grade("pages fast", page_load_p90_s=6.25) == pytest.approx(0.4)
    assert grade("pages fast", page_load_p90_s=10) == 0


def test_what_is_undefined_is_bad():
    assert grade("pages fast", page_load_p90_s=None) == 0


def test_a_bound_of_ones_own_is_a_term():
    assert grade("response_p90_s < 500 ms", response_p90_s=0.5) == pytest.approx(0.8)
    assert grade("response_p90_s < 500 ms", response_p90_s=1.0) == 0
    assert grade("voip_r_p5 > 80", voip_r_p5=80) == pytest.approx(0.8)
    assert grade("voip_r_p5 > 80", voip_r_p5=40) == 0


def test_terms_are_weighed():
    terms = objective.parse("calls ok, 3 pages fast")
    summary = {"voip_r_mean": 93.2, "page_load_p90_s": 10.0}
    assert objective.score(terms, summary) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("", "the objective is empty"),
        ("calls okay", 'did you mean "calls ok"'),
        ("respons_p90_s < 1 s", 'did you mean "response_p90_s"'),
        ("response_p90_s < soon", "is no bound"),
    ],
)
def test_a_mistake_in_an_objective_names_the_remedy(words, sentence):
    with pytest.raises(SpecError, match=sentence):
        objective.parse(words)


def test_every_word_is_of_a_measure_and_has_a_source():
    for term in objective.TERMS.values():
        assert measures.unknown(term.measure) is None
        assert term.source
        assert (term.best - term.enough) * (term.enough - term.bad) > 0


# --- the race ---


def noisy(means: dict[str, float], noise: float, common: float):
    """Scores with a part that all share under a seed, and one of their own."""
    asked: list[tuple[str, int]] = []

    def evaluate(those, seeds):
        asked.extend((one.name, seed) for one in those for seed in seeds)
        return [
            {
                seed: means[one.name]
                + common * random.Random(seed).uniform(-1, 1)
                + noise * random.Random(f"{one.name} {seed}").uniform(-1, 1)
                for seed in seeds
            }
            for one in those
        ]

    return evaluate, asked


def field(**means: float) -> list[Candidate]:
    """Today's queue and others, each a discipline of its own."""
    names = [name for name in means if name != "today"]
    return [
        Candidate(PRESENT),
        *(Candidate(name, {"aqm": name}, rank=1 + i) for i, name in enumerate(names)),
    ]


def test_the_best_of_many_wins_with_common_random_numbers():
    means = {PRESENT: 0.3} | {f"q{i}": 0.5 + 0.03 * i for i in range(12)}
    those = field(**{name: mean for name, mean in means.items() if name != PRESENT})
    evaluate, asked = noisy(means, noise=0.01, common=0.5)
    places = race(those, evaluate, Rounds((2, 4, 8), finalists=3))
    assert advised(places).candidate.name == "q11"
    assert len(set(asked)) < 12 * 8 * 0.6, "the worse half stops early"
    assert {place.candidate.name for place in places} == set(means)
    assert next(p for p in places if p.candidate.name == PRESENT).seeds == 8


def test_of_those_that_are_as_good_the_usual_one_is_advised():
    means = {PRESENT: 0.3, "usual": 0.8, "other": 0.8 + EQUAL / 2, "worse": 0.6}
    those = field(usual=0.0, other=0.0, worse=0.0)
    for first in (1, 101, 201):
        evaluate, _ = noisy(means, noise=0.0, common=0.2)
        places = race(those, evaluate, Rounds((2, 4)), first)
        assert places[0].candidate.name == "other"
        assert advised(places).candidate.name == "usual"


def test_nothing_better_than_today_is_said():
    evaluate, _ = noisy({PRESENT: 0.7, "a": 0.7, "b": 0.5}, noise=0.0, common=0.1)
    places = race(field(a=0.0, b=0.0), evaluate, Rounds((2, 4)))
    assert advised(places).candidate.name == PRESENT


# --- the line ---


def test_a_router_shapes_before_the_line_and_the_line_keeps_its_queue():
    home = situation.of_words("50/10mbit", "dsl", "household", None)
    assert home.place == "router"
    made = Candidate("cake", {"aqm": "cake"}).scenario(home)
    line, router = made["link"]
    assert (line["rate"], line["reverse_rate"]) == ("50 Mbit/s", "10 Mbit/s")
    assert (router["rate"], router["reverse_rate"]) == ("45000000 bit/s", "9500000 bit/s")
    assert router["framing"] == "pppoe-ptm"
    assert router["forward"]["isolation"] == "dual-dsthost"
    assert router["forward"]["ingress"] is True
    assert router["reverse"]["ingress"] is False
    assert "forward" not in line
    assert engine.check({**made, "seed": 1})


def test_at_the_line_the_queue_itself_is_replaced():
    phone = situation.of_words("12/6mbit", "lte", "phone", None)
    assert phone.place == "line"
    assert phone.wanders
    (line,) = Candidate("pie", {"aqm": "pie"}).scenario(phone)["link"]
    assert line["forward"] == line["reverse"] == {"aqm": "pie"}


def test_more_people_are_more_of_every_group():
    groups = users.scaled(users.named("household"), 2)
    assert [group.get("users", group.get("flows")) for group in groups] == [12, 4, 2, 2, 4]


def test_the_usual_setting_of_a_discipline_comes_first():
    home = situation.of_words("50/10mbit", "dsl", "household", None)
    those = candidates.of(home, ())
    assert those[0].name == PRESENT
    assert [one.rank for one in those] == list(range(len(those)))
    assert len({one.name for one in those}) == len(those)
    with pytest.raises(SpecError, match='no discipline "kake"'):
        candidates.of(home, ["kake"])


def test_cake_is_told_the_frames_of_the_line():
    home = situation.of_words("50/10mbit", "dsl", "household", None)
    told = advice.commands(home, Candidate("cake", {"aqm": "cake"}), ["tc"])
    line = told["reverse"][0]["blocks"][0]["lines"][0]
    for words in ("bandwidth 9500kbit", "dual-srchost", "ptm overhead 30"):
        assert words in line


# --- the command ---

SMALL = """
duration = "20 s"
warmup = "5 s"
network.rtt = "20 ms"
[[link]]
rate = "2 Mbit/s"
forward = { aqm = "droptail", limit = 200 }
[[traffic]]
name = "bulk"
app = "bulk"
flows = 8
[[traffic]]
name = "talk"
app = "voip"
users = 1
"""


@pytest.fixture
def asked(aqmlab_command, tmp_path):
    """Asks for advice on a small line."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    fixed = ("--scenario", file, "--objective", "calls ok", "--out", tmp_path / "out")

    def ask(*more: object):
        return aqmlab_command("advise", *fixed, *more)

    return ask


def test_a_bloated_line_is_told_to_change_its_queue(asked, tmp_path):
    answer = asked("--discipline", "fq_codel", "--json")
    assert answer.returncode == 0, answer.stderr
    told = json.loads(answer.stdout)
    assert told["discipline"] == "fq_codel"
    rating = next(row for row in told["present"] if row["measure"] == "voip_r_mean")
    # A queue of 200 packets on 2 Mbit/s is 1.2 s.
    assert rating["today"][0] < 50 < 80 < rating["advised"][0]
    low, high = rating["difference"][1:]
    assert 0 < low < high
    assert "fq_codel" in told["commands"]["forward"][0]["blocks"][0]["lines"][0]
    assert {"target", "interval"} <= {row["what"].split()[0] for row in told["parameters"]}
    assert len(told["surroundings"]) == 6
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "tc qdisc replace" in page
    assert "What today" in page
    # Again: nothing is run twice, and the same comes out.
    again = asked("--discipline", "fq_codel", "--json")
    assert json.loads(again.stdout) == told
    assert len(list((tmp_path / "out" / "runs").iterdir())) == len(
        list((tmp_path / "out" / "runs").glob("*/manifest.json"))
    )


def test_what_these_users_do_not_do_is_told(asked):
    answer = asked("--objective", "pages fast", "--discipline", "codel")
    assert answer.returncode == 2
    assert "which these users do not have" in answer.stderr


def test_a_line_must_be_said(aqmlab_command):
    answer = aqmlab_command("advise")
    assert answer.returncode == 2
    assert "say which line" in answer.stderr


def test_optuna_searches_between_the_settings(asked):
    pytest.importorskip("optuna", reason="the extra aqmlab[optuna] is not installed")
    answer = asked("--discipline", "red", "--engine", "optuna", "--json")
    assert answer.returncode == 0, answer.stderr
    places = json.loads(answer.stdout)["places"]
    assert sum(place["name"].startswith("red min_th") for place in places) == 2


def test_without_optuna_the_remedy_is_told(asked, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    with pytest.raises(SpecError, match="pip install 'aqmlab"):
        __import__("aqmlab.advise.continuous", fromlist=["_optuna"])._optuna()
