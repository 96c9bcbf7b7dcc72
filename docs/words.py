"""The words that comments, help texts and documents avoid: `make check` runs this.

`docs/words.toml` lists the patterns with what to write instead, the files that are not read, the
places where a word is right, and how many places of a file still wait to be rewritten. A number
there may fall and never rise: a new sentence with one of these words fails the check.

`python docs/words.py PATH...` prints every place in these files; `--write` lowers the numbers.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIST = ROOT / "docs" / "words.toml"

_RUST = re.compile(
    r'(?P<comment>//[^\n]*)|b?r(?P<hash>#*)"(?P<raw>.*?)"(?P=hash)|b?c?"(?P<text>(?:\\.|[^"\\])*)"'
    r"|b?'(?:\\.[^']*|[^'\\])'",
    re.DOTALL,
)
"""What is prose in Rust: comments and strings. A quote in single quotes begins no string."""

_TOML = re.compile(
    r'"""(?P<long>.*?)"""|\'{3}(?P<raw>.*?)\'{3}|"(?P<text>(?:\\.|[^"\\\n])*)"'
    r"|'(?P<plain>[^'\n]*)'|(?P<comment>#[^\n]*)",
    re.DOTALL,
)
"""What is prose in TOML."""

Place = tuple[str, int, str, str]
"""File, line, the words found and what to write instead."""


def _is_prose(text: str) -> bool:
    """Whether a string holds a sentence, of one word even, and not a name."""
    return " " in text or bool(re.fullmatch(r"[A-Z][a-z]+\.", text))


def rust(text: str) -> Iterator[tuple[int, str]]:
    """Comments, a block of lines each, and strings of words; with their first lines."""
    block: list[str] = []
    first = last = 0
    for found in _RUST.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        if (comment := found["comment"]) is not None:
            if block and line != last + 1:
                yield first, " ".join(block)
                block = []
            first = first if block else line
            last = line
            block.append(comment.lstrip("/!").strip())
        elif _is_prose(words := found["raw"] or found["text"] or ""):
            yield line, re.sub(r"\\\n\s*|\s+", " ", words)
    if block:
        yield first, " ".join(block)


def python(text: str) -> Iterator[tuple[int, str]]:
    """Comments and strings of words, with their first lines."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (
            token.type == tokenize.STRING and _is_prose(token.string.strip("\"'"))
        ):
            yield token.start[0], re.sub(r"\s+", " ", token.string.strip("\"'#frbFRB"))


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs of a document, without blocks of code, with their first lines."""
    code, block, first = False, [], 1
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if line.lstrip().startswith(("```", "~~~")):
            code, line = not code, ""
        if code or not line.strip():
            if block:
                yield first, re.sub(r"`[^`]*`", "`…`", " ".join(block))
            block = []
        else:
            first = first if block else number
            block.append(line.strip())


def toml(text: str) -> Iterator[tuple[int, str]]:
    """Comments and strings of words, with their first lines."""
    for found in _TOML.finditer(text):
        words = next(group for group in found.groups() if group is not None)
        if _is_prose(words):
            line = text.count("\n", 0, found.start()) + 1
            yield line, re.sub(r"\\\n\s*|\s+", " ", words.lstrip("# "))


READERS = {".rs": rust, ".py": python, ".pyi": python, ".md": prose, ".toml": toml}


def places(listed: dict, only: list[Path] | None = None) -> Iterator[Place]:
    """Every place of the files that are read where one of the words stands."""
    words = [(re.compile(w["pattern"]), w["instead"]) for w in listed["word"]]
    right = [(e["path"], re.compile(e["text"])) for e in listed.get("right", [])]
    for file in only or sorted({f for glob in listed["read"] for f in ROOT.glob(glob)}):
        name = file.resolve().relative_to(ROOT).as_posix()
        if not only and any(Path(name).match(glob) for glob in listed["not_read"]):
            continue
        exempts = [exempt for path, exempt in right if Path(name).match(path)]
        for line, text in READERS[file.suffix](file.read_text("utf-8")):
            kept = text
            for exempt in exempts:
                kept = exempt.sub("…", kept)
            for pattern, instead in words:
                for found in pattern.finditer(kept):
                    yield name, line, found[0], instead


def main(arguments: list[str]) -> int:
    """Whether no file has more of the words than are listed for it."""
    listed = tomllib.loads(LIST.read_text("utf-8"))
    chosen = [Path(name).resolve() for name in arguments if name != "--write"]
    found = list(places(listed, chosen or None))
    if chosen:
        for name, line, words, instead in found:
            print(f"{name}:{line}: {words!r}: write {instead}")
        return 0
    counts = Counter(name for name, *_ in found)
    pending: dict[str, int] = listed.get("pending", {})
    if "--write" in arguments:
        lowered = {name: min(counts[name], most) for name, most in pending.items() if counts[name]}
        head = LIST.read_text("utf-8").split("[pending]")[0]
        lines = [f'"{name}" = {count}' for name, count in sorted(lowered.items())]
        LIST.write_text(head + "[pending]\n" + "\n".join(lines) + "\n", "utf-8")
        return 0
    more = {name: count for name, count in counts.items() if count > pending.get(name, 0)}
    for name, line, words, instead in found:
        if name in more:
            print(f"{name}:{line}: {words!r}: write {instead}", file=sys.stderr)
    if more:
        print(
            "words: these sentences are hard to read without the code (CONTRIBUTING.md, Language): "
            "write them again, or list in docs/words.toml why a word is right",
            file=sys.stderr,
        )
    stale = sorted(name for name, most in pending.items() if counts[name] < most)
    if stale:
        print(
            f"words: fewer places than listed in {', '.join(stale)}: "
            "run python docs/words.py --write",
            file=sys.stderr,
        )
    return int(bool(more or stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
