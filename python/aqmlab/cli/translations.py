"""`describe … --tc` and its sisters: a discipline in the words of real systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aqmlab import targets
from aqmlab.errors import AqmlabError, SpecError
from aqmlab.io.plain import Paper, paper
from aqmlab.simulator import engine
from aqmlab.simulator.forms import Entry

from . import reference

SCENARIO = ".toml"
"""How the name of a scenario's file ends; a queue of it is written after a colon."""
FIRST_QUEUE = "link.0.forward"


def answer(
    name: str, settings: Sequence[str], rate: str, wanted: Sequence[str], json: bool
) -> None:
    """Prints the commands for the wanted targets."""
    way = targets.UP
    if is_queue_of_scenario(name):
        way = _direction(name)
        name, of_file, rate = queue_of_scenario(name)
        settings = [*of_file, *settings]
    described = of_entry(reference.described(name, settings, rate), wanted, way)
    if json:
        from . import as_json

        documents = {key: one.document() for key, one in zip(wanted, described, strict=True)}
        print(as_json.to_json(documents))
        return
    for one in described:
        show(one, paper())


def of_entry(entry: Entry, wanted: Sequence[str], way: str = targets.UP) -> list[targets.Commands]:
    """A described discipline in each of the wanted targets, for one direction of a line."""
    if entry.get("kind") != "aqm":
        raise AqmlabError(
            f"{entry['name']} is no queue discipline: only those have commands (`aqmlab list aqm`)"
        )
    effective, rate = entry.get("effective", {}), entry.get("rate", "")
    queue = targets.queue(entry["name"], effective, set(entry.get("written", {})), rate)
    if effective.get("ingress"):
        way = targets.DOWN
    return [targets.commands(target, queue, way) for target in wanted]


def is_queue_of_scenario(name: str) -> bool:
    """Whether a name is a scenario's file, perhaps with a queue of it."""
    return name.partition(":")[0].endswith(SCENARIO)


def _load(file: str) -> Mapping[str, Any]:
    """The scenario of a file."""
    from aqmlab.experiment.experiment import load

    return load(file).scenario


def queue_of_scenario(name: str) -> tuple[str, list[str], str]:
    """Discipline, settings and rate of a scenario's queue: `home.toml:link.0.reverse`."""
    file, _, path = name.partition(":")
    scenario = engine.check(_load(file))
    place, _, way = (path or FIRST_QUEUE).rpartition(".")
    try:
        link = scenario["link"][int(place.removeprefix("link."))]
        queue = dict(link[way])
    except (ValueError, LookupError, TypeError) as error:
        raise SpecError(
            f"{file} has no queue {path or FIRST_QUEUE}: write for example {file}:{FIRST_QUEUE}"
        ) from error
    rate = link.get(f"{way}_rate" if way == "reverse" else "rate") or link.get("rate")
    settings = [f"{key}={_toml(value)}" for key, value in queue.items() if key != "aqm"]
    return queue["aqm"], settings, rate or reference.RATE


def _direction(name: str) -> str:
    """The direction of a scenario's queue; on a line with two rates `forward` is that of
    downloads."""
    file, _, path = name.partition(":")
    links = _load(file).get("link") or [{}]
    both = any("reverse_rate" in link or "access" in link for link in links)
    return targets.DOWN if both and not path.endswith(".reverse") else targets.UP


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def in_own_words(entry: Entry) -> str:
    """What a target calls the values of a discipline whose profile is its own implementation, such
    as ns-3 those of profile `ns3`; nothing of other profiles."""
    target = targets.of_profile(entry.get("effective", {}).get("profile"))
    if target is None:
        return ""
    (described,) = of_entry(entry, [target])
    pairs = [
        line.strip(' ",);') for _, lines in described.blocks for line in lines if '    "' in line
    ]
    return f"in {described.target} ({described.release}): " + ", ".join(
        pair.replace('", ', " = ", 1).replace('"', "") + ")" for pair in pairs
    )


def show(described: targets.Commands, paper: Paper) -> None:
    """Commands as they are typed, then what is lost and what to know."""
    paper.heading(f"{described.target}  ({described.release})")
    for title, lines in described.blocks:
        paper.note(f"# {title}")
        for line in lines:
            paper.line(line)
    for title, sentences in (("cannot be said", described.lost), ("to know", described.pitfalls)):
        if sentences:
            paper.heading(title)
            for sentence in sentences:
                paper.sentence(f"- {sentence}")
    paper.line()
