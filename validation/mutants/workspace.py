"""A copy of the repository in which every mutant of a crate stands behind its switch, compiled."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from validation.mutants.listing import Mutant
from validation.mutants.schemata import FEATURES, SWITCH, Rewriter, regions

ROUNDS = 60
CALLED = re.compile(r"active\(&\[([\d, ]+)\]")
ARM = re.compile(r"^ *(.*?) if (?:crate::)mutant_switch::active\(&\[(\d+)\]\) == 0", re.MULTILINE)
PROFILE = {
    "CARGO_PROFILE_TEST_OPT_LEVEL": "1",
    "CARGO_PROFILE_TEST_DEBUG": "0",
    "CARGO_INCREMENTAL": "1",
    "CARGO_TERM_COLOR": "never",
    # The switch forks: the workspace forbids what is not safe.
    "RUSTFLAGS": "--cap-lints=allow",
    "RUSTC_BOOTSTRAP": "aqmlab_aqm,aqmlab_sim,aqmlab_tcp,aqmlab_traffic",
}


@dataclass
class Copy:
    """The tree that is rewritten, and which mutants it cannot hold."""

    root: Path
    """The repository."""
    folder: Path
    """The copy; cargo's folder lies beside it."""
    unviable: set[int] = field(default_factory=set)
    """Those that do not compile."""
    unplaced: set[int] = field(default_factory=set)
    """Those that a switch cannot hold: in constants, in conditions with `let`."""
    in_const: set[int] = field(default_factory=set)
    """Those that a switch holds, but only where a `const fn` is called at run time."""
    profile: dict[str, str] = field(default_factory=lambda: dict(PROFILE))
    """How cargo builds it."""

    def refresh(self, rewritten: Collection[str] = ()) -> None:
        """Copies every file of git whose content differs; the rest keeps its time, and so do those
        that are to be written with switches."""
        left_out = {*rewritten, *(f"{name.split('/src/')[0]}/src/lib.rs" for name in rewritten)}
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=self.root, capture_output=True, check=True,
        )  # fmt: skip
        for name in listed.stdout.decode().split("\0"):
            source = self.root / name
            if name in left_out or name.startswith(("docs/images", "python/")):
                continue
            if name and source.is_file():
                write(self.folder / name, source.read_bytes())

    def build(self, mutants: Sequence[Mutant], packages: Sequence[str]) -> dict[str, Path]:
        """Rewrites and compiles until all compiles; test programs by name."""
        for number in range(1, ROUNDS + 1):
            self._rewrite(mutants)
            errors, _ = self.cargo(["check", "--lib"], packages[:1])
            if not errors:
                errors, programs = self.cargo(["test", "--no-run", "--lib", "--tests"], packages)
                assert not errors, errors[0]["rendered"]
                return programs
            before = len(self.unviable) + len(self.unplaced)
            for error in errors:
                self._blame(error)
            after = len(self.unviable) + len(self.unplaced)
            print(
                f"round {number}: {len(errors)} errors, {len(self.unviable)} unviable, "
                f"{len(self.unplaced)} not for a switch",
                file=sys.stderr,
                flush=True,
            )
            if after == before:
                raise RuntimeError(errors[0]["rendered"])
        raise RuntimeError(f"does not compile after {ROUNDS} rounds")

    def _rewrite(self, mutants: Sequence[Mutant]) -> None:
        left_out = self.unviable | self.unplaced
        by_file: dict[str, list[Mutant]] = {}
        for mutant in mutants:
            by_file.setdefault(mutant.file, []).append(mutant)
        placed = set()
        for name, of in by_file.items():
            file = Rewriter(
                (self.root / name).read_bytes(), (m for m in of if m.number not in left_out)
            )
            text = file.rewritten()
            placed |= file.placed
            self.in_const |= file.in_const
            write(self.folder / name, _entry(text) if name.endswith("src/lib.rs") else text)
        for crate in {name.split("/src/")[0] for name in by_file}:
            name = f"{crate}/src/lib.rs"
            if name not in by_file:
                write(self.folder / name, _entry((self.root / name).read_bytes()))
        self.unplaced |= {m.number for m in mutants} - placed - self.unviable

    def cargo(
        self, job: Sequence[str], packages: Sequence[str]
    ) -> tuple[list[dict[str, Any]], dict[str, Path]]:
        """Runs cargo: its errors, and the programs that it made, by name."""
        words = ["cargo", *job, "--message-format=json", "--quiet"]
        for package in packages:
            words += ["--package", package]
        environment = {
            **os.environ,
            **self.profile,
            "CARGO_TARGET_DIR": str(self.folder.parent / "target"),
        }
        done = subprocess.run(
            words, cwd=self.folder, capture_output=True, text=True, check=False, env=environment
        )
        described = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        errors = [
            t["message"]
            for t in described
            if t["reason"] == "compiler-message" and t["message"]["level"] == "error"
        ]
        errors = [e for e in errors if e["spans"]]
        programs = {
            f"{t['target']['name']}-{t['package_id'].split('#')[0].rsplit('/', 1)[-1]}": Path(
                t["executable"]
            )
            for t in described
            if t["reason"] == "compiler-artifact" and t.get("executable")
        }
        if done.returncode and not errors:
            raise RuntimeError(done.stderr.strip()[-2000:])
        return errors, programs

    def _blame(self, error: dict[str, Any]) -> None:
        """Leaves out what an error points at: a changed source, or a switch that cannot stand."""
        spans = [s for e in [error, *error["children"]] for s in e["spans"]]
        for span in sorted(spans, key=lambda s: not s["is_primary"]):
            file = self.folder / span["file_name"]
            if not file.is_file():
                continue
            text = file.read_bytes()
            begin, end = span["byte_start"], span["byte_end"]
            at = [n for a, b, n in regions(text) if a <= begin and end <= b]
            if at:
                self.unviable |= set(at)
                return
        self._misplaced(error, spans)

    def _misplaced(self, error: dict[str, Any], spans: Sequence[dict[str, Any]]) -> None:
        # What the standard library says of itself has no file here.
        spans = [span for span in spans if (self.folder / span["file_name"]).is_file()]
        for span in spans:
            text = (self.folder / span["file_name"]).read_bytes()
            near = text[span["byte_start"] : span["byte_start"] + 200].decode(errors="replace")
            if "mutant_switch" in near and (described := CALLED.search(near)):
                self.unplaced |= {int(n) for n in described[1].split(",")}
                return
        if (error.get("code") or {}).get("code") == "E0004":
            self._uncovered(error, spans[0])
            return
        raise RuntimeError(error["rendered"])

    def _uncovered(self, error: dict[str, Any], span: dict[str, Any]) -> None:
        """Arms without which a `match` is not exhaustive."""
        text = (self.folder / span["file_name"]).read_bytes()[span["byte_end"] :].decode()
        arms = ARM.findall(_to_closing_brace(text))
        lacking = [word.rsplit("::", 1)[-1] for word in re.findall(r"`([^`]+)`", error["message"])]
        named = [number for pattern, number in arms if any(word in pattern for word in lacking)]
        self.unviable |= {int(number) for number in named or [number for _, number in arms]}


def _to_closing_brace(text: str) -> str:
    """Up to the end of the first block; braces in strings are taken for balanced."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == "}" and depth == 0:
            return text[:at]
    return text


def _entry(text: bytes) -> bytes:
    """A crate's first file with the switch."""
    return FEATURES + text + SWITCH.encode()


def write(file: Path, content: bytes) -> None:
    """Writes a file whose content differs; another keeps its time."""
    if not file.exists() or file.read_bytes() != content:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
