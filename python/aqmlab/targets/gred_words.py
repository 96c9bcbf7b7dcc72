"""The words of tc's gred, which has only limits until a virtual queue is given, and then red's
parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aqmlab.errors import SpecError

from .tc_words import BYTES

_BARE = (
    "this gred has no virtual queue yet (tc qdisc change ... DP): until then it is a FIFO of its "
    "limit (gred_enqueue of sch_gred.c)"
)
_DEVICE = 1000 * 1514
"""Default limit in bytes: txqueuelen (1,000) packets of the device's MTU plus header
(gred_init)."""

Read = Callable[[str, Sequence[str], bool], tuple[dict[str, Any], list[str]]]


def parameters(words: Sequence[str], printed: bool, read: Read) -> tuple[dict[str, Any], list[str]]:
    """A gred as a scenario's queue, and remarks on what was left out; `read` converts red's
    words."""
    marks = [at for at, word in enumerate(words) if word in ("vq", "DP")]
    if len(marks) > 1:
        raise SpecError(
            "a gred with several virtual queues has no counterpart here, where packets carry no "
            'class: give one of them, or describe it as aqm = "gred" (aqmlab describe gred)'
        )
    if not marks:
        limit = words[words.index("limit") + 1] if "limit" in words[:-1] else ""
        return {"aqm": "droptail", "limit_bytes": BYTES.read(limit, {}) if limit else _DEVICE}, [
            _BARE
        ]
    # In tc's output, words before the virtual queue are about the whole gred; in a command they are
    # about the virtual queue.
    own = words[marks[0] :] if printed else list(words)
    at = own.index("vq" if "vq" in own else "DP")
    rest = [*own[:at], *own[at + 2 :]]
    if "prio" in rest:
        rest = [*rest[: rest.index("prio")], *rest[rest.index("prio") + 2 :]]
    queue, remarks = read("red", rest, printed)
    packet = queue.get("mean_packet_bytes", 1000)
    kept = {name: queue[name] for name in ("min_th", "max_th", "w_q", "max_p") if name in queue}
    kept |= {name: True for name in ("ecn", "harddrop") if queue.get(name)}
    if "limit_bytes" in queue:
        kept["limit"] = max(1, queue["limit_bytes"] // packet)
    return {"aqm": "gred", "virtual_queues": 1, "mean_packet_bytes": packet, **kept}, remarks
