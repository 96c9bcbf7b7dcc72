"""From a line and an objective to an answer: a race of candidates, a comparison with today's queue,
and runs that vary what was assumed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab import targets
from aqmlab.errors import SpecError
from aqmlab.experiment.spec import length_s
from aqmlab.io.files import reported
from aqmlab.report.advice import Answer, Effect, Measured, RacedPlace
from aqmlab.runs.laboratory import Laboratory
from aqmlab.runs.progress import Progress
from aqmlab.runs.store import Store
from aqmlab.simulator import engine, measures

from . import candidates, commands, objective, sensitivity, sentence
from .candidates import PRESENT, Candidate
from .objective import Term
from .race import Evaluate, Place, Rounds, Scores, advised, race, steps
from .situation import Situation
from .trial import Agenda, Trial, with_users

if TYPE_CHECKING:
    from aqmlab.runs.cluster import Cluster

QUICK = Rounds((2, 4, 8))
FULL = Rounds((2, 4, 8, 16))
SHOWN = (
    *("voip_r_mean", "voip_mouth_to_ear_mean_s", "page_load_p50_s", "page_load_p90_s"),
    *("response_p50_s", "response_p90_s", "share_le_1s", "requests_open_at_end"),
    *("video_rebuffer_ratio", "video_bitrate_mean_bits_per_s"),
    *("queue_delay_mean_s", "queue_delay_p99_s", "drop_rate", "utilisation"),
)
"""Measures that are compared between today's queue and the advised one, where they exist."""
FILE = "advice.json"


@dataclass(frozen=True)
class Wish:
    """The request for advice: the line, the objective, and how to search."""

    situation: Situation
    objective: str | None = None
    """The objective as text; None for the default terms that these users have
    (`objective.usual`)."""
    disciplines: Sequence[str] = ()
    rounds: Rounds = FULL
    seed: int = 1
    """The first seed; the other runs use the seeds after it."""
    engine: str = "race"
    trials: int = 40
    """Number of trials of the optional engine for continuous settings."""
    commands: Sequence[str] = field(default=("tc",))
    """The systems that the queue is to run on, the most important one first."""
    device: str = targets.DEVICE
    """Name of the network device towards the line, as it is written into the commands."""


def advise(
    wish: Wish,
    *,
    out: Path | None = None,
    fresh: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
    on: Cluster | None = None,
) -> Answer:
    """The answer as a JSON document. With `out` a second call continues where the first one
    stopped."""
    terms = _terms(wish)
    store = Store.open(out, fresh=fresh) if out is not None else None
    laboratory = Laboratory(store, progress=progress, jobs=jobs, on=on)
    with laboratory.resumable():
        those = candidates.of(wish.situation, wish.disciplines, wish.commands)
        agenda = _agenda(wish, laboratory, those)
        situation = with_users(wish.situation, laboratory)
        trial = Trial(situation, terms, laboratory, agenda=agenda)
        answer = _answer(trial, wish, _raced(trial, wish, those))
    if store is not None:
        from aqmlab.report import advice as pages

        with reported(store.folder):
            store.write_json(FILE, answer)
            store.write_manifest({"advice": answer["question"], "name": "advice", "runs": []})
            with store.writing("report.html") as draft:
                draft.write_text(pages.render(answer), encoding="utf-8")
        answer["folder"] = str(store.folder)
    return answer


def _terms(wish: Wish) -> list[Term]:
    """The terms of the objective. SpecError if a bound is beyond what any run of this line can
    reach."""
    terms = objective.parse(wish.objective or ", ".join(objective.USUAL))
    line = wish.situation
    fastest = max(line.rate("forward"), line.rate("reverse"))
    if mistake := objective.beyond(terms, length_s(line.scenario), fastest):
        raise SpecError(f"{mistake}: write a bound below it")
    return terms


def _agenda(wish: Wish, laboratory: Laboratory, those: Sequence[Candidate]) -> Agenda:
    """The numbers of planned runs, as far as they are known before the race."""
    agenda = Agenda(laboratory, length_s(wish.situation.scenario))
    searched = [wish.rounds.seeds[1]] * wish.trials if wish.engine == "optuna" else []
    kept = sensitivity.steps(
        Trial(wish.situation, (), laboratory), True, _most(wish), 3, len(_seeds(wish))
    )
    # The second entry is the calibration of loads, which counts its own runs.
    agenda.steps = [0, 0, 1, *steps(those, wish.rounds), *searched, *kept]
    agenda.start()
    return agenda


def _most(wish: Wish) -> int:
    return 4 if wish.rounds is QUICK else 12


