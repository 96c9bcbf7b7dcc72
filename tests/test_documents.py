"""Commands of README and documents, in CI in short: from an empty folder, with what users have."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main
from test_tasks import LINE

from aqmlab.cli import answering
from conftest import no_live_runs

ROOT = Path(__file__).parent.parent
KNOWN: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("documents.toml").read_text("utf-8")
)
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(aqmlab [^`]+)`")
SYNOPSIS = re.compile(r"[…|\[\]]|\b[A-Z]{2,}\b")
"""A line with places to fill in is read by people only; its options are checked."""
COMMANDS = typer.main.get_command(answering.app).commands  # pyright: ignore[reportAttributeAccessIssue]
RUN_WHOLE = ("docs/how-to/", "docs/tutorial.md", "docs/own-discipline.md")
"""Pages whose `sh` blocks test_how_to.py runs."""


def pages() -> dict[str, Path]:
    """Every document with commands; the command line's own page is generated."""
    there = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "how-to").glob("*.md")]
    found = {file.relative_to(ROOT).as_posix(): file for file in sorted(there)}
    found.pop("docs/command-line.md")
    return {"README": ROOT / "README.md", **found}


def lines(page: str, text: str) -> list[str]:
    """The commands of a page's blocks, without their remarks."""
    whole = page.startswith(RUN_WHOLE)
    blocks = [
        b
        for kind, b in BLOCK.findall(text)
        if kind in ("", "console") or (kind, whole) == ("sh", False)
    ]
    found = []
    for line in "".join(blocks).splitlines():
        command = re.split(r" #|  +", line.removeprefix("$ "))[0].strip()
        if re.match(r"(aqmlab|tc [^|]*\| aqmlab) ", command):
            found.append(command)
    return found


TEXTS = {name: file.read_text("utf-8") for name, file in pages().items()}
LINES = {name: found for name, text in TEXTS.items() if (found := lines(name, text))}


def shown(page: str, line: str, *, short: bool) -> str | None:
    """What is run for a line of a page; nothing where nobody can."""
    if SYNOPSIS.search(line) and line not in KNOWN.get(page, {}):
        return None
    how = KNOWN.get(page, {}).get(line, line)
    how = {"short": how} if isinstance(how, str) else how
    if how.get("live") and no_live_runs():
        return None
    if "never" in how:
        return how.get("short")
    return how.get("short", line) if short else line


def script(page: str, *, short: bool) -> list[str]:
    """A page's lines, with what they need before them."""
    there = [shown(page, line, short=short) for line in LINES[page]]
    return [KNOWN.get(page, {}).get("setup", ""), *(line for line in there if line)]


@pytest.mark.parametrize("page", LINES)
def test_the_commands_of_a_document_work(page, shell):
    tried(page, shell, short=True)


@pytest.mark.slow
@pytest.mark.parametrize("page", LINES)
def test_the_commands_of_a_document_work_at_their_length(page, shell):
    tried(page, shell, short=False)


def tried(page: str, shell, *, short: bool) -> None:
    (shell.folder / "line.toml").write_text(LINE, encoding="utf-8")
    for words in script(page, short=short):
        shell(words)


@pytest.mark.parametrize("page", KNOWN)
def test_what_is_known_of_a_page_is_of_lines_that_it_has(page):
    assert set(KNOWN[page]) - {"setup"} <= set(LINES[page])


@pytest.mark.parametrize("page", TEXTS)
def test_a_command_in_a_sentence_has_options_that_exist(page):
    for line in [*LINES.get(page, []), *INLINE.findall(TEXTS[page])]:
        words = re.split(r"[\s|\[\]]+", line.split("aqmlab ", 1)[1].split(" -- ")[0])
        if words[0] not in COMMANDS:
            assert not re.fullmatch(r"[a-z][a-z-]+", words[0]), line
            continue
        known = {w for p in COMMANDS[words[0]].params for w in (*p.opts, *p.secondary_opts)}
        options = [word for word in words if re.fullmatch(r"--[a-z][\w=-]*", word)]
        assert not {word.split("=")[0] for word in options} - known - {"--help"}, line
