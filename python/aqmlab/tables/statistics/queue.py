"""Statistics of the studied queue in one run, and along a sweep."""

from __future__ import annotations

import itertools
import math

from aqmlab.experiment.plan import Cell
from aqmlab.runs.laboratory import FinishedRun


def queue_deviation(run: FinishedRun) -> float:
    """Standard deviation of the queue's samples, in packets."""
    return math.sqrt(run.summary["queue_var_packets"])


def largest_of_parameter(run: FinishedRun, *, port: str, gauge: str, parameter: str) -> float:
    """The largest value of a gauge over a parameter of its discipline, such as RED's average over
    max_th: both are in one unit, packets or bytes."""
    link, direction = port.rsplit(".", 1)
    line = next(one for one in run.scenario["link"] if one.get("name") == link)
    largest = run.summary["ports"][port]["gauge_max"][gauge]
    return float(largest / line[direction][parameter])


def passed(run: FinishedRun) -> float:
    """The share of time in which the line is busy times the share of packets that are not dropped.

    It combines the two aims "a full line" and "few losses": 1 if both are met.
    """
    return run.summary["utilisation"] * (1 - run.summary["drop_rate"])


def best_moves(cells: list[tuple[Cell, FinishedRun]], *, over: str, along: str) -> float:
    """The distance, in grid steps of the axis `over`, that the best value moves along the axis
    `along`.

    The best value has the largest `passed`. The distance is 0 if the value does not move, or moves
    in both directions.
    """
    grid = list(dict.fromkeys(cell.axes[over] for cell, _ in cells))
    best: dict[object, tuple[float, int]] = {}
    for cell, run in cells:
        found = (passed(run), grid.index(cell.axes[over]))
        best[cell.axes[along]] = max(best.get(cell.axes[along], found), found)
    places = [place for _, place in best.values()]
    steps = [b - a for a, b in itertools.pairwise(places)]
    turns_back = min(steps, default=0) < 0 < max(steps, default=0)
    return 0.0 if turns_back else float(abs(sum(steps)))
