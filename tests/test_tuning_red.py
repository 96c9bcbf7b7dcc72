"""The study tuning-red follows the paper's own numbers where they are at hand."""

from __future__ import annotations

import csv
from fractions import Fraction

from aqmlab.experiment.experiment import load


def test_the_good_settings_are_those_of_table_4():
    experiment = load("tuning-red")
    (group,) = (g for g in experiment.of("group") if g.name == "settings")
    (axis,) = (a for a in group.axes if a.name == "setting")
    queues = {v.name: v.set["link.0.forward"] for v in axis.variants}
    drawn = {f.id: f.of["where"] for f in experiment.figure if f.id in ("15a", "15b")}
    with (experiment.folder / "reference/christiansen2000_table4_best.csv").open() as file:
        for row in csv.DictReader(file):
            (name,) = (
                name
                for name, queue in queues.items()
                if all(_same(queue[key], row[key]) for key in ("min_th", "max_th", "w_q", "max_p"))
            )
            (where,) = (w for w in drawn.values() if w["load"] == f"{row['load_pct']}%")
            assert name in where["setting"]
    assert sum(len(where["setting"]) for where in drawn.values()) == 6


def _same(ours: object, paper: str) -> bool:
    return float(Fraction(str(ours))) == float(Fraction(paper))
