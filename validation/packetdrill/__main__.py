"""Packetdrill's scripts played to `tcp::Endpoint`: which pass, differ by what, cannot be played.

Usage: python -m validation.packetdrill FOLDER... [--profile NAME] [--all] [--record FILE]
The scripts are the kernel's (tools/testing/selftests/net/packetdrill of its source) and Google's
(gtests/net/tcp of its repository); neither is copied here. `--record` writes what the page of
validation shows. Build the end first: cargo build --release -p aqmlab-tcp --example drill
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from validation.packetdrill.end import PROGRAM
from validation.packetdrill.explained import EXPLAINED
from validation.packetdrill.play import Result, play
from validation.packetdrill.topics import TOPICS, topic

OUTCOMES = ("passed", "explained", "failed", "not run")


def outcome(path: Path, result: Result) -> str:
    """The outcome of a script; a difference with a known cause is *explained*."""
    if result.outcome == "failed" and path.name.removeprefix("tcp_") in EXPLAINED:
        return "explained"
    return result.outcome


def described(folder: Path, profile: str) -> list[dict[str, Any]]:
    """Plays every script in a folder."""
    rows = []
    for path in sorted(folder.rglob("*.pkt")):
        result = play(path, profile)
        found = outcome(path, result)
        row = {"script": str(path.relative_to(folder)), "topic": topic(path), "outcome": found}
        if found != "passed":
            row |= {"word": result.word, "detail": result.detail}
        rows.append(row)
    return rows


def recorded(rows: list[dict[str, Any]]) -> dict[str, str]:
    """What is kept of them: outcome and, after a colon, the word."""
    return {
        row["script"]: ": ".join([row["outcome"], *([row["word"]] if "word" in row else [])])
        for row in rows
    }


def read_record(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of a record, by folder."""
    kept: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    return {
        folder: [
            {"script": name, "topic": topic(Path(name)), "outcome": said.split(": ")[0]}
            for name, said in scripts.items()
        ]
        for folder, scripts in kept.items()
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Scripts by topic and outcome, as a Markdown table."""
    counts = Counter((row["topic"], row["outcome"]) for row in rows)
    head = "| scripts about | passed | explained | failed | not run |"
    lines = [head, "| --- | --- | --- | --- | --- |"]
    for name in (*TOPICS, "other"):
        numbers = [counts[name, found] for found in OUTCOMES]
        if sum(numbers):
            lines.append(f"| {name} | {' | '.join(map(str, numbers))} |")
    return "\n".join(lines)


def main() -> int:
    """Plays the folders' scripts, prints counts and what did not pass; 0 if each is explained."""
    parser = argparse.ArgumentParser(
        prog="python -m validation.packetdrill", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--profile", default="linux")
    parser.add_argument("--all", action="store_true", help="also list the scripts that are not run")
    parser.add_argument("--record", type=Path, help="write the results as JSON")
    arguments = parser.parse_args()
    if not PROGRAM.exists():
        parser.error(f"{PROGRAM} is not there: cargo build --release -p aqmlab-tcp --example drill")
    failed = 0
    record: dict[str, dict[str, str]] = {}
    for folder in arguments.folders:
        rows = described(folder, arguments.profile)
        record[folder.name] = recorded(rows)
        print(f"{folder}: {len(rows)} scripts\n\n{table(rows)}\n")
        for row in rows:
            if row["outcome"] == "failed" or (arguments.all and row["outcome"] != "passed"):
                print(f"{row['outcome']}: {row['script']}: {row['word']}, {row['detail']}")
        reasons = Counter(row["word"] for row in rows if row["outcome"] == "not run")
        print(
            "not run:", ", ".join(f"{word} {count}" for word, count in reasons.most_common()), "\n"
        )
        failed += sum(row["outcome"] == "failed" for row in rows)
    if arguments.record:
        arguments.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
