"""FreeBSD: dummynet's AQMs by `ipfw` (ipfw(8) of FreeBSD 11 and later, from memory; not
run here)."""

from __future__ import annotations

from collections.abc import Sequence

from .plan import DEVICE, UNDO, Lane
from .words import Entry, Given, Kind, Row, choice, flag, number

RELEASE = "FreeBSD 11 and later, ipfw(8) with dummynet (recalled, not run)"
GENERAL = (
    "a pipe is a shaper: its rate must be a little less than that of what comes after it",
    "dummynet works in ticks: kern.hz = 1000 or more, or a pipe sends in bursts of a tick",
    "more than 100 slots need net.inet.ip.dummynet.pipe_slot_limit",
    "dummynet counts IP bytes, as our disciplines do with header_bytes = 0",
)
REMEDY = "; ALTQ in pf has RED without parameters besides"


def _time(value: float, _: Given) -> str:
    return f"{number(value * 1e3)}ms" if value >= 1e-3 else f"{number(value * 1e6)}us"


def _read_time(text: str, _: Given) -> float:
    return float(text[:-2]) * (1e-3 if text.endswith("ms") else 1e-6)


TIME = Kind(_time, _read_time)
COUNT = Kind(lambda value, _: str(round(value)), lambda text, _: int(text))
BYTES = Kind(lambda value, _: f"{round(value)}Bytes", lambda text, _: int(text[:-5]))
REAL = Kind(lambda value, _: number(value), lambda text, _: float(text))

_RED = Kind(
    lambda value, given: (
        f"{number(value)}/{round(given['min_th'])}/{round(given['max_th'])}"
        f"/{number(given['max_p'])}"
    ),
    lambda text, _: float(text.partition("/")[0]),
)
_PART = "part of w_q/min_th/max_th/max_p, thresholds whole"


_QUEUE = (Row("limit_bytes", "queue", BYTES), Row("limit", "queue", COUNT))
_CODEL = (
    Row("target", "target", TIME),
    Row("interval", "interval", TIME),
    Row("ecn", kind=flag("ecn", "noecn")),
    Row("ce_threshold"),
    Row("mtu", always=1500, note="its largest packet"),
)
_PIE = (
    Row("target", "target", TIME),
    Row("t_update", "tupdate", TIME),
    Row("alpha", "alpha", REAL),
    Row("beta", "beta", REAL),
    Row("max_burst", "max_burst", TIME),
    Row("mark_ecnth", "max_ecnth", REAL),
    Row("ecn", kind=flag("ecn", "noecn")),
    Row("cap_drop", kind=flag("capdrop", "nocapdrop")),
    Row("derandomise", kind=flag("drand", "nodrand")),
)
_TURNS = (
    Row("quantum", "quantum", COUNT),
    Row("limit", "limit", COUNT),
    Row("flows", "flows", COUNT),
)
_RED_ROWS = (
    *_QUEUE,
    Row("ecn", kind=flag("ecn")),
    Row("min_th", kind=None, always=lambda given: round(given["min_th"]), note=_PART),
    Row("max_th", kind=None, always=lambda given: round(given["max_th"]), note=_PART),
    Row("max_p", kind=None, always=lambda given: given["max_p"], note=_PART),
    Row("wait", always=False),
    Row("byte_probability", always=False),
    Row("queue_in_bytes", always=False, note="thresholds are slots, or bytes if the queue is"),
)
_SLOTS = "a queue of more than 100 slots is refused until pipe_slot_limit is raised"

ENTRIES = (
    Entry("droptail", "droptail", _QUEUE, implies={"from_front": False}, pitfalls=(_SLOTS,)),
    Entry(
        "red",
        "gred",
        (Row("w_q", "gred", _RED), *_RED_ROWS),
        implies={"gentle": True},
        fits=lambda given: bool(given.get("gentle")),
        pitfalls=(_SLOTS,),
    ),
    Entry(
        "red",
        "red",
        (Row("w_q", "red", _RED), *_RED_ROWS),
        implies={"gentle": False},
        pitfalls=(_SLOTS,),
    ),
    Entry("codel", "codel", (*_QUEUE, *_CODEL), pitfalls=(_SLOTS,)),
    Entry(
        "pie",
        "pie",
        (*_QUEUE, *_PIE, Row("delay", kind=choice(timestamp="ts", rate="dre"))),
        pitfalls=(_SLOTS,),
    ),
    Entry(
        "fq_codel",
        "fq_codel",
        (*_CODEL, *_TURNS, Row("limit_bytes"), Row("drop_batch")),
        pitfalls=("its queue takes no mask: the scheduler separates flows itself",),
    ),
    Entry("fq_pie", "fq_pie", (*_PIE, *_TURNS)),
)
_SCHEDULERS = ("fq_codel", "fq_pie")
_NAMED = ("red", "gred")
"""Entries whose name is written by their first parameter already."""
SLOTS = 100
"""Largest number of packets in a pipe's queue, unless the system's limit is raised first."""
RULES = 10
"""The number of the first direction's rule: /etc/rc.firewall numbers its own from 50 on."""

