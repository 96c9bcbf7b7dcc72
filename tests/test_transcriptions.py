"""Two implementations of what matters: every discipline against its transcription.

`transcriptions/NAME.py` holds the published pseudocode of the discipline NAME. Here it is handed
the same calls and the same random numbers as the simulator, and must agree call by call: the
verdicts and their order, the packet sent and its ECN field, how many random numbers were taken,
the inner state, and when the periodic update falls due. The calls come from the published test
vectors (`vectors/NAME.json.gz`) and from fresh trials under every parameter set of the
transcription: one for each set, and `make validate` adds three.
"""

from __future__ import annotations

import gzip
import importlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from transcriptions.base import Discipline, Draws, Packet, Parameters

HERE = Path(__file__).parent
VECTORS = HERE.parent / "vectors"
NAMES = sorted(
    path.stem
    for path in (HERE / "transcriptions").glob("*.py")
    if not path.stem.startswith("_") and path.stem != "base"
)
PACKETS = 1500


def module(name: str) -> ModuleType:
    return importlib.import_module(f"transcriptions.{name}")


def transcription(name: str) -> type[Discipline]:
    """The class `FqCodel` of the file `fq_codel.py`."""
    return getattr(module(name), name.title().replace("_", ""))


class Differs(AssertionError):
    """The two implementations disagree."""


def about(case: dict, number: int, call: dict, what: str, simulator: object, ours: object) -> str:
    shown = {k: v for k, v in call.items() if k in ("at_ns", "call", "packet", "draws")}
    return (
        f"{case['title']} ({case['parameters']}), call {number}: {json.dumps(shown)}\n"
        f"{what}\n  simulator:     {simulator}\n  transcription: {ours}"
    )


def close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def replay(name: str, case: dict) -> Counter[str]:
    """Hands a case's calls to the transcription; returns how often which event happened."""
    draws = Draws()
    parameters = Parameters(case["parameters"])
    ours = transcription(name)(parameters, case["line_bits_per_s"], draws)
    ignored = set(parameters.written) - parameters.read
    assert not ignored, f"{name} never looks at {sorted(ignored)}"
    described: dict[str, float] = dict(case.get("state", {}))
    seen: Counter[str] = Counter()
    for number, call in enumerate(case["calls"]):
        now, events = call["at_ns"], call.get("events", [])
        described |= call.get("state", {})
        due = ours.due if call["call"] == "tick" else (ours.due or math.inf) > now
        expected = now if call["call"] == "tick" else True
        if due != expected:
            raise Differs(about(case, number, call, "the next update is due", now, ours.due))
        ours.events = []
        draws.offer(call.get("draws", []))
        try:
            sent = make(ours, call)
        except Exception as error:
            error.add_note(about(case, number, call, "raises", "nothing", repr(error)))
            raise
        state = ours.state()
        if (events, sent, state) != (ours.events, call.get("sent"), described) or draws.given:
            for what, theirs, mine in disagreements(call, events, sent, described, state, ours):
                raise Differs(about(case, number, call, what, theirs, mine))
        for kind, _, *why in events:
            seen[" ".join([kind, *why])] += 1
    return seen


def disagreements(
    call: dict,
    events: list,
    sent: dict | None,
    described: dict[str, float],
    state: dict[str, float],
    ours: Discipline,
) -> Iterator[tuple[str, object, object]]:
    """What, in the simulator, here."""
    if events != ours.events:
        yield "events", events, ours.events
    if sent != call.get("sent"):
        yield "sent", call.get("sent"), sent
    if ours.draws.given:
        yield "random numbers left", 0, len(ours.draws.given)
    if state.keys() != described.keys():
        yield "names of the state", sorted(described), sorted(state)
    for name, value in state.items():
        if value != described[name] and not close(value, described[name]):
            yield name, described[name], value


def make(ours: Discipline, call: dict) -> dict | None:
    """Makes one call; returns the packet sent, as a document writes it."""
    now = call["at_ns"]
    if call["call"] == "enqueue":
        ours.enqueue(Packet(**call["packet"], arrived=now), now)
    elif call["call"] == "tick":
        ours.tick(now)
    elif packet := ours.dequeue(now):
        return {"id": packet.id} | ({} if packet.ecn == "not-ect" else {"ecn": packet.ecn})
    return None


def trials(
    core: ModuleType, name: str, seeds: Iterable[int], packets: int = PACKETS
) -> Iterator[dict]:
    """Fresh cases under every parameter set of the transcription."""
    for index, chosen in enumerate(module(name).CASES):
        written = dict(chosen)
        trial = written.pop("trial", {})
        for seed in seeds:
            request = {
                "title": f"{name}: set {index}, seed {seed}",
                "discipline": name,
                "parameters": written,
                "seed": 1000 * index + seed,
                "packets": packets,
                **trial,
            }
            (case,) = json.loads(core.trial(json.dumps(request)))["cases"]
            yield case


def test_every_discipline_has_a_transcription(real_core):
    registered = {entry["name"] for entry in json.loads(real_core.catalogue())["aqm"]}
    assert registered == set(NAMES), (
        "write tests/transcriptions/NAME.py of each (`make new-discipline` writes a stub)"
    )


@pytest.mark.parametrize("name", NAMES)
def test_vectors(name):
    path = VECTORS / f"{name}.json.gz"
    if not path.exists():
        pytest.skip(f"no vectors of {name}")
    covers = getattr(module(name), "covers", lambda _: True)
    cases = [
        c
        for c in json.loads(gzip.decompress(path.read_bytes()))["cases"]
        if covers(c["parameters"])
    ]
    assert cases
    for case in cases:
        replay(name, case)


@pytest.mark.parametrize("name", NAMES)
def test_trials(name, real_core):
    """With a second seed, and more packets, where the first has not shown everything."""
    seen: Counter[str] = Counter()
    for seed, packets in ((1, 1000), (2, PACKETS)):
        for case in trials(real_core, name, [seed], packets):
            seen += replay(name, case)
        if seen["dropped overflow"]:
            break
    # The trials are no proof of anything that did not happen in them.
    assert seen["queued"]
    assert seen["dropped overflow"]
    missing = getattr(module(name), "NEVER", ())
    for kind in ("marked early", "dropped early"):
        assert bool(seen[kind]) == (kind not in missing), f"{name}: {seen}"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_more_trials(name, real_core):
    for case in trials(real_core, name, [2, 3, 4]):
        replay(name, case)
