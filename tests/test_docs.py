"""Generated documentation is what the registry says today."""

from __future__ import annotations

import os
import re
import runpy
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from validation import page as comparisons

from aqmlab.cli import reference
from aqmlab.errors import StoreError
from aqmlab.experiment import experiment as experiments
from aqmlab.experiment.folders import SHIPPED, shipped
from aqmlab.infer import reconstruction
from aqmlab.simulator import engine

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PLACES = ("docs", "crates", "experiments", "validation", "vectors")
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    *sorted(page for place in PLACES for page in (ROOT / place).resolve().rglob("*.md")),
]
BUILT = ("results", "target")
"""Folders of which nothing is in a checkout."""
pytestmark = pytest.mark.usefixtures("real_core")


def test_the_page_of_disciplines_is_not_stale():
    generate = runpy.run_path(str(DOCS / "generate.py"))
    assert (DOCS / "algorithms.md").read_text(encoding="utf-8") == generate["text"](), (
        "docs/algorithms.md is stale: run `make docs`"
    )


def test_the_measures_on_the_page_of_results_are_not_stale():
    generate = runpy.run_path(str(DOCS / "generate.py"))
    assert (DOCS / "results.md").read_text(encoding="utf-8") == generate["results"](), (
        "docs/results.md is stale: run `make docs`"
    )


def test_the_page_of_the_command_line_is_not_stale():
    page = runpy.run_path(str(DOCS / "command_line.py"))["text"]()
    assert (DOCS / "command-line.md").read_text(encoding="utf-8") == page, (
        "docs/command-line.md is stale: run `make docs`"
    )


def test_every_discipline_has_its_picture():
    generate = runpy.run_path(str(DOCS / "generate.py"))
    with tarfile.open(DOCS / "images" / "aqm.tar.xz") as archive:
        pictures = archive.getnames()
    for entry in generate["engine"].catalogue()["aqm"]:
        assert f"{entry['name']}.svg" in pictures, entry["name"]


def test_every_discipline_has_its_cost_of_a_packet():
    generate = runpy.run_path(str(DOCS / "generate.py"))
    page = (DOCS / "performance.md").read_text(encoding="utf-8")
    for entry in generate["engine"].catalogue()["aqm"]:
        assert f"| `{entry['name']}` | " in page, f"{entry['name']} is not in docs/performance.md"


def _expanded(path: str) -> Iterator[str]:
    """`src/{port,host}.rs` is two."""
    found = re.search(r"\{([^{}]*)\}", path)
    if found is None:
        yield path
        return
    for part in found[1].split(","):
        yield from _expanded(path[: found.start()] + part + path[found.end() :])


def _paths(text: str) -> Iterator[str]:
    """What a page calls by a path from the root of the checkout."""
    folders = {folder.name for folder in ROOT.iterdir() if folder.is_dir()} - {*BUILT, ".git"}
    for words in re.findall(r"`([\w.{},/*-]+/[\w.{},/*-]*)`", text):
        if words.partition("/")[0] in folders:
            yield from _expanded(words)


def _packed() -> set[str]:
    """What the site shows of the archives and of what is derived while it is built, by path."""
    archive = runpy.run_path(str(DOCS / "archive.py"))
    places = {
        "reports": "REPORTS",
        "images/aqm": "PORTRAITS",
        "images/rfc7928": "PICTURES",
    }
    derived = comparisons.pictures(comparisons.kept_ratios()).values()
    return {f"docs/{place}" for place in derived} | {
        f"docs/{folder}/{name}"
        for folder, which in places.items()
        for name in archive["read"](archive[which])
    }


def test_pages_name_files_that_are_there():
    missing = [
        f"{page.relative_to(ROOT)}: {path}"
        for page in PAGES
        for path in _paths(page.read_text(encoding="utf-8"))
        if not any(ROOT.glob(path.rstrip("/")))
    ]
    assert missing == []


def _links(text: str) -> list[str]:
    """Where a page leads; what stands between backticks is code and leads nowhere."""
    return re.findall(r"\]\(([^)#\s]+)", re.sub(r"`[^`\n]*`", "", text))


def test_pages_link_to_pages_that_are_there():
    packed = _packed()
    missing = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in PAGES
        for link in _links(page.read_text(encoding="utf-8"))
        if "://" not in link
        and not (page.parent / link).exists()
        and os.path.relpath(page.parent / link, ROOT) not in packed
    ]
    assert missing == []


def test_every_kind_of_the_list_is_in_its_help(aqmlab_command):
    said = " ".join(aqmlab_command("list", "--help", COLUMNS="200").stdout.split())
    requested = re.search(r"Only this kind: ([^.]*)\.", said)
    assert requested is not None
    assert re.split(r", | or ", requested[1]) == list(reference.KINDS)
    for words in reference.KINDS.values():
        assert words in said


