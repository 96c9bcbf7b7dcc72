"""What a script is about, by its name and folder: topics of loss, windows and ECN, and others."""

from __future__ import annotations

import re
from pathlib import Path

TOPICS = {
    "accurate ECN": r"accecn",
    "ECN": r"ecn",
    "CUBIC and HyStart": r"cubic|hystart",
    "recovery, PRR, limited transmit": r"fast_re|prr|fr-|limited.transmit|rto(?!_max)|undo",
    "SACK, RACK, DSACK": r"sack|rack|tlp|reorder|ooo",
    "F-RTO": r"frto|f.rto",
    "slow start and windows": r"slow.start|cwnd|init_?cwnd",
}
"""Topics that count for the goal of the issue."""


def topic(path: Path) -> str:
    """The topic of a script; `other` is Fast Open, system calls, socket options, zero copy and the
    like."""
    name = f"{path.parent.name}/{path.name}".lower()
    if "fastopen" in name or "zerocopy" in name:
        return "other"
    return next((topic for topic, pattern in TOPICS.items() if re.search(pattern, name)), "other")
