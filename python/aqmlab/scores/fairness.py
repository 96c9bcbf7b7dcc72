"""Measures of how a line is shared: Jain's index, max–min shares, starvation, harm, slowdown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .form import Score


def jain(shares: Sequence[float]) -> float:
    """Jain's index: 1 if all shares are equal, 1/n if one has everything; NaN if empty."""
    squares = math.fsum(x * x for x in shares)
    return math.fsum(shares) ** 2 / (len(shares) * squares) if squares else math.nan


def max_min(demands: Sequence[float], capacity: float) -> list[float]:
    """The max–min fair shares of a line: no share exceeds its demand, and the rest is split equally
    among the others (progressive filling)."""
    shares = [0.0] * len(demands)
    left, open_ = capacity, sorted(range(len(demands)), key=demands.__getitem__)
    while open_:
        equal = left / len(open_)
        first = open_.pop(0)
        shares[first] = min(demands[first], equal)
        left -= shares[first]
    return shares


def max_min_ratio(got: Sequence[float], demands: Sequence[float], capacity: float) -> float:
    """The smallest ratio of a rate to its max–min fair share; 1 if every flow gets exactly its fair
    share."""
    fair = max_min(demands, capacity)
    return min(
        (mine / due for mine, due in zip(got, fair, strict=True) if due > 0), default=math.nan
    )


def starvation_ratio(shares: Sequence[float]) -> float:
    """The largest share over the least; infinite if one gets nothing, NaN if empty."""
    if not shares:
        return math.nan
    return max(shares) / min(shares) if min(shares) > 0 else math.inf


def harm(alone: float, beside: float, more_is_better: bool = True) -> float:
    """The share of its performance that an incumbent loses to a competitor: 0 none, 1 all. `alone`
    and `beside` are its performance without and with the competitor; a gain counts as 0."""
    if more_is_better:
        return max(0.0, (alone - beside) / alone) if alone > 0 else math.nan
    return max(0.0, (beside - alone) / beside) if beside > 0 else math.nan


def slowdown(beside_s: float, alone_s: float) -> float:
    """The duration of a transfer divided by its duration alone on the same line."""
    return beside_s / alone_s if alone_s > 0 else math.nan


SCORES = (
    Score(
        "jain",
        "Jain's index",
        "How equal shares are: 1 if all are, 1/n if one has all.",
        "R. Jain, D. Chiu and W. Hawe, DEC-TR-301, 1984",
        "It is high while one of many starves, and says nothing of who wanted less.",
        jain,
    ),
    Score(
        "max-min",
        "share of the max–min fair one",
        "What the worst-off gets of its max–min fair share.",
        "D. Bertsekas and R. Gallager, Data Networks, 1992, section 6.5.2",
        "It needs everybody's demand, which a greedy flow does not have.",
        max_min_ratio,
    ),
    Score(
        "starvation",
        "starvation ratio",
        "The largest share over the least.",
        "V. Arun, M. Alizadeh and H. Balakrishnan, Starvation in End-to-End Congestion Control, "
        "SIGCOMM 2022",
        "Two flows decide it, and short intervals make it infinite.",
        starvation_ratio,
    ),
    Score(
        "harm",
        "harm",
        "The share of its performance that an incumbent loses when a competitor comes.",
        "R. Ware, M. Mukerjee, S. Seshan and J. Sherry, Beyond Jain's Fairness Index, HotNets 2019",
        "Whether a harm is too much depends on what the incumbent's own kind does, which must be "
        "run as well.",
        harm,
        "share",
    ),
    Score(
        "slowdown",
        "slowdown",
        "How many times as long a transfer takes as alone on the same line.",
        "the flow completion time over its ideal, as in pFabric (SIGCOMM 2013)",
        "Short transfers dominate its tail, since their ideal is a round trip.",
        slowdown,
        "times",
    ),
)
