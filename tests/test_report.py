"""The report: one file, complete, and nothing in it that the results do not say."""

from __future__ import annotations

import html
import json
import re
import shlex
import shutil
from html.parser import HTMLParser

import pytest
import typer.main
from small_study import SHORT, SMALL, Double

from aqmlab import report
from aqmlab.cli import answering as cli
from aqmlab.errors import StoreError
from aqmlab.experiment.experiment import load
from aqmlab.experiment.folders import shipped
from aqmlab.io import numbers
from aqmlab.pipeline.study import Study
from aqmlab.report import report as writer
from aqmlab.runs.contents import Contents
from aqmlab.runs.store import Store
from aqmlab.simulator import engine


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The results of a whole study on the double."""
    out = tmp_path_factory.mktemp("study")
    core = Double()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_core", lambda: core)
        Study(load(SMALL)).run(quick=True, out=out, settings=SHORT)
    return out


@pytest.fixture(scope="module")
def result(folder):
    return json.loads((folder / "result.json").read_text())


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "report.html").read_text()


class Tags(HTMLParser):
    """Checks that tags are closed in order, and gathers ids and references."""

    VOID = ("meta", "br", "path", "rect", "line", "circle", "use", "stop")

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.note(attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, _tag, attrs):
        self.note(attrs)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def note(self, attrs):
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name == "href":
                self.references.append(value)
            self.references += re.findall(r"url\(([^)]*)\)", value or "")


def test_it_needs_nothing_else(page):
    assert not re.search(r"(https?:)?//[a-z]", page)
    assert not re.search(r"<(link|img|iframe)\b|@import|src=", page)
    assert re.findall(r"<script[^>]*>", page) == ["<script>"], "its own, and nothing from outside"


def test_it_is_well_formed_and_every_reference_is_inside(page):
    tags = Tags(page)
    assert tags.open == []
    assert len(tags.ids) == len(set(tags.ids))
    assert tags.references and all(r[0] == "#" and r[1:] in tags.ids for r in tags.references)


def test_every_figure_is_there_with_its_command(page, result):
    assert page.count('<svg role="img"') == len(result["figures"]) + 1
    for figure in result["figures"]:
        block = re.search(rf'<figure id="figure-{figure["id"]}".*?</figure>', page, re.S)
        assert block and figure["name"] in block[0]
        assert f"aqmlab study small --quick --figure {figure['id']}<" in block[0]


def test_every_table_is_there(page, result):
    for table in result["tables"]:
        block = re.search(rf'<h3 id="{table["id"]}">.*?</table>', page, re.S)
        assert block, table["id"]
        lines = {tuple(row[k] for k in table["keys"]) for row in table["rows"]}
        assert block[0].count("<tr") == len(lines) + 1


def test_the_papers_numbers_stand_beside_ours_with_their_differences(page, result):
    (table,) = [t for t in result["tables"] if t["id"] == "table-1"]
    block = re.search(r'<h3 id="table-1">.*?</table>', page, re.S)[0]
    assert block.count('class="paper"') == 160
    row = next(
        r
        for r in table["rows"]
        if r["metric"] == "median_response_ms"
        and (r["load_pct"], r["queue_limit_pkts"]) == (110, 190)
    )
    assert row["paper"] == 2156
    assert f'2,156 <span class="off">({numbers.signed(row["difference"], 0)})' in block
    assert f"[{numbers.signed(row['difference_low'], 0)}, " in block
    marks = [r["verdict"] for r in table["rows"]]
    assert block.count("●") == marks.count("outside") > 0
    assert block.count("○") == marks.count("within one run") > 0


def test_findings_scenario_versions_seeds_and_deviations(page, result):
    for line in result["headlines"]:
        assert writer.escape(line) in page
    for claim in result["claims"]:
        assert writer.escape(claim["why"]) in page and writer.escape(claim["rule"]) in page
    for run in result["runs"]:
        assert run["folder"] in page and run["fingerprint"] in page
    assert "w_q = &#34;1/512&#34;" in page and "[[deviation]]" in page
    assert page.count("<dt>") == len(result["deviations"]) >= 8
    assert "9.9.9" in page and result["fingerprint"] in page


def test_question_answer_and_one_figure_come_first(page, result):
    begin = page[: page.index("</header>")]
    assert writer.escape(result["question"].strip()) in begin.replace("\n</p>", "</p>")
    assert writer.escape(result["headlines"][0]) in begin
    assert begin.count("<figure") == 1
    order = [page.index(f'<section id="{name}">') for name in ("findings", "set-up", "claims")]
    assert order == sorted(order)


def test_the_study_names_the_figure_that_the_report_begins_with(result, folder):
    pictures = {f["id"]: (folder / f["file"]).read_text() for f in result["figures"]}
    for lead, shown in (("9b", "9b"), (None, result["figures"][0]["id"])):
        page = writer.render(result | {"lead": lead}, pictures)
        assert re.findall(r'<figure id="figure-([^"]*)"', page)[0] == shown
        assert page.count(f'id="figure-{shown}"') == 1


def test_claims_are_folded_by_their_verdicts(page, result):
    section = page[page.index('<section id="claims">') :]
    section = section[: section.index("</section>")]
    verdicts = {claim["verdict"] for claim in result["claims"]}
    assert section.count('<details class="judged">') == len(verdicts)
    assert "<details open" not in page
    assert section.count('<tr id="claim-') == len(result["claims"])


def test_every_number_of_a_table_says_on_a_phone_what_it_is(page, result):
    block = re.search(r'<h3 id="table-1">.*?</table>', page, re.S)[0]
    titles = {m["title"] for m in result["metrics"]} | {"Load, %", "Limit, packets"}
    named = {html.unescape(name) for name in re.findall(r'data-name="([^"]*)"', block)}
    assert named and named <= titles
    assert block.count("data-name=") == block.count("<td")


def test_drawings_take_the_colours_of_the_page(page):
    pictures = re.findall(r'<svg role="img".*?</svg>', page, re.S)
    assert pictures and not any("#1a1a1a" in one or "#ffffff" in one for one in pictures)
    assert "prefers-color-scheme: dark" in page


def test_conclusions_asked_again_stand_side_by_side(result, folder):
    changed = json.loads(json.dumps(result))
    claims = {claim["id"]: claim for claim in changed["claims"]}
    then, now = claims["C05"], claims["T-C05"]
    assert now["revisits"] == "C05" and then["revisits"] is None
    then["verdict"], then["deciding"]["estimate"] = "holds", 1.25
    now["verdict"], now["deciding"]["estimate"] = "does not hold", 7.5
    pictures = {f["id"]: (folder / f["file"]).read_text() for f in changed["figures"]}
    page = writer.render(changed, pictures)
    section = page[page.index('<section id="again-asked">') :]
    section = section[: section.index("</section>")]
    cells = [html.unescape(cell) for cell in re.findall(r"<td.*?</td>", section, re.S)]
    assert len(cells) == 4, "one pair"
    assert 'href="#claim-C05"' in cells[0] and then["claim"] in cells[1]
    for claim, cell in ((then, cells[2]), (now, cells[3])):
        assert claim["verdict"] in cell
        assert numbers.significant(claim["deciding"]["estimate"]) in cell
        assert claim["deciding"]["bounds"] in cell
    assert 'href="#claim-T-C05"' in cells[3] and now["claim"] in cells[3]


def test_without_its_part_the_first_of_a_pair_was_not_run(result, folder):
    changed = json.loads(json.dumps(result))
    changed["claims"] = [c for c in changed["claims"] if c["id"] != "C05"]
    pictures = {f["id"]: (folder / f["file"]).read_text() for f in changed["figures"]}
    page = writer.render(changed, pictures)
    assert "Its part was not run into this folder." in page
    changed["claims"] = [c for c in changed["claims"] if c["id"] != "T-C05"]
    assert "again-asked" not in writer.render(changed, pictures)


def test_a_study_without_a_paper_s_claims_has_questions(result, folder):
    pictures = {f["id"]: (folder / f["file"]).read_text() for f in result["figures"]}
    assert "<h2>Claims of the paper, judged on our runs" in writer.render(result, pictures)
    changed = json.loads(json.dumps(result))
    changed["claims"] = [{**c, "kind": "ours", "revisits": None} for c in changed["claims"]]
    page = writer.render(changed, pictures)
    section = page[page.index('<section id="claims">') :]
    section = section[: section.index("</section>")]
    assert "<h2>Questions of ours, judged on these runs" in section
    assert "the paper" not in section
    assert "the paper’s" not in section


@pytest.mark.parametrize("quick", [True, False])
def test_a_study_without_a_paper_speaks_of_none(result, folder, quick):
    pictures = {f["id"]: (folder / f["file"]).read_text() for f in result["figures"]}
    changed = json.loads(json.dumps(result)) | {
        "quick": quick,
        "headlines": [],
        "deviations": [],
        "setups": [],
        "figures": [],
    }
    changed["all_parts"] = [{**part, "text": ""} for part in changed["all_parts"]]
    changed["claims"] = [{**c, "kind": "ours", "revisits": None} for c in changed["claims"]]
    for table in changed["tables"]:
        table |= {"has_reference": False, "reference": None, "note": "", "paper": ""}
        for row in table["rows"]:
            row["paper"] = None
    page = writer.render(changed, pictures)
    words = re.sub(r"<(style|script|svg|pre|details)\b.*?</\1>|<[^>]*>", "", page, flags=re.DOTALL)
    assert "paper" not in words
    assert "Choices and limits" in words


def test_verdicts_follow_the_result(result, folder):
    changed = json.loads(json.dumps(result))
    assert changed["claims"][0]["verdict"] != "does not hold"
    changed["claims"][0]["verdict"] = "does not hold"
    pictures = {f["id"]: (folder / f["file"]).read_text() for f in result["figures"]}
    before, after = (writer.render(r, pictures) for r in (result, changed))
    # Beside the claim that asks it again, and in the score card among those of its verdict.
    assert after.count('class="verdict does"') == before.count('class="verdict does"') + 1
    folded = after[after.index('<span class="verdict does">') :]
    assert changed["claims"][0]["id"] in folded[: folded.index("</summary>")]


def test_written_again_from_what_is_stored(folder, page):
    (folder / "report.html").unlink()
    assert report.write(folder) == folder / "report.html"
    assert (folder / "report.html").read_text() == page


def test_a_folder_without_results_is_one_sentence(tmp_path):
    with pytest.raises(StoreError, match="or `aqmlab run` has finished"):
        report.write(tmp_path)


def test_an_incomplete_result_is_one_sentence(tmp_path, result):
    for missing in ("figures", "versions", "runs"):
        rest = {name: value for name, value in result.items() if name != missing}
        kept(tmp_path).write_json(
            "result.json", rest | {"figures": []} if missing != "figures" else rest
        )
        with pytest.raises(StoreError, match=rf"incomplete .*{missing}.*run the study again"):
            report.write(tmp_path)


def kept(folder) -> Store:
    """A marked folder with nothing in it."""
    return Store(folder, Contents.load(folder) or Contents.create(folder))


def test_a_lost_figure_is_one_sentence(tmp_path, result):
    kept(tmp_path).write_json("result.json", result)
    with pytest.raises(StoreError, match=r"figure-3\.svg cannot be read .*run the study again"):
        report.write(tmp_path)


def test_only_figures_that_the_study_wrote_get_into_the_report(folder, tmp_path, result):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    path = tmp_path / result["figures"][0]["file"]
    for foreign in ('<svg viewBox="0 0 1 1"><script>alert(1)</script></svg>', "no picture", ""):
        path.write_text(foreign)
        with pytest.raises(StoreError, match="svg is not what was written: run the study again"):
            report.write(tmp_path)


def test_numbers_as_people_write_them():
    assert numbers.fixed(1234.56, 1) == "1,234.6"
    assert numbers.fixed(-0.04, 1) == "0.0" and numbers.signed(-0.04, 1) == "0.0"
    assert numbers.signed(3.0, 0) == "+3" and numbers.signed(-3.0, 0) == "\u22123"
    assert numbers.signed(0.05, 2) == "+0.05" and numbers.signed(-10.0, 0) == "\u221210"
    assert numbers.fixed(None, 1) == "–" == numbers.signed(None, 1)
    assert numbers.ranged(1.0, 0.5, 1.5) == "1.0 [0.5, 1.5]"
    assert numbers.ranged(1.0, None, None, sign=True) == "+1.0"


def commands(page: str) -> list[list[str]]:
    """Every command line of aqmlab that a report prints."""
    lines = re.findall(r"aqmlab study [^<\n]*", html.unescape(page))
    return [shlex.split(line)[1:] for line in lines]


COMMANDS = typer.main.get_group(cli.app).commands


def accepted(words: list[str]) -> tuple[str, dict]:
    """The command that these words give, and its parameters."""
    chosen = COMMANDS[words[0]]
    return words[0], chosen.make_context(words[0], words[1:]).params


def test_every_command_is_accepted_as_it_is_printed(page, result):
    found = [accepted(words)[1] for words in commands(page)]
    assert {p["figure"] for p in found} - {None} == {f["id"] for f in result["figures"]}
    assert {name for p in found for name in p["part"] or []} == set(result["parts"])
    assert all(p["name"] == "small" for p in found)


@pytest.mark.parametrize("name", shipped())
@pytest.mark.parametrize("quick", [True, False])
def test_commands_of_the_studies_that_come_along(name, quick):
    experiment = load(name)
    for figure in experiment.of("figure"):
        line = writer.command({"name": name, "quick": quick}, figure=figure.id)
        found = accepted(shlex.split(line)[1:])[1]
        assert (found["name"], found["quick"], found["figure"]) == (name, quick, figure.id)
        assert experiment.picture(found["figure"]) is figure
    for part in experiment.parts:
        line = writer.command({"name": name, "quick": quick}, part=part)
        assert accepted(shlex.split(line)[1:])[1]["part"] == [part]


def test_a_long_table_keeps_its_head_in_sight(result, folder):
    pictures = {f["id"]: (folder / f["file"]).read_text() for f in result["figures"]}
    longer = json.loads(json.dumps(result))
    (table,) = [t for t in longer["tables"] if t["id"] == "table-1"]
    rows = table["rows"]
    for copy in range(1, 26):  # 520 lines
        table["rows"] = table["rows"] + [r | {"load_pct": f"{r['load_pct']}-{copy}"} for r in rows]
    page = writer.render(longer, pictures)
    assert page.count('class="scroll long"') == 1
    assert Tags(page).open == []
    assert 'class="scroll long"' not in writer.render(result, pictures)


def test_figures_are_described_with_their_numbers(page, result):
    for figure in result["figures"]:
        assert str(writer.escape(f"{figure['title']}. {figure['note']}".strip())) in page
