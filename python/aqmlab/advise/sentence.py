"""The answer in one or two sentences: which queues suffice, which one to take, what it gains."""

from __future__ import annotations

from collections.abc import Sequence

from aqmlab import targets
from aqmlab.report.advice import Measured
from aqmlab.simulator import measures

from .candidates import Candidate
from .race import EQUAL, Place
from .trial import Trial

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
LEAST = 0.0005
"""Differences of scores below this one would be printed as 0.000."""


def of(
    trial: Trial, places: Sequence[Place], chosen: Place, compared: Sequence[Measured], system: str
) -> str:
    """The sentences of the answer: `Any of these three will do: cake, fq_codel, sfq; take cake:
    …`."""
    if chosen.candidate.queue is None:
        return (
            "Leave the queue as it is: nothing that was raced is better by more than "
            f"{EQUAL} of a score, or better beyond chance."
        )
    good = [place for place in places if place.equal or near(place, chosen)]
    equal = sorted(good, key=lambda place: place.candidate.rank)
    names = list(dict.fromkeys(place.candidate.aqm for place in equal))
    taken = f"take {chosen.candidate.name}"
    if len(names) > 1 and chosen.equal:
        title = targets.TARGETS[system][0]
        why = ""
        native = [targets.native(system, name) for name in names]
        if targets.native(system, chosen.candidate.aqm) and not all(native):
            why = f", which {title} has without a further module"
        head = f"Any of these {_counted(len(names))} will do: {', '.join(names)}; {taken}{why}"
    else:
        head = f"T{taken[1:]}"
    gains = [found for found in (_milliseconds(compared), _calls(compared)) if found]
    ahead = _ahead(trial, places, chosen)
    short = _short(trial, chosen)
    return ". ".join([f"{head}: {'; '.join(gains)}" if gains else head, *ahead, *short]) + "."


def near(place: Place, chosen: Place) -> bool:
    """Whether a finalist lies within `EQUAL` below what is advised, so that either will do."""
    return place.final and place.mean > chosen.mean - EQUAL and place.candidate.queue is not None


def standing(place: Place, chosen: Place) -> str:
    """How a candidate compares with the best one; a candidate within `EQUAL` of the advised one is
    compared with that."""
    if not place.equal and near(place, chosen):
        return f"within {EQUAL} of the advised"
    return place.standing


def _counted(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def _milliseconds(compared: Sequence[Measured]) -> str:
    """A text on the change of delay: that of datagrams if there are some, else that in the
    queues."""
    known = [
        (row["measure"], row["today"], row["advised"], row["difference"])
        for row in compared
        if row["difference"] and row["today"] and row["advised"]
    ]
    delays = [row for row in known if row[0].endswith(".delay_p95_s")]
    waits = [row for row in known if row[0] == "queue_delay_mean_s"]
    if not (delays or waits):
        return ""
    # If several groups of datagrams have a delay, the one with the longest delay today is taken.
    _, today, advised, difference = max(delays or waits, key=lambda each: each[1][0])
    words = "95 % of the packets of calls arrive within" if delays else "packets wait on average"
    after, before = advised[0] * 1e3, today[0] * 1e3
    changed = _changed(difference, 1e3, 0)
    return f"{words} {after:.0f} ms in place of {before:.0f} ms ({changed} ms)"


def _calls(compared: Sequence[Measured]) -> str:
    """A text on the change of the rating of calls."""
    row = next((row for row in compared if row["measure"] == "voip_r_mean"), None)
    if row is None or not (row["difference"] and row["today"] and row["advised"]):
        return ""
    after, before = row["advised"][0], row["today"][0]
    changed = _changed(row["difference"], 1, 1)
    return f"calls are rated R {after:.1f} in place of {before:.1f} ({changed})"


def _changed(difference: Sequence[float], scale: float, digits: int) -> str:
    mean, low, high = (value * scale for value in difference)
    half = f" ± {high - mean:.{digits}f}" if high == high else ""
    doubt = ", which may be chance" if low <= 0 <= high else ""
    return f"{mean:+.{digits}f}{half}{doubt}"


def _ahead(trial: Trial, places: Sequence[Place], chosen: Place) -> list[str]:
    """Why the candidate with the best score is not advised, and by how much it scores more."""
    first = places[0]
    score = chosen.behind[0]
    if first.candidate.queue is None or score < LEAST:
        return []
    by = _mostly(trial, first.candidate, chosen.candidate)
    if not chosen.equal:
        return [f"{first.candidate.name} scores {score:.3f} more{by}, but is not available there"]
    return [f"{first.candidate.name} scores {score:.3f} more{by}, which is {_small(chosen)}"]


def _short(trial: Trial, chosen: Place) -> list[str]:
    """A sentence for each term of the objective that the advised queue does not reach."""
    found = []
    for term in trial.terms:
        had = trial.measured(chosen.candidate, term.measure)
        if had is None or term.holds(had[0]):
            continue
        about = measures.defaults(term.measure)
        title, unit = about.get("title", term.measure), about.get("unit", "")
        scale, digits = about.get("scale", 1.0), about.get("digits", 3)
        values = (f"{value * scale:,.{digits}f}" for value in (had[0], term.enough))
        shown = " where ".join(f"{value} {unit}".strip() for value in values)
        found.append(
            f'It does not reach "{term.words}": {_lower(title)} is {shown} would be enough'
        )
    return found


def _lower(title: str) -> str:
    """A title with a lower-case initial, for use within a sentence: `page load`, but `TCP's round
    trips`."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def _small(chosen: Place) -> str:
    if chosen.behind[0] < EQUAL:
        return f"less than the {EQUAL} that anybody would notice"
    return "not more than chance gives"


def _mostly(trial: Trial, one: Candidate, other: Candidate) -> str:
    """The term that gains most, with its measure for both candidates."""
    gains = []
    for term in trial.terms:
        there, here = trial.measured(one, term.measure), trial.measured(other, term.measure)
        gained = term.weight * (trial.grade(one, term) - trial.grade(other, term))
        gains.append((gained, term, there, here))
    gained, term, there, here = max(gains, key=lambda each: each[0])
    if gained <= 0 or there is None or here is None:
        return ""
    return f", mostly by {term.words} ({term.measure} {there[0]:.3g} against {here[0]:.3g})"
