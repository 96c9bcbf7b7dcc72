"""Published tables that somebody adds later: found, however they are written; else told."""

from __future__ import annotations

import pytest
from small_study import SHORT, SMALL, Double

from aqmlab.errors import SpecError
from aqmlab.experiment.experiment import load
from aqmlab.experiment.grammar import Metric, Table
from aqmlab.pipeline.study import Study
from aqmlab.runs.store import Store
from aqmlab.simulator import engine
from aqmlab.tables import published

METRICS = [
    Metric(name="throughput", title="Throughput", unit="", digits=1),
    Metric(name="udp_drop_pct", title="UDP lost", unit="%", digits=1),
]
SPEC = Table(id="t", part="p", group="g", title="T", keys={}, reference="reference/t*.csv")
PLACES = [{"discipline": "red", "buffer_pkts": 40}, {"discipline": "tail-drop", "buffer_pkts": 40}]


def rows(folder, text, name="t.csv", encoding="utf-8") -> list[published.Row]:
    (folder / "reference").mkdir(exist_ok=True)
    (folder / "reference" / name).write_text(text, encoding=encoding)
    found = published.read([folder], SPEC)
    assert found is not None
    return found


def numbers(found, places=PLACES) -> list[list[float | None]]:
    return [[published.number(r, m) for m in METRICS] for r in published.find(found, places)]


WRITTEN = {
    "as in the experiment": "discipline,buffer_pkts,throughput,udp_drop_pct\nred,40,8.3,9.2\n"
    "tail-drop,40,8.4,5\n",
    "for people": "Discipline, Buffer pkts ,Throughput,UDP drop (%)\nRED, 40 ,8.3,9.2 %\n"
    "Tail drop,40,8.4,5%\n",
    "by titles": "discipline,buffer pkts,throughput,UDP lost\nred,40,8.3,9.2\ntail drop,40,8.4,5",
    "with semicolons": "discipline;buffer_pkts;throughput;udp_drop_pct\nred;40;8,3;9,2\n"
    "tail-drop;40;8,4;5\n",
    "with tabs": "discipline\tbuffer_pkts\tthroughput\tudp_drop_pct\nred\t40\t8.3\t9.2\n"
    "tail-drop\t40\t8.4\t5\n",
    "rows in another order": "udp_drop_pct,discipline,buffer_pkts,throughput\n\n"
    "5,tail-drop,40,8.4\n9.2,red,40,8.3\n",
}


@pytest.mark.parametrize("how", WRITTEN)
def test_people_write_tables_differently(tmp_path, how):
    found = rows(tmp_path, WRITTEN[how], encoding="utf-8-sig" if how == "for people" else "utf-8")
    assert numbers(found) == [[8.3, 9.2], [8.4, 5.0]]
    assert published.remarks(SPEC, METRICS, PLACES, found) == []


@pytest.mark.parametrize("text", ["", "n/a", "-", "–", "N/A"])
def test_no_number_is_no_mistake(tmp_path, text):
    head = "discipline,buffer_pkts,throughput,udp_drop_pct\n"
    found = rows(tmp_path, f"{head}red,40,{text},9.2\ntail-drop,40,8.4,5\n")
    assert numbers(found)[0] == [None, 9.2]
    assert published.remarks(SPEC, METRICS, PLACES, found) == []


def test_thousands_and_signs():
    row = {"throughput": "1,164.5", "udp_drop_pct": "−0.5"}
    assert [published.number(row, metric) for metric in METRICS] == [1164.5, -0.5]
    assert published.number({"throughput": "8,3"}, METRICS[0]) is None


def test_what_finds_no_place_is_told(tmp_path):
    head = "discipline,buffer_pkts,throughput\n"
    found = rows(tmp_path, f"{head}red,40,8.3\nred,41,about 8\n")
    strays, columns, text = published.remarks(SPEC, METRICS, PLACES, found)
    assert "1 of its 2 rows belongs to none of ours (discipline red, buffer_pkts 41)" in strays
    assert "no column udp_drop_pct" in columns
    assert '"about 8" under throughput is no number' in text


def test_other_columns_and_empty_files_are_told(tmp_path):
    found = rows(tmp_path, "setup,throughput\nred,8.3\n")
    (sentence,) = published.remarks(SPEC, METRICS, PLACES, found)
    assert "none of the columns" in sentence and "discipline, buffer_pkts" in sentence
    (sentence,) = published.remarks(SPEC, METRICS, PLACES, rows(tmp_path, "discipline\n"))
    assert "has no rows" in sentence


def test_a_row_that_is_not_the_only_one_is_none():
    several = [{"buffer": "40", "max_p": "1/10"}, {"buffer": "40", "max_p": "1"}]
    assert published.find(several, [{"buffer": 40, "max_p": "0.1"}]) == several[:1]
    assert published.find(several, [{"buffer": 40}]) == [None]


def test_a_row_goes_to_the_place_that_fits_it_best():
    red = {"buffer_pkts": "50", "min_th": "10", "udp_drop_pct": "9"}
    places = [{"min_th": 10, "buffer_pkts": 50}, {"discipline": "tail-drop", "buffer_pkts": 50}]
    assert published.find([red], places) == [red, None]


def test_a_file_that_is_no_text_is_one_sentence(tmp_path):
    with pytest.raises(SpecError, match=r"t\.csv cannot be read .*: save it as CSV in UTF-8"):
        rows(tmp_path, "Düsseldorf", encoding="utf-16")


def test_a_table_put_into_the_results_folder_is_shown_without_a_new_run(tmp_path, monkeypatch):
    core = Double()
    monkeypatch.setattr(engine, "_core", lambda: core)
    study = Study(load(SMALL))
    folder = tmp_path / "reference"
    folder.mkdir()  # before the first run, too
    study.run(quick=True, out=tmp_path, settings=SHORT, parts=["fifo"])
    before = len(core.runs)
    (folder / "christiansen2000_table1_mine.csv").write_text(
        "Load (%),Queue limit pkts,Median response\n80 %,30,777\n12,30,888\n"
    )
    result = study.run(quick=True, out=tmp_path, settings=SHORT, parts=["fifo"])
    assert len(core.runs) == before
    (table,) = [t for t in result["tables"] if t["id"] == "table-1"]
    assert [row["paper"] for row in table["rows"] if row["paper"] is not None] == [777]
    page = (tmp_path / "report.html").read_text()
    assert "(load_pct 12, queue_limit_pkts 30)" in page and ">777 " in page
    Store.open(tmp_path, fresh=True)
    assert not list((tmp_path / "runs").iterdir()) and list(folder.iterdir())
