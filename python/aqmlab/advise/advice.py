"""From a line and an objective to an answer: race, compare with today, try what was assumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import targets
from aqmlab.errors import SpecError
from aqmlab.io.files import reported
from aqmlab.runs.laboratory import Laboratory
from aqmlab.runs.progress import Progress
from aqmlab.runs.store import Store
from aqmlab.simulator import engine, measures

from . import candidates, objective, sensitivity
from .candidates import PRESENT, Candidate
from .objective import Term
from .race import Place, Rounds, advised, race
from .situation import ROUTER, Situation
from .trial import Trial, with_users

if TYPE_CHECKING:
    from aqmlab.runs.cluster import Cluster

QUICK = Rounds((2, 4, 8))
FULL = Rounds((2, 4, 8, 16))
SHOWN = (
    *("voip_r_mean", "voip_mouth_to_ear_mean_s", "page_load_p50_s", "page_load_p90_s"),
    *("response_p50_s", "response_p90_s", "share_le_1s", "requests_open_at_end"),
    *("video_rebuffer_ratio", "video_bitrate_mean_bits_per_s"),
    *("queue_delay_mean_s", "drop_rate", "utilisation"),
)
"""Measures that are told of today's queue and of the advised one, where there are some."""
FILE = "advice.json"
FRAMINGS: dict[str, dict[str, Any]] = {
    "ethernet": {"overhead": 38, "mpu": 84},
    "docsis": {"overhead": 18, "mpu": 64},
    "pppoe-ptm": {"framing": "ptm", "overhead": 30},
    "bridged-ptm": {"framing": "ptm", "overhead": 22},
    "pppoe-llcsnap": {"framing": "atm", "overhead": 40},
    "pppoe-vcmux": {"framing": "atm", "overhead": 32},
    "bridged-llcsnap": {"framing": "atm", "overhead": 32},
    "pppoa-vcmux": {"framing": "atm", "overhead": 10},
    "ipoa-llcsnap": {"framing": "atm", "overhead": 16},
}
"""How cake is told a link's framing (docs/links.md, tc-cake(8))."""


@dataclass(frozen=True)
class Wish:
    """What was asked."""

    situation: Situation
    objective: str
    disciplines: Sequence[str] = ()
    rounds: Rounds = FULL
    seed: int = 1
    """The first seed: others follow it."""
    engine: str = "race"
    trials: int = 40
    """Of the optional engine for continuous settings."""
    commands: Sequence[str] = field(default=("tc",))


def advise(
    wish: Wish,
    *,
    out: Path | None = None,
    fresh: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
    on: Cluster | None = None,
) -> dict[str, Any]:
    """The answer, as JSON takes it. With `out` the same call continues where it was stopped."""
    terms = objective.parse(wish.objective)
    store = Store.open(out, fresh=fresh) if out is not None else None
    laboratory = Laboratory(store, progress=progress, jobs=jobs, on=on)
    with laboratory.resumable():
        trial = Trial(with_users(wish.situation, laboratory), terms, laboratory)
        places = _raced(trial, wish)
        chosen = advised(places)
        answer = _answer(trial, wish, places, chosen)
    if store is not None:
        from aqmlab.report import advice as pages

        with reported(store.folder):
            store.write_json(FILE, answer)
            store.write_manifest({"advice": answer["asked"], "name": "advice", "runs": []})
            with store.writing("report.html") as draft:
                draft.write_text(pages.render(answer), encoding="utf-8")
        answer["folder"] = str(store.folder)
    return answer


def _raced(trial: Trial, wish: Wish) -> list[Place]:
    those = candidates.of(trial.situation, wish.disciplines)
    trial.evaluate(those[:1], [wish.seed])
    known = trial.seen[PRESENT, wish.seed]
    if lacking := objective.missing(trial.terms, known):
        raise SpecError(
            f'"{lacking[0].words}" is of {lacking[0].measure}, which these users do not have: '
            "leave it out or give other --users"
        )
    places = race(those, trial.evaluate, wish.rounds, wish.seed)
    if wish.engine == "optuna":
        from . import continuous

        best = advised(places)
        found = continuous.search(trial, best.candidate, wish)
        last = Rounds(wish.rounds.seeds[-1:], len(places))
        final = [place.candidate for place in places if place.final]
        places = race([*final, *found], trial.evaluate, last, wish.seed)
    return places


