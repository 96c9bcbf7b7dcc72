"""Commands of the tutorial, the how-to pages and own disciplines are run as they stand there."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = {
    page.stem: page
    for page in [
        ROOT / "docs" / "tutorial.md",
        ROOT / "docs" / "own-discipline.md",
        *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    ]
    if page.stem != "README"
}
BLOCK = re.compile(r'^```(\w+)(?: title="([\w./-]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
"""A fenced block: a titled one is a file, an `sh` one is run, any other is read by people only."""
SHORTER: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("how_to.toml").read_text("utf-8")
)


@pytest.mark.parametrize("name", PAGES)
def test_the_commands_of_a_page_work(name, shell):
    tried(name, PAGES[name].read_text(encoding="utf-8"), shell, SHORTER.get(name, {}), shared=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORTER)
def test_the_commands_of_a_page_work_as_they_stand_there(name, shell):
    tried(name, PAGES[name].read_text(encoding="utf-8"), shell, {})


def tried(name: str, page: str, shell, shorter: dict[str, str], shared: int | None = None) -> None:
    """Writes the files of a page and runs its commands, some of them made shorter. Then exports
    and reproduces its results folders, or the first `shared` of them."""
    for long, short in shorter.items():
        assert long in page, f"{name} has no {long!r} any more: mend tests/how_to.toml"
        page = page.replace(long, short)
    blocks = BLOCK.findall(page)
    ran = 0
    for language, title, text in blocks:
        if title:
            (shell.folder / title).write_text(text, encoding="utf-8")
        elif language == "sh":
            shell(text)
            ran += 1
    assert ran, f"{name}: a page that shows how to do something has commands"
    for number, folder in enumerate(with_runs(shell.folder)[:shared]):
        shell(f"aqmlab export {shlex.quote(str(folder))} --out {number}.aqm")
        shell(f"aqmlab reproduce {number}.aqm --most 1")


def with_runs(folder: Path) -> list[Path]:
    """The results folders in which runs have finished."""
    found = (path.parent for path in sorted(folder.rglob("contents.txt")))
    return [place for place in found if any((place / "runs").glob("[!.]*"))]


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_found(name):
    """In the table of the how-to pages, and in the site's navigation."""
    path = PAGES[name].relative_to(ROOT / "docs").as_posix()
    assert f"docs/{path}" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    if path.startswith("how-to/"):
        index = (ROOT / "docs" / "how-to" / "README.md").read_text(encoding="utf-8")
        assert f"]({path.removeprefix('how-to/')})" in index
