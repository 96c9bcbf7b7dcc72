"""Which files are pages of the site: the documents where they stand, so that links hold in both."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "docs" / "site")]
import archive  # noqa: E402 - beside this folder, not installed
import fetched  # noqa: E402

PLACES = ("*.md", "docs/**/*.md", "vectors/README.md", "experiments/**/*.md")
WELCOME = "welcome/index.html"
"""Where the README goes: the first page is the laboratory in a tab."""
TAB = ROOT / "python" / "aqmlab" / "lab" / "page"
DERIVED = ROOT / "target" / "site"
"""Pages that the repository has only a part of, and their pictures: `make site` writes them."""
TITLE = "<h1>aqmlab</h1>"
REPORT, INDEX = "report.html", "reports.md"
MOST_BYTES = 4 << 20
"""Of a report on the site."""
LINK = re.compile(r"(\]\()([^)#\s:]+)((?:#[^)]*)?\))")


def reports() -> list[tuple[dict[str, str], Path]]:
    """Manifest and page of each finished study of this checkout that is small enough for a site."""
    found = []
    for manifest in sorted((ROOT / "results").glob("*/manifest.json")):
        known, page = json.loads(manifest.read_text(encoding="utf-8")), manifest.with_name(REPORT)
        if known.get("study") and page.is_file() and page.stat().st_size <= MOST_BYTES:
            found.append((known, page))
    return found


def archived() -> list[tuple[str, bytes]]:
    """Path on the site and bytes of what stands in the repository compressed."""
    places = {
        "docs/reports": archive.REPORTS,
        "docs/images/aqm": archive.PORTRAITS,
        "docs/images/rfc7928": archive.PICTURES,
    }
    packed = [
        (f"{folder}/{name}", content)
        for folder, path in places.items()
        for name, content in archive.read(path).items()
    ]
    vectors = sorted((ROOT / "vectors").glob("*.json.gz"))
    return packed + [(f"vectors/{p.stem}", gzip.decompress(p.read_bytes())) for p in vectors]


def table_of(found: list[tuple[dict[str, str], Path]]) -> str:
    """The page that lists them."""
    lines = [
        "# Reports of the studies",
        "",
        "As `aqmlab study` wrote them. A quick study has shorter runs and fewer seeds than the",
        "paper, so its intervals are wide.",
        "",
        "| study | runs | made | commit |",
        "| --- | --- | --- | --- |",
    ]
    for known, page in found:
        runs = "quick" if known["quick"] else "full"
        link = f"[{known['study']}](reports/{page.parent.name}.html)"
        lines.append(f"| {link} | {runs} | {known['created'][:10]} | `{known['commit']}` |")
    return "\n".join(lines) + "\n"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Score cards, decisions and the notebook end the explanation; reports end the site."""
    if reports():
        (config.nav or []).append({"Reports": INDEX})
    explanation = next(part["Explanation"] for part in config.nav or [] if "Explanation" in part)
    for title, folder in (
        ("Score cards", "score-cards"),
        ("Congestion controls", "controls"),
        ("Decisions", "decisions"),
        ("Notebook", "notebook"),
    ):
        pages = sorted((ROOT / "docs" / folder).glob("*.md"))
        explanation.append({title: [path.relative_to(ROOT).as_posix() for path in pages]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Every document by its path from the root of the repository, the pictures, the reports of the
    full studies that stand beside their score cards, and the test vectors."""
    pages = {page.relative_to(ROOT).as_posix() for place in PLACES for page in ROOT.glob(place)}
    pictures = {
        picture.relative_to(ROOT).as_posix()
        for picture in (ROOT / "docs" / "images").rglob("*")
        if picture.suffix in (".png", ".svg", ".webp")
    }
    kept = [file for file in files if file.src_uri.startswith("assets/")]
    for path in sorted(pages | pictures):
        file = File.generated(config, path, abs_src_path=str(ROOT / path))
        if path == "README.md":
            file.dest_uri = WELCOME
        kept.append(file)
    derived = {f"docs/{p.relative_to(DERIVED)}": p for p in DERIVED.rglob("*") if p.is_file()}
    kept = [file for file in kept if file.src_uri not in derived]
    for path, source in derived.items():
        kept.append(File.generated(config, path, abs_src_path=str(source)))
    for path, content in archived():
        kept.append(File.generated(config, path, content=content))
    if found := reports():
        kept.append(File.generated(config, INDEX, content=table_of(found)))
        for _, page in found:
            name = f"reports/{page.parent.name}.html"
            kept.append(File.generated(config, name, abs_src_path=str(page)))
    return Files(kept)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to source files and folders of the repository lead to the repository."""
    here = Path(page.file.src_uri).parent

    def link(found: re.Match[str]) -> str:
        target = Path(os.path.normpath(here / found[2])).as_posix()
        index = f"{target}/README.md"
        if files.get_file_from_path(index):
            return f"{found[1]}{found[2].rstrip('/')}/README.md{found[3]}"
        if files.get_file_from_path(target) or not (ROOT / target).exists():
            return found[0]
        return f"{found[1]}{config.repo_url}/blob/main/{target}{found[3]}"

    return LINK.sub(link, markdown)


def on_post_build(config: MkDocsConfig) -> None:
    """The first page is the laboratory in a tab where it was built, else the welcome; no page
    fetches anything from elsewhere."""
    site = Path(config.site_dir)
    if TAB.is_dir():
        shutil.copytree(TAB, site, dirs_exist_ok=True)
        page = (site / "index.html").read_text(encoding="utf-8")
        named = page.replace(TITLE, f'{TITLE} <a href="welcome/">What is this?</a>')
        (site / "index.html").write_text(named, encoding="utf-8")
    else:
        (site / "index.html").write_text(
            '<!doctype html><meta http-equiv="refresh" content="0; url=welcome/">'
            '<a href="welcome/">aqmlab</a>\n',
            encoding="utf-8",
        )
    if strange := list(fetched.of_site(site)):
        raise PluginError("; ".join(strange[:5]))