def defined_by(page: Path) -> set[str]:
    """The names that a table of the page explains: columns and keys of results."""
    return set(re.findall(r"^\| `([a-z][a-z0-9._-]+)` \|", page.read_text("utf-8"), re.MULTILINE))


def test_names_that_pages_cut_short_are_names():
    """`threegpp` where the application is called threegpp-http."""
    names = {name for kind in reference.KINDS for name in reference.names(kind)}
    models = {m for entry in reference.members("traffic") for m in entry.get("models", [])}
    fields = {
        field["name"]
        for kind in ("aqm", "tcp", "traffic", "access", "scenario")
        for entry in reference.members(kind)
        for field in entry.get("fields", [])
    }
    cut = [
        f"{page.name}: {word}"
        for page in PAGES
        for word in sorted(set(re.findall(r"`([a-z][a-z0-9._-]+)`", page.read_text("utf-8"))))
        if word not in names | models | fields | defined_by(page)
        and any(name.startswith(f"{word}-") for name in names | models)
    ]
    assert cut == []


def test_every_study_is_among_those_validated():
    text = (DOCS / "validation" / "studies.md").read_text(encoding="utf-8")
    _, title, rest = re.split(r"^## The (\w+) studies$", text, maxsplit=1, flags=re.MULTILINE)
    listed = re.findall(r"^\| `([\w-]+)` \|", rest.partition("\n## ")[0], flags=re.MULTILINE)
    assert sorted(listed) == sorted(shipped())
    numbers = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    assert title == numbers[len(listed)]


def test_the_page_of_the_kinds_of_figures_is_not_stale():
    generate = runpy.run_path(str(DOCS / "generate.py"))
    assert (DOCS / "figures.md").read_text(encoding="utf-8") == generate["figure_kinds"](), (
        "the kinds of figures changed: run `make docs`"
    )


def test_the_keys_of_studies_are_written_from_the_code():
    generate = runpy.run_path(str(DOCS / "generate.py"))
    page = (DOCS / "studies.md").read_text(encoding="utf-8")
    assert generate["studies"](page) == page, "give `make docs`"


def test_every_shipped_study_has_its_score_card_and_report():
    """A study with a reconstructed set may have a card of that set."""
    studies = set(shipped())
    second = {f"{name}-reconstructed" for name in studies if _has_second_set(name)}
    packed = {path.stem for path in map(Path, _packed()) if path.suffix == ".html"}
    cards = {page.stem for page in (DOCS / "score-cards").glob("*.md")}
    assert studies <= cards <= studies | second
    assert packed == studies


def _has_second_set(study: str) -> bool:
    return (SHIPPED / study / "reconstructed.toml").is_file()


def verdicts(page: Path) -> dict[str, list[str]]:
    """The verdicts of a score card by claim: one, or the reconstructed and the printed set's."""
    rows = [line.strip("| ").split(" | ") for line in page.read_text("utf-8").splitlines()]
    return {row[0]: row[2:-1] for row in rows if len(row) in (4, 5) and re.match(r"\w", row[0])}


@pytest.mark.parametrize("study", [name for name in shipped() if _has_second_set(name)])
def test_what_does_not_hold_of_a_paper_has_the_experiment_that_shows_why(study):
    """Under either set: `known` of a claim, and `[why]` of reconstructed.toml."""
    experiment = experiments.load(study)
    why = reconstruction.load(experiment).why
    known = {claim.id: claim.known for claim in experiment.claim if claim.kind != "ours"}
    page, own = (DOCS / "score-cards" / f"{study}{end}.md" for end in ("", "-reconstructed"))
    cards = verdicts(page)
    printed = {name: cards[name][-1] for name in known}
    second = {name: (verdicts(own) if own.exists() else cards)[name][0] for name in known}
    for reasons, found in ((known, printed), (why, second)):
        bare = [name for name, it in found.items() if it != "holds" and not reasons.get(name)]
        assert not bare, f"{study}: say what shows why not: {bare}"


def test_a_folder_without_results_gives_no_score_card(tmp_path, capsys):
    main = runpy.run_path(str(DOCS / "score_cards.py"))["main"]
    assert main([str(tmp_path)]) == 1
    assert "holds no results: give the folder of a study's --out" in capsys.readouterr().err


