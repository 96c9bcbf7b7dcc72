"""What is known of a crate's mutants, as a part of the repository: anybody goes on from there.

`answers/CRATE.json` has one word for each source file: a letter per mutant, in the order in which
cargo-mutants lists them. An answer belongs to the file's text without its tests: when that changes,
all of the file's mutants are asked again. `caught` stays when tests change, for a test that noticed
a mutant is taken to stay; survivors carry a hash of everything that tests them, and are asked again
when it differs. `--again` asks all afresh.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from validation.mutants.listing import VERSION, Mutant

FOLDER = Path(__file__).with_name("answers")
LETTERS = {
    "not asked": "-",
    "caught": "c",
    "timeout": "t",
    "unviable": "u",
    "by hand": "h",
    "missed": "M",
    "unreached": "R",
}
WORDS = {letter: word for word, letter in LETTERS.items()}
SURVIVED = ("missed", "unreached")
TESTS = b"#[cfg(test)]\nmod tests"


def digest(data: bytes) -> str:
    """Short, and enough to tell versions of a file apart."""
    return hashlib.sha256(data).hexdigest()[:12]


def source(text: bytes) -> str:
    """The hash of a file's text without its tests: those in it stand last, behind an empty line."""
    code, _, rest = text.partition(TESTS)
    if rest.startswith(b";"):  # they are in a file of their own; code may follow
        code = code.rstrip(b"\n") + rest[1:].rstrip(b"\n")
    return digest(code.rstrip(b"\n") + b"\n")


def digest_of_tests(
    root: Path, folders: Iterable[str], files: Iterable[str], slowest_s: float
) -> str:
    """The hash of all that tests these sources: other files of the folders, and tests in them."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *folders],
        cwd=root, capture_output=True, check=True,
    )  # fmt: skip
    mutated = set(files)
    parts = [f"{slowest_s}"]
    for name in sorted(set(listed.stdout.decode().split("\0"))):
        if name and (root / name).is_file():
            text = (root / name).read_bytes()
            if name in mutated:
                text = text.partition(TESTS)[2]
            parts.append(f"{name} {digest(text)}")
    return digest("\n".join(parts).encode())


class Answers:
    """A crate's answers; `write` keeps them."""

    def __init__(self, file: Path, root: Path, mutants: Sequence[Mutant]) -> None:
        self.file = file
        self.tests: dict[str, str] = {}
        """By file: the hash of what its survivors were asked with."""
        self.of: dict[str, list[Mutant]] = {}
        for mutant in mutants:
            self.of.setdefault(mutant.file, []).append(mutant)
        self.sources = {name: source((root / name).read_bytes()) for name in self.of}
        self.words = {mutant.number: "not asked" for mutant in mutants}
        kept = json.loads(file.read_text()) if file.exists() else {}
        if kept.get("cargo-mutants") == VERSION:
            for name, row in kept["files"].items():
                self._take(name, row)

    def _take(self, name: str, row: dict[str, str]) -> None:
        mutants, letters = self.of.get(name, []), row["answers"]
        if self.sources.get(name) == row["source"] and len(mutants) == len(letters):
            self.tests[name] = row["tests"]
            for mutant, letter in zip(mutants, letters, strict=True):
                self.words[mutant.number] = WORDS[letter]

    def numbers(self, *words: str) -> set[int]:
        """The mutants of which one of these is known."""
        return {number for number, word in self.words.items() if word in words}

    def reopen(self, tests: str, excused: Collection[int] = ()) -> None:
        """Survivors of other tests are asked again, unless there is a reason why they may live."""
        for name, mutants in self.of.items():
            if self.tests.get(name) != tests:
                for mutant in mutants:
                    if self.words[mutant.number] in SURVIVED and mutant.number not in excused:
                        self.words[mutant.number] = "not asked"
            self.tests[name] = tests

    def write(self) -> None:
        """Writes the file anew."""
        files = {
            name: {
                "source": self.sources[name],
                "tests": self.tests.get(name, ""),
                "answers": "".join(LETTERS[self.words[m.number]] for m in mutants),
            }
            for name, mutants in self.of.items()
        }
        self.file.parent.mkdir(exist_ok=True)
        text = json.dumps({"cargo-mutants": VERSION, "files": files}, indent=1)
        part = self.file.with_suffix(".part")
        part.write_text(text + "\n")
        part.replace(self.file)
