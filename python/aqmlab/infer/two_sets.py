"""A study with two sets of values, reported once: results of the reconstructed set come first,
those of the printed set are shown next to them.

Both are carried out as studies of their own, each with its folder. Their results are joined: every
published number and every claim gets the printed set's result, and how the number relates to the
reconstructed set (trained, foretold, seen before).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from aqmlab.experiment.experiment import Experiment, load
from aqmlab.experiment.grammar import Metric, Settings
from aqmlab.io.files import reported
from aqmlab.pipeline import command, registry
from aqmlab.pipeline.command import StudyResult
from aqmlab.pipeline.study import RESULT
from aqmlab.report import headlines
from aqmlab.report import write as write_page
from aqmlab.runs.store import Store
from aqmlab.simulator.forms import without
from aqmlab.tables.document import Recorded, Row, StudyDocument, TableOfSets, TableShown

from . import compared, deviations, reconstruction, recorded, sets, spec
from .reconstruction import FORETOLD, NAME, PRINTED, SEEN, TRAINED
from .recorded import Printed
from .spec import Noise

STANDINGS = (TRAINED, FORETOLD, SEEN)


def alteration(name: str) -> Callable[[Experiment], Experiment]:
    """A function that changes a study into the one with the set NAME."""
    if name == PRINTED:
        return reconstruction.printed
    return lambda experiment: sets.named(experiment, name)


def carry_out(name: str, *, figure: str | None = None, **how: Any) -> StudyResult:
    """As `command.carry_out`; a study with two sets is carried out with both and reported once."""
    given = how.get("given") or {}
    experiment = load(name, **given)
    if experiment.swept or not reconstruction.has(experiment.folder):
        return command.carry_out(name, figure=figure, **how)
    if figure is not None:
        return command.carry_out(name, figure=figure, alter=reconstruction.front, **how)
    quick, out, within = (how.pop(key, None) for key in ("quick", "out", "within"))
    folder = _folder(experiment.name, bool(quick), out, bool(within))
    beside = _folder(f"{experiment.name}-{PRINTED}", bool(quick), out, bool(within))
    how |= {"quick": bool(quick), "within": False}
    printed = command.carry_out(name, alter=reconstruction.printed, out=beside, **how)
    front = command.carry_out(name, alter=reconstruction.front, out=folder, **how)
    if front.result is None or front.result.report is None or printed.result is None:
        return front
    return _joined(experiment, front, cast(StudyDocument, printed.result.report or {}))


def assumed(name: str, set_: str, *, figure: str | None = None, **how: Any) -> StudyResult:
    """As `command.carry_out` with the set SET alone.

    If SET is the reconstructed one and the study's folder has recorded results of full runs of the
    printed set (`printed.json`), these are joined to the result, which goes into the folder of both
    sets.
    """
    experiment = load(name, **how.get("given") or {})
    beside = recorded.of(experiment) if set_ == NAME and figure is None else None
    if beside is None:
        return command.carry_out(name, figure=figure, alter=alteration(set_), **how)
    front = command.carry_out(name, alter=reconstruction.front, **how)
    if front.result is None or front.result.report is None:
        return front
    return _joined(experiment, front, beside)


def _joined(
    experiment: Experiment, front: StudyResult, printed: StudyDocument | Printed
) -> StudyResult:
    """Joins the printed set's results to those of the reconstructed study, and writes them."""
    assert front.result is not None and front.result.report is not None
    joined = join(experiment, front.result.report, printed)
    with reported(front.folder):
        Store.existing(front.folder).write_json(RESULT, joined)
    write_page(front.folder)
    return replace(front, result=replace(front.result, report=joined))


def _folder(name: str, quick: bool, out: Path | None, within: bool) -> Path:
    usual = registry.default_folder(name, quick)
    if out is None:
        return usual
    if within:
        return out / usual.name
    return out.with_name(f"{out.name}-{PRINTED}") if name.endswith(f"-{PRINTED}") else out