def test_a_part_renews_its_claims_rows_and_says_so():
    renewed = runpy.run_path(str(DOCS / "score_cards.py"))["renewed"]
    head = "# Score card\n\nRun.\n\n## Claims\n\n"
    table = "| | claim | verdict | why |\n| --- | --- | --- | --- |\n| A1 | it | holds | 3 |\n"
    old = f"{head}2 holds.\n\n{table}| T-1 | now | holds | 1.5 |\n"
    claim = {"id": "T-1", "claim": "now", "verdict": "does not hold", "why": "0.2"}
    about = {"parts": ["later"], "versions": {"commit": "0123456789"}, "claims": [claim]}
    page = renewed(old, about, "2026-11-29")
    assert page == (
        f"{head}1 does not hold, 1 holds.\n\n{table}| T-1 | now | does not hold | 0.2 |\n\n"
        "The claims of the part later were judged anew on 2026-11-29, commit `01234567`: T-1.\n"
    )
    assert renewed(page, about, "2026-11-29") == page
    both = page.replace("part later", "part first, later").replace(": T-1.", ": A1, T-1.")
    said = [line for line in renewed(both, about, "2026-11-30").split("\n") if "anew" in line]
    assert [line.rpartition(": ")[2] for line in said] == ["A1.", "T-1."]
    ours = {**about, "claims": [{**claim, "id": "T-3", "kind": "ours"}]}
    added = renewed(page, ours, "2026-11-30")
    assert "systems\n\n1 does not hold.\n\n| | claim | verdict | why |\n| --- | --- " in added
    assert added.count("| T-3 | now | does not hold | 0.2 |") == 1
    assert added.index("| T-3 |") < added.index("judged anew")
    assert renewed(added, ours, "2026-11-30") == added
    with pytest.raises(StoreError, match="no row of T-2"):
        renewed(old, {**about, "claims": [{**claim, "id": "T-2"}]}, "2026-11-29")


def test_a_page_of_two_sets_keeps_the_other_sets_verdicts():
    module = runpy.run_path(str(DOCS / "score_cards.py"))
    head = "# Score card\n\nRun.\n\n## Claims\n\n1 holds, 1 inconclusive.\n\n"
    table = "| | claim | reconstructed | as printed | why |\n| --- | --- | --- | --- | --- |\n"
    old = f"{head}{table}| A1 | it | holds | does not hold | 3 |\n"
    old += "| T-1 | now | inconclusive | holds | 2 |\n"
    claim = {"id": "T-1", "claim": "now", "kind": "ours", "verdict": "does not hold", "why": "0.2"}
    about = {"name": "s", "title": "S", "set": "printed", "quick": False, "seeds": 2}
    about |= {"parts": ["later"], "all_parts": [{"name": "later"}, {"name": "first"}]}
    about |= {"claims": [claim], "versions": {"commit": "0123456789"}}
    printed = module["renewed"](old, about, "2026-11-29")
    assert "| A1 | it | holds | does not hold | 3 |" in printed
    assert "| T-1 | now | inconclusive | does not hold | 0.2 |" in printed
    assert "1 holds, 1 inconclusive." in printed
    own = claim | {"verdict": "holds"}  # the printed set's is the page's
    about |= {"set": "reconstructed", "claims": [own]}
    page = module["beside"](printed, about, "2026-11-29")
    assert "| T-1 | now | holds | does not hold | 0.2 |" in page
    assert page.count("| A1 | it | holds | does not hold | 3 |") == 1
    assert page.count("claim | reconstructed") == 2 and page.count("| T-1 |") == 1
    later = {**claim, "id": "A1", "claim": "it", "why": "4"}  # the other part, in quick runs
    about |= {"claims": [later], "parts": ["first"], "quick": True}
    both = module["renewed"](page, about, "2026-11-30")
    assert "| A1 | it | does not hold | does not hold | 4 |" in both
    assert "The claims of the part first were judged anew in quick runs on 2026-11-30" in both
    assert "| T-1 | now | holds | does not hold | 0.2 |" in both
    assert module["NOT_RUN"] in page and module["NOT_RUN"] not in both


def test_parts_of_a_set_renew_the_page_that_it_has(tmp_path):
    module = runpy.run_path(str(DOCS / "score_cards.py"))
    chosen = module["_page_of_parts"]
    (tmp_path / "may-reconstructed.md").write_text("", encoding="utf-8")
    own = tmp_path / "may-reconstructed.md", module["renewed"]
    assert chosen(tmp_path, "may", "reconstructed") == own
    assert chosen(tmp_path, "may", "printed") == (tmp_path / "may.md", module["renewed"])
    web = tmp_path / "web.md"
    assert chosen(tmp_path, "web", "reconstructed") == (web, module["beside"])
    web.write_text(module["HEAD_OF_TWO"], encoding="utf-8")
    assert chosen(tmp_path, "web", "reconstructed") == (web, module["renewed"])


def test_the_page_of_weaknesses_has_rows_for_every_queue():
    """A new queue: `python docs/weaknesses.py NAME`."""
    page = (DOCS / "weaknesses.md").read_text(encoding="utf-8")
    queues = [entry["name"] for entry in engine.catalogue()["aqm"]]
    weaknesses = runpy.run_path(str(DOCS / "weaknesses.py"))
    wanted = [(queue, sender) for queue in queues for sender in weaknesses["senders"](queue)]
    rows = weaknesses["rows"](page)
    assert list(rows) == wanted
    assert {len(cells) for cells in rows.values()} == {7}
    assert page == weaknesses["page"](rows.values())