def _answer(trial: Trial, wish: Wish, places: Sequence[Place], chosen: Place) -> dict[str, Any]:
    present = next(place for place in places if place.candidate.name == PRESENT)
    rival = next(
        (p for p in places if p.final and p.candidate.aqm != chosen.candidate.aqm), present
    )
    seeds = range(wish.seed, wish.seed + max(2, wish.rounds.seeds[-1] // 2))
    kept = [chosen.candidate, present.candidate]
    if rival.candidate.name not in {one.name for one in kept}:
        kept.insert(1, rival.candidate)
    kept = list({one.name: one for one in kept}.values())
    tuned = chosen.candidate.queue is not None
    most = 4 if wish.rounds is QUICK else 12
    return {
        "asked": {
            "line": trial.situation.told,
            "place": trial.situation.place,
            "objective": wish.objective,
            "seed": wish.seed,
            "engine": wish.engine,
            "version": str(engine.version()),
        },
        "terms": [_term(term) for term in trial.terms],
        "advised": chosen.candidate.name,
        "discipline": chosen.candidate.aqm,
        "places": [_place(place) for place in places],
        "present": _compared(trial, present.candidate, chosen.candidate),
        "parameters": [
            _effect(effect)
            for effect in (
                sensitivity.parameters(trial, chosen.candidate, seeds, most) if tuned else []
            )
        ],
        "surroundings": [
            {"what": what, "effects": [_effect(effect) for effect in effects]}
            for what, effects in sensitivity.surroundings(trial, kept, seeds)
        ],
        "commands": commands(trial.situation, chosen.candidate, wish.commands),
    }


def _term(term: Term) -> dict[str, Any]:
    named = ("words", "measure", "bad", "enough", "best", "source", "weight")
    return {name: getattr(term, name) for name in named}


def _place(place: Place) -> dict[str, Any]:
    return {
        "name": place.candidate.name,
        "queue": dict(place.candidate.queue) if place.candidate.queue else None,
        "seeds": place.seeds,
        "score": [place.mean, place.low, place.high],
        "behind": list(place.behind),
        "equal": place.equal,
        "final": place.final,
    }


def _effect(effect: sensitivity.Effect) -> dict[str, Any]:
    return {
        "what": effect.what,
        "candidate": effect.candidate,
        "score": effect.score,
        "change": list(effect.change) if effect.change else None,
    }


def _compared(trial: Trial, present: Candidate, chosen: Candidate) -> list[dict[str, Any]]:
    """What today's queue costs: each measure of both, and the difference with its interval."""
    delays = [name for name in trial.names(".delay_p95_s") if name.startswith("datagrams.")]
    wanted = [term.measure for term in trial.terms]
    rows = []
    for name in dict.fromkeys((*wanted, *delays, *SHOWN)):
        before, after = trial.measured(present, name), trial.measured(chosen, name)
        if before is None and after is None:
            continue
        about = measures.defaults(name)
        rows.append(
            {
                "measure": name,
                "title": about.get("title", name),
                "unit": about.get("unit", ""),
                "scale": about.get("scale", 1.0),
                "digits": about.get("digits", 3),
                "today": list(before) if before else None,
                "advised": list(after) if after else None,
                "difference": _listed(trial.difference(present, chosen, name)),
            }
        )
    return rows


def _listed(found: tuple[float, float, float] | None) -> list[float] | None:
    return list(found) if found else None


def commands(
    situation: Situation, chosen: Candidate, wanted: Sequence[str]
) -> dict[str, list[dict[str, Any]]]:
    """What to type for the advised queue, by direction; nothing to type for today's."""
    if chosen.queue is None:
        return {}
    told: dict[str, list[dict[str, Any]]] = {}
    link = chosen.scenario(situation)["link"]
    place = link[-1] if situation.place == ROUTER else link[0]
    complete = engine.check({**chosen.scenario(situation), "seed": 1})["link"]
    full = complete[-1] if situation.place == ROUTER else complete[0]
    for way in situation.directions:
        key = "rate" if way == "forward" else "reverse_rate"
        rate = full.get(key) or full["rate"]
        queue = {name: value for name, value in full[way].items() if name != "aqm"}
        if chosen.aqm == "cake" and situation.place == ROUTER:
            # On a real router cake is the shaper itself, and counts the line's frames.
            queue |= {"rate": rate, **FRAMINGS.get(full.get("framing", ""), {})}
        wrote = set(place[way]) - {"aqm"}
        one = targets.queue(chosen.aqm, queue, wrote | {"rate"}, rate)
        told[way] = [_command(target, one) for target in wanted]
    return told


def _command(target: str, queue: targets.Queue) -> dict[str, Any]:
    try:
        return targets.commands(target, queue).document()
    except SpecError as error:
        return {"target": target, "blocks": [], "lost": [str(error)], "pitfalls": []}