def _seeds(wish: Wish) -> range:
    """Seeds of the runs for the answer's sensitivity: half as many as in the last round, two at
    least."""
    return range(wish.seed, wish.seed + max(2, wish.rounds.seeds[-1] // 2))


def _raced(trial: Trial, wish: Wish, those: Sequence[Candidate]) -> list[Place]:
    trial.evaluate(those[:1], [wish.seed], "today's")
    known = trial.seen[PRESENT, wish.seed]
    if wish.objective is None:
        trial.terms = objective.usual(known)
    elif lacking := objective.missing(trial.terms, known):
        raise SpecError(
            f'"{lacking[0].words}" is of {lacking[0].measure}, which these users do not have: '
            "leave it out or give other --users"
        )
    places = race(those, _round(trial, wish), wish.rounds, wish.seed, trial.alike)
    if wish.engine == "optuna":
        from . import continuous

        best = advised(places) or places[0]
        found = continuous.search(trial, best.candidate, wish)
        last = Rounds(wish.rounds.seeds[-1:], len(places))
        final = [place.candidate for place in places if place.final]
        places = race([*final, *found], trial.evaluate, last, wish.seed)
    return places


def _round(trial: Trial, wish: Wish) -> Evaluate:
    """The rounds of the race, with numbers for the progress display."""

    def evaluate(those: Sequence[Candidate], seeds: Sequence[int]) -> list[Scores]:
        nth = list(wish.rounds.seeds).index(len(seeds)) + 1
        scores = trial.evaluate(those, seeds, f"round {nth} of {len(wish.rounds.seeds)}")
        if nth == 1 and (mistake := objective.far(trial.terms, list(trial.seen.values()))):
            raise SpecError(f"{mistake}: write a bound near that")
        return scores

    return evaluate


def _chosen(places: Sequence[Place], system: str) -> Place | None:
    """The best candidate that this system can run, if there is one."""
    return advised(places, lambda one: one.queue is None or targets.has(system, one.aqm))


def _answer(trial: Trial, wish: Wish, places: Sequence[Place]) -> Answer:
    chosen = _chosen(places, wish.commands[0])
    if chosen is None:
        raise SpecError(
            f"{targets.TARGETS[wish.commands[0]][0]} has none of the queues that stayed in the "
            "race: name others by --discipline, or another --target first"
        )
    present = next(place for place in places if place.candidate.name == PRESENT)
    rival = next(
        (p for p in places if p.final and p.candidate.aqm != chosen.candidate.aqm), present
    )
    kept = [chosen.candidate, present.candidate]
    if rival.candidate.name not in {one.name for one in kept}:
        kept.insert(1, rival.candidate)
    kept = list({one.name: one for one in kept}.values())
    seeds, most, tuned = _seeds(wish), _most(wish), chosen.candidate.queue is not None
    if trial.agenda is not None:
        trial.agenda.steps = [0, *sensitivity.steps(trial, tuned, most, len(kept), len(seeds))]
    compared = _compared(trial, present.candidate, chosen.candidate)
    system = wish.commands[0]
    parameters = (
        sensitivity.parameters(trial, chosen.candidate, seeds, most, system) if tuned else []
    )
    around = sensitivity.surroundings(trial, kept, seeds)
    return {
        "question": {
            "line": trial.situation.described,
            "place": trial.situation.place,
            "objective": wish.objective or ", ".join(term.words for term in trial.terms),
            "seed": wish.seed,
            "engine": wish.engine,
            "version": str(engine.version()),
        },
        "terms": [_term(term) for term in trial.terms],
        "advised": chosen.candidate.name,
        "discipline": chosen.candidate.aqm,
        "sentence": sentence.of(trial, places, chosen, compared, system),
        "places": [_place(place, chosen) for place in places],
        "present": compared,
        "parameters": [_effect(effect) for effect in parameters],
        "surroundings": [
            {"what": what, "effects": [_effect(effect) for effect in effects]}
            for what, effects in around
        ],
        "commands": [_typed(trial, places, system, wish.device) for system in wish.commands],
    }


def _typed(trial: Trial, places: Sequence[Place], system: str, dev: str) -> dict[str, object]:
    """The commands that configure the advised queue on a system."""
    chosen = _chosen(places, system)
    if chosen is None:
        name = targets.TARGETS[system][0]
        missed = [f"{name} has none of the queues that stayed in the race"]
        bare = {"blocks": [], "lost": missed, "pitfalls": [], "release": ""}
        return {"advised": None, "system": system, "target": name, **bare}
    return commands.to_type(trial.situation, chosen.candidate, system, dev)


def _term(term: Term) -> dict[str, object]:
    named = ("words", "measure", "bad", "enough", "best", "source", "weight")
    return {name: getattr(term, name) for name in named}


def _place(place: Place, chosen: Place) -> RacedPlace:
    return {
        "name": place.candidate.name,
        "queue": dict(place.candidate.queue) if place.candidate.queue else None,
        "seeds": place.seeds,
        "score": [place.mean, place.low, place.high],
        "behind": list(place.behind),
        "equal": place.equal,
        "final": place.final,
        "standing": sentence.standing(place, chosen),
        "also": list(place.also),
    }


def _effect(effect: sensitivity.Effect) -> Effect:
    return {
        "what": effect.what,
        "candidate": effect.candidate,
        "score": effect.score,
        "change": list(effect.change) if effect.change else None,
    }


def _compared(trial: Trial, present: Candidate, chosen: Candidate) -> list[Measured]:
    """Each measure with today's and with the advised queue, and the difference with its
    interval."""
    delays = [name for name in trial.names(".delay_p95_s") if name.startswith("datagrams.")]
    wanted = [term.measure for term in trial.terms]
    rows: list[Measured] = []
    for name in dict.fromkeys((*wanted, *delays, *SHOWN)):
        before, after = trial.measured(present, name), trial.measured(chosen, name)
        if before is None and after is None:
            continue
        about = measures.defaults(name)
        rows.append(
            {
                "measure": name,
                "title": _titled(name, about.get("title", name)),
                "unit": about.get("unit", ""),
                "scale": about.get("scale", 1.0),
                "digits": about.get("digits", 3),
                "today": list(before) if before else None,
                "advised": list(after) if after else None,
                "difference": _listed(trial.difference(present, chosen, name)),
            }
        )
    return rows


def _titled(measure: str, title: str) -> str:
    """The title of a measure; that of a group of datagrams includes the group's name."""
    group = re.fullmatch(r"datagrams\.(.+)\.\w+", measure)
    return f"{title}: {group[1]}" if group else title


def _listed(found: tuple[float, float, float] | None) -> list[float] | None:
    return list(found) if found else None
