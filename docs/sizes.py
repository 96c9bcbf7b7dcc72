"""How long a file and a function of the product may be: `make check` runs this.

A file has at most 400 lines and a function at most 60, signature and body together. Tests are not
counted, nor what other files are written into. `EXCEPTIONS` names what is longer, and why: a table
of data, or the text of a published interface.

Sources are formatted (rustfmt, ruff, Biome), so a function of Rust, C or JavaScript ends at the
first line that closes a brace at the indentation of the line it begins with.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent

MOST_LINES_OF_FILE = 400
MOST_LINES_OF_FUNCTION = 60

SUFFIXES = {".rs", ".py", ".js", ".mjs", ".c", ".cc", ".h"}
TESTS = re.compile(r"(^|/)(tests?|benches|fuzz)(/|\.rs$)|_tests?\.(rs|py)$|(^|/)conftest\.py$")

EXCEPTIONS = {
    "crates/plugin/include/aqmlab_plugin.h": "the C interface: a library's author reads one file",
    "crates/embed/include/aqmlab.h": "the C interface: a program's author reads one file",
    "validation/ns3/dumbbell.cc": "a program of ns-3, which builds one file of its scratch folder",
}
"""A file, or a file and a function of it (`FILE:NAME`), with the reason."""

_RUST = re.compile(
    r"^(?P<indent> *)(?:pub(?:\([^)]*\))? )?(?:const |unsafe |extern \"C\" )*fn (?P<name>\w+)"
)
_JAVASCRIPT = re.compile(
    r"^(?P<indent> *)(?:export )?(?:default )?(?:static )?(?:async )?"
    r"(?:function\*? )?(?!if|for|while|switch|catch)(?P<name>[#\w]+)\([^=]*\) \{$"
)
_FUNCTION = {".rs": _RUST, ".js": _JAVASCRIPT, ".mjs": _JAVASCRIPT}


def sources() -> list[str]:
    """The product's sources that git tracks."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [
        name
        for name in sorted(listed)
        if Path(name).suffix in SUFFIXES and not TESTS.search(name) and (ROOT / name).is_file()
    ]


def functions(suffix: str, text: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and length of every function."""
    if suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                yield node.name, node.lineno, node.end_lineno - node.lineno + 1
        return
    if suffix not in _FUNCTION:
        return
    lines = text.split("\n")
    for first, line in enumerate(lines):
        if not (found := _FUNCTION[suffix].match(line)):
            continue
        indent, name = found["indent"], found["name"]
        for last in range(first, len(lines)):
            end = lines[last]
            declared = end.endswith(";") and (last == first or end.startswith(indent + ")"))
            closes = end.startswith(indent + "}") or (last == first and end.endswith("}"))
            if declared or closes:
                yield name, first + 1, last - first + 1
                break


def too_long() -> Iterator[tuple[str, str]]:
    """What is longer than it may be, as a key of `EXCEPTIONS` and as a sentence."""
    for name in sources():
        text = (ROOT / name).read_text("utf-8")
        length = text.count("\n")
        if length > MOST_LINES_OF_FILE:
            yield name, f"{name}: {length} lines; a file has at most {MOST_LINES_OF_FILE}"
        for function, line, length in functions(Path(name).suffix, text):
            if length > MOST_LINES_OF_FUNCTION:
                described = f"{name}:{line}: {function} has {length} lines"
                yield f"{name}:{function}", f"{described}; at most {MOST_LINES_OF_FUNCTION}"


def main() -> int:
    """Prints what is too long, and exceptions that are none any more."""
    found = dict(too_long())
    wrong = [sentence for key, sentence in found.items() if key not in EXCEPTIONS]
    stale = [f"{key}: no longer too long" for key in EXCEPTIONS if key not in found]
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    for sentence in stale:
        print(f"{sentence}: remove it from EXCEPTIONS of docs/sizes.py", file=sys.stderr)
    if wrong:
        print(
            "sizes: split these along their meaning, or say in EXCEPTIONS of docs/sizes.py why not",
            file=sys.stderr,
        )
    return int(bool(wrong or stale))


if __name__ == "__main__":
    sys.exit(main())
