"""The kernel's own commands of queues (tc-testing), read by `aqmlab from-tc`.

Usage: python -m validation.linux.tdc FOLDER

FOLDER is tools/testing/selftests/tc-testing/tc-tests/qdiscs of the kernel's source; nothing of it
is copied here. A command is *understood* if each of its words is read or has no effect on packets.
The queue is *as tc makes it* if the output that the kernel's test expects from tc describes the
queue that the command describes.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.errors import SpecError
from aqmlab.targets import from_tc

KINDS = {
    "cake", "cake_mq", "choke", "codel", "drr", "dualpi2", "fq_codel", "fq_pie", "gred", "hhf",
    "pfifo", "bfifo", "pfifo_fast", "pie", "red", "sfb", "sfq",
}  # fmt: skip
"""Disciplines of the kernel that aqmlab has."""


@dataclass(frozen=True)
class Command:
    """A valid command about such a queue, with the output that the kernel's test expects."""

    file: str
    line: str
    kind: str
    words: tuple[str, ...]
    expected: str
    changes: bool
    """Whether the command changes an existing queue: parameters that it omits keep their values."""


def commands(folder: Path) -> Iterator[Command]:
    """All commands in the folder's files."""
    for path in sorted(folder.glob("*.json")):
        for test in json.loads(path.read_text(encoding="utf-8")):
            line = re.sub(r"\$(DUMMY|ETH|DEV\d?)", "eth0", test["cmdUnderTest"]).replace(
                "$TC", "tc"
            )
            valid = str(test.get("expExitCode")) == "0"
            if not valid or not re.match(r"tc qdisc (add|replace|change)\b", line):
                continue
            try:
                seen = from_tc.seen(line)
            except SpecError:
                continue
            for one in seen[:1]:
                if one.kind in KINDS:
                    expected = test.get("matchPattern") or ""
                    changes = " change " in line
                    yield Command(path.stem, line, one.kind, tuple(one.words), expected, changes)


def judged(command: Command) -> tuple[str, str]:
    """How a command was read, in a word, and why."""
    try:
        queue, remarks = from_tc.parameters(command.kind, command.words, printed=False)
    except SpecError as error:
        return "not understood", str(error)
    left_out = [remark for remark in remarks if "left out" in remark]
    if left_out:
        return "not understood", left_out[0]
    printed = _printed(command)
    if printed is None:
        return "understood", "the test expects no settings"
    other, _ = from_tc.parameters(command.kind, printed, printed=True)
    ours, theirs = _in_bytes(queue), _in_bytes(other)
    differ = {
        name: (ours[name], value)
        for name, value in theirs.items()
        if name in ours and not _is_shown_as(name, ours[name], value)
    }
    missing = [name for name in queue if name not in other and queue[name] is not False]
    if differ:
        return "another queue", ", ".join(f"{k}: {a}, tc shows {b}" for k, (a, b) in differ.items())
    if missing and not command.changes and ".*" not in command.expected:
        return "as tc makes it", f"not shown: {', '.join(missing)}"
    return "as tc makes it", ""


def _in_bytes(queue: dict[str, Any]) -> dict[str, Any]:
    """A queue whose RED thresholds are in bytes, as tc prints them, without `mean_packet_bytes`, by
    which aqmlab converts them to packets."""
    if queue["aqm"] not in ("red", "ared", "gred"):
        return queue
    packet = queue.get("mean_packet_bytes", 1000)
    sized = {name: round(packet * queue[name]) for name in ("min_th", "max_th") if name in queue}
    if queue["aqm"] == "gred":
        # The limit is a whole number of packets in aqmlab; tc's in bytes is another number of
        # packets of another size.
        queue = {name: value for name, value in queue.items() if name != "limit"}
    return {name: value for name, value in queue.items() if name != "mean_packet_bytes"} | sized


def _is_shown_as(name: str, ours: Any, shown: Any) -> bool:
    """Whether tc prints this value: times in the kernel's unit of 1,024 ns and with three digits;
    gains rounded down to the kernel's unit, by at most 1/256."""
    if name in ("alpha", "beta"):
        return -1e-5 <= ours - shown <= 1 / 256 + 1e-5
    if isinstance(ours, str) and ours.endswith(" s"):
        nanoseconds = round(float(ours[:-2]) * 1e9)
        kept = nanoseconds >> 10 << 10
        printed = {float(f"{time // 1000 / 1e6:.3g}") for time in (kept, nanoseconds)}
        return float(shown[:-2]) in printed
    return ours == shown


def _printed(command: Command) -> list[str] | None:
    """The words that the test expects after the queue's name and position; None if it expects no
    settings."""
    # A word whose value the pattern leaves open is no evidence.
    text = re.sub(r"\b[a-z_]+(\.\*| \[0-9\]\+)|\b(overhead|limit) *$", " ", command.expected)
    text = re.sub(r"\[0-9\]\+|\.\*|\$$|\\", " ", text)
    text = re.sub(r"\([^)]*\|[^)]*\)", f"{command.kind} 1: root", text).removeprefix("qdisc ")
    words = text.split()
    if not words or words[0] != command.kind:
        return None
    words = [word for word in words[1:] if word not in ("root", "refcnt")]
    words = words[1:] if words and words[0].endswith(":") else words
    return words[1:] if words[:1] == ["2"] else words


def table(results: dict[str, Counter[str]]) -> str:
    """A table with the numbers of commands by file."""
    heads = ("as tc makes it", "understood", "another queue", "not understood")
    lines = [f"| file | commands | {' | '.join(heads)} |", "| --- " * (len(heads) + 2) + "|"]
    total: Counter[str] = Counter()
    for file, counts in results.items():
        total += counts
        lines.append(_row(file, counts, heads))
    return "\n".join([*lines, _row("all", total, heads)])


def _row(name: str, counts: Counter[str], heads: tuple[str, ...]) -> str:
    return (
        f"| {name} | {sum(counts.values())} | {' | '.join(str(counts[head]) for head in heads)} |"
    )


def main() -> int:
    """Reads the folder's commands, and prints counts and deviations. Returns 0 if there is no
    deviation."""
    parser = argparse.ArgumentParser(
        prog="python -m validation.linux.tdc", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    results: dict[str, Counter[str]] = {}
    open_: list[Any] = []
    for command in commands(arguments.folder):
        word, why = judged(command)
        results.setdefault(command.file, Counter())[word] += 1
        if word in ("another queue", "not understood"):
            open_.append(f"{word}: {command.line}: {why}")
    print(table(results), *open_, sep="\n")
    return int(bool(open_))


if __name__ == "__main__":
    raise SystemExit(main())