LOADED: tuple[str, list[str]] = (
    "once; but for the first line ipfw refuses every packet when it is loaded, but for the last "
    "what leaves a pipe passes no further rule of yours",
    [
        "kenv net.inet.ip.fw.default_to_accept=1",
        "kldload -n ipfw dummynet",
        "sysctl net.inet.ip.fw.one_pass=0",
    ],
)
"""Commands that load the modules without cutting off a user who is logged in over the network, and
without opening a firewall."""


NATIVE = ("fq_codel", "fq_pie", "codel", "pie")
"""AQM algorithms with a kernel module in the base system of FreeBSD."""


def frame(lane: Lane) -> list[tuple[str, list[str]]]:
    """The lines for one queue: a pipe for the line; fair queues are schedulers, others are the
    pipe's own queue."""
    return [LOADED, ("at DEV", _pipe(1, lane.entry, lane.words, lane.line, "out via DEV"))]


def arrange(lanes: Sequence[Lane], dev: str = DEVICE) -> list[tuple[str, list[str]]]:
    """A pipe for each direction: for packets in through the device towards the line, and for
    packets out."""
    blocks = [LOADED]
    for nth, lane in enumerate(lanes, 1):
        at = f"in via {dev}" if lane.down and lane.shaped else f"out via {lane.device(dev)}"
        title = f"{lane.way}, {at}"
        blocks.append((title, _pipe(nth, lane.entry, lane.words, lane.line, at)))
    return blocks


def unsaid(lane: Lane) -> list[str]:
    """Properties of the line that a pipe cannot express."""
    if lane.framing.bare or not lane.shaped:
        return []
    return ["a pipe counts IP bytes, not the line's framing: it sends more than was raced"]


def undone(lanes: Sequence[Lane], _: str) -> str:
    """The sentence on how to remove the configuration."""
    pipes = [str(nth) for nth in range(1, len(lanes) + 1)]
    # Deleting a pipe deletes its scheduler, but not the scheduler's queue.
    queues = [n for n, lane in zip(pipes, lanes, strict=True) if lane.entry.name in _SCHEDULERS]
    words = [f"ipfw delete {' '.join(str(RULES * int(n)) for n in pipes)}"]
    words += [f"ipfw queue delete {' '.join(queues)}"] if queues else []
    words.append(f"ipfw pipe delete {' '.join(pipes)}")
    return f"{UNDO}{'; '.join(words)}; the modules and one_pass=0 can stay"


def _pipe(nth: int, entry: Entry, words: list[str], line: str, at: str) -> list[str]:
    """The lines of a pipe. Rules of one number would accumulate, so an old rule is deleted
    first."""
    kind = "queue" if entry.name in _SCHEDULERS else "pipe"
    rule = RULES * nth
    rules = [
        f"ipfw -q delete {rule}",
        f"ipfw add {rule} {kind} {nth} ip from any to any {at}",
    ]
    if entry.name in _SCHEDULERS:
        said = " ".join(words)
        return [
            f"ipfw pipe {nth} config bw {line}",
            f"ipfw sched {nth} config pipe {nth} type {entry.name} {said}",
            f"ipfw queue {nth} config sched {nth}",
            *rules,
        ]
    own = [] if entry.name in _NAMED else [entry.name]
    sized = words[:2] if words[:1] == ["queue"] else []
    size = next((words[i : i + 2] for i, word in enumerate(words) if word == "queue"), sized)
    rest = [w for i, w in enumerate(words) if w != "queue" and (i == 0 or words[i - 1] != "queue")]
    more = size[1:] if size and size[1].isdigit() and int(size[1]) > SLOTS else []
    return [
        *(f"sysctl net.inet.ip.dummynet.pipe_slot_limit={slots}" for slots in more),
        " ".join([f"ipfw pipe {nth} config bw", line, *size, *own, *rest]),
        *rules,
    ]