def join(
    experiment: Experiment, front: StudyDocument, printed: StudyDocument | Printed
) -> StudyDocument:
    """The result of the reconstructed set, with the printed set's added to its claims and
    tables."""
    result = without(front)
    said = reconstruction.load(experiment)
    other = {claim["id"]: claim for claim in printed.get("claims", [])}
    result["claims"] = [
        {
            **claim,
            "printed": {key: other[claim["id"]][key] for key in ("verdict", "why", "deciding")}
            if claim["id"] in other
            else None,
            "known": TRAINED if claim["id"] in said.claims_trained else said.claims,
        }
        for claim in front["claims"]
    ]
    tables = {table["id"]: table for table in printed.get("tables", [])}
    of_printed = experiment.setting(printed.get("quick", result["quick"]))
    seen = list(_tables(experiment, said, result, tables, of_printed))
    result["sets"] = {
        "about": said.about,
        "values": reconstruction.values(experiment),
        "tables": seen,
        "foretold": compared.foretold(experiment),
        "command": f"aqmlab study {experiment.name} --assume {PRINTED}",
        # The day, the commit and the seeds of the printed set's runs, if that result is recorded.
        "recorded": _recorded(printed),
    }
    result["headlines"] = headlines.of(result)
    return result


def _recorded(printed: StudyDocument | Printed) -> Recorded | None:
    if "made" not in printed:
        return None
    return {"made": printed["made"], "commit": printed["commit"], "seeds": printed["seeds"]}


def _tables(
    experiment: Experiment,
    said: reconstruction.Reconstruction,
    result: StudyDocument,
    printed: Mapping[str, Mapping[str, Any]],
    of_printed: Settings,
) -> Iterator[TableOfSets]:
    """For each table, how many published numbers are near the simulated ones, by how they were used
    in choosing the set; also adds this use and the deviation to every row."""
    inference = spec.load(experiment)
    settings = experiment.setting(result["quick"])
    longer, other_longer = (deviations.longer(inference, s) for s in (settings, of_printed))
    for table in result["tables"]:
        other = printed.get(table["id"], {"rows": []})["rows"]
        beside = dict(enumerate(other)) if len(other) == len(table["rows"]) else {}
        off: dict[str, list[tuple[float, float]]] = {standing: [] for standing in STANDINGS}
        notes: dict[str, reconstruction.Rows] = {}
        each = deviations.rows(experiment, inference, table, settings)
        for number, (row, cell, metric, known) in enumerate(each):
            if row.get("paper") is None or row.get("ours") is None:
                continue
            entry = said.of(table["id"], metric.name, cell.axes)
            row["known"] = standing = entry.known if entry else SEEN
            if entry is not None:
                notes[standing] = entry
            as_printed = beside.get(number)
            if as_printed is not None:
                row[PRINTED] = as_printed["ours"]
            if known is None:
                continue
            row["deviation"] = _off(row, row["paper"], known, metric, longer)
            other_off = math.nan
            if as_printed is not None and as_printed["ours"] is not None:
                other_off = _off(as_printed, row["paper"], known, metric, other_longer)
            off[standing].append((row["deviation"], other_off))
        for standing, pairs in off.items():
            if pairs:
                yield _counted(table, standing, notes.get(standing), pairs)


def _off(row: Row, paper: float, known: Noise, metric: Metric, longer: float) -> float:
    seeds = deviations.spread(row, longer)
    return deviations.deviation(row["ours"], paper, known, metric, seeds)


def _counted(
    table: TableShown,
    standing: str,
    entry: reconstruction.Rows | None,
    pairs: list[tuple[float, float]],
) -> TableOfSets:
    return {
        "table": table["paper"] or table["title"],
        "id": table["id"],
        "known": standing,
        "on": entry.on if entry else "",
        "commit": entry.commit if entry else "",
        "note": entry.note if entry else "",
        reconstruction.NAME: deviations.summary([pair[0] for pair in pairs]),
        PRINTED: deviations.summary([pair[1] for pair in pairs]),
    }
