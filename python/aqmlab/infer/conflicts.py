"""Targets that cannot be met: numbers and rows that no values of the unknowns reproduce, alone or
together.

The model's discrepancy is left out here: a number is met if it lies within the published noise, the
variation between seeds and the emulator's uncertainty. A set of numbers is impossible if at every
point of the unknowns one of them is too far off. Points that meet a set are searched for in the
whole prior and in the region that history matching has left, and the nearest ones are simulated, so
that no finding rests on the emulator alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from . import sampling
from .implausibility import CUT
from .waves import History

ERROR = 0.01
"""Probability that by chance alone some set of a table's targets is found impossible, although the
model with the true values of the unknowns meets it."""
LARGEST = 3
"""Largest number of targets (or rows of targets) in a set that is checked for being impossible to
meet together."""
POOL = 4096
"""Number of points of the prior that are evaluated before points that meet a certain set are
searched for."""
WALKERS = 200
"""Number of points in each level of the subset simulation that searches for values of the unknowns
which meet a set, and largest number of the nearest points that are kept."""
LOOKED_INTO = 12
"""Largest number of sets of each size that are searched for one by one; further sets are only
counted."""

Distance = Callable[[np.ndarray], np.ndarray]
"""A function from points (the unknowns' values, each scaled to 0 to 1) to the distances of the
simulated numbers from each target (or row of targets), in standard deviations."""
Set = tuple[int, ...]


@dataclass(frozen=True)
class Conflict:
    """Targets (numbers of a table) or whole rows that no values of the unknowns meet together; a
    single one if no values meet it at all."""

    names: tuple[str, ...]
    least: float
    """The largest distance from any of these targets, at the point where it is smallest by the
    emulator; in standard deviations of the published noise, the seeds and the emulator."""
    nearest: float
    """The largest distance from any of these targets, at the simulated point where it is smallest;
    without the emulator."""


@dataclass(frozen=True)
class Impossible:
    """The sets of targets and of table rows that no values of the unknowns meet."""

    cut: float
    """Distance in standard deviations beyond which a target is not met."""
    numbers: list[Conflict] = field(default_factory=list)
    """Sets of targets that are impossible anywhere in the prior."""
    rows: list[Conflict] = field(default_factory=list)
    """Sets of table rows, each with all its targets, that are impossible anywhere in the prior."""
    left: list[Conflict] = field(default_factory=list)
    """Sets of targets that are impossible in the region left by history matching, where the model's
    discrepancy was allowed for: the other targets rule them out."""
    others: Conflict | None = None
    """All targets that are in none of the sets `numbers`, as one set: how near a point comes to
    meeting it."""
    together: Conflict | None = None
    """If `others` is impossible: a small subset that no point meets together."""
    unsearched: int = 0
    """Number of sets that no point has met so far but that were not searched for one by one."""
    unseen: list[Conflict] = field(default_factory=list)
    """Pairs of targets that no run has met together although the emulator finds them possible;
    those farthest from all runs come first."""


def bar(count: int) -> float:
    """The distance in standard deviations beyond which one of `count` targets is not met.

    At the true values of the unknowns every distance is standard normal, and an impossible set
    contains a target farther away than this. With probability 1 - `ERROR` (Bonferroni) no target
    is, and then no set of any size is called impossible by chance.
    """
    from scipy.stats import norm

    return max(CUT, float(norm.isf(ERROR / 2 / max(count, 1))))


def minimal(values: np.ndarray, cut: float, largest: int = LARGEST) -> list[Set]:
    """The smallest sets of targets, of at most `largest`, that no point meets within `cut`, from
    distances `values` (points × targets): single targets first, and within each size the farthest
    first."""
    met = (values <= cut).astype(np.float32)
    able = np.flatnonzero(met.any(axis=0))
    alone = [(int(j),) for j in np.flatnonzero(~met.any(axis=0))]
    together = met.T @ met > 0
    pairs = [(int(i), int(j)) for i, j in combinations(able, 2) if not together[i, j]]
    found = alone + (pairs if largest > 1 else [])
    found += _triples(met, able, together) if largest > 2 else []
    return sorted(found, key=lambda s: (len(s), -least(values, s)))


def _triples(met: np.ndarray, able: np.ndarray, together: np.ndarray) -> list[Set]:
    found = []
    for place, i in enumerate(able[:-2]):
        rest = able[place + 1 :]
        rest = rest[together[i, rest]]
        with_i = met[met[:, i] > 0][:, rest]
        absent = (with_i.T @ with_i == 0) & together[np.ix_(rest, rest)]
        found += [
            (int(i), int(rest[a]), int(rest[b]))
            for a, b in zip(*np.nonzero(np.triu(absent, 1)), strict=True)
        ]
    return found


def least(values: np.ndarray, columns: Set) -> float:
    """The smallest value, over all points (rows of `values`), of the largest distance from the
    targets in `columns`."""
    return float(values[:, list(columns)].max(axis=1).min())


def within_noise(history: History) -> Distance:
    """Distances in standard deviations of all uncertainties except the model's discrepancy."""
    return lambda points: history.knowledge.implausibility(points, model=False)


def of_runs(history: History) -> np.ndarray:
    """The distances of all simulated points from the targets, in standard deviations, computed from
    the runs and not by the emulator."""
    return history.knowledge.seen(history.points, history.runs)


class Search:
    """A growing set of points (the unknowns' values, each scaled to 0 to 1), with the distances of
    the simulated numbers from the targets at each, in standard deviations."""

    def __init__(
        self, distance: Distance, cut: float, start: np.ndarray, seen: np.ndarray, seed: int
    ) -> None:
        """`seen` has the distances of simulated points (points × targets); they count as those that
        the emulator gives."""
        self.distance, self.cut, self.seed = distance, cut, seed
        self.points, self.seen, self.unsearched = start, seen, 0
        self.values = distance(start)

    def all(self) -> np.ndarray:
        """The distances of all points from the targets, of emulated and of simulated points."""
        return np.vstack([self.values, self.seen])

    def sets(self) -> list[Set]:
        """The smallest impossible sets, each confirmed by a search for points that meet it: single
        targets first, then pairs of targets that can be met alone, and so on."""
        done: set[Set] = set()
        for size in range(1, LARGEST + 1):
            for _ in range(LOOKED_INTO):
                open_ = [s for s in self._minimal(size) if len(s) == size and s not in done]
                if not open_:
                    break
                self._look(open_[0], len(done))
                done.add(open_[0])
        found = self._minimal(LARGEST)
        self.unsearched = len([s for s in found if s not in done])
        return [s for s in found if s in done]

    def _minimal(self, largest: int) -> list[Set]:
        return minimal(self.all(), self.cut, largest)

    def _look(self, columns: Set, number: int) -> None:
        """Searches for points that meet all targets in `columns`, and adds the nearest ones."""
        chosen = list(columns)
        region = sampling.below(
            lambda points: self.distance(points)[:, chosen].max(axis=1),
            self.cut,
            WALKERS,
            self.points.shape[1],
            self.seed + number,
        )
        nearest = region.points[np.argsort(region.scores)[:WALKERS]]
        self.points = np.vstack([self.points, nearest])
        self.values = np.vstack([self.values, self.distance(nearest)])

    def together(self, columns: Set) -> Set:
        """A subset, as small as can be found, of the targets in `columns` that no point meets
        together; empty if a point meets all of them.

        Targets are left out as long as the others still exclude each other; then points that meet
        the rest are searched for, until no point is found.
        """
        self._look(columns, len(columns))
        for number in range(LOOKED_INTO):
            if least(self.all(), columns) <= self.cut:
                return ()
            kept = self._few(columns)
            self._look(kept, number)
            if least(self.all(), kept) > self.cut:
                return kept
        return ()

    def _few(self, columns: Set) -> Set:
        values = self.all()
        # The targets that are met most often are left out first.
        for one in sorted(columns, key=lambda j: float(np.median(values[:, j]))):
            fewer = tuple(j for j in columns if j != one)
            if fewer and least(values, fewer) > self.cut:
                columns = fewer
        return columns

    def best(self, columns: Set) -> np.ndarray:
        """The point at which the largest distance from any target in `columns` is smallest by the
        emulator."""
        return self.points[int(np.argmin(self.values[:, list(columns)].max(axis=1)))]

    def promising(self, count: int, taken: np.ndarray) -> np.ndarray:
        """Points, far from each other and from those `taken`, at which the emulator expects many
        pairs to be met that no run has met yet."""
        met = (self.values <= self.cut).astype(np.float32)
        seen = (self.seen <= self.cut).astype(np.float32)
        wanted = (seen.T @ seen == 0).astype(np.float32)
        gain = np.sum((met @ wanted) * met, axis=1)
        if not gain.any():
            return self.points[:0]
        return sampling.spread(self.points[gain >= gain.max() / 2], count, taken, self.seed)

    def described(self, sets: Sequence[Set], names: Sequence[str]) -> list[Conflict]:
        """The sets of targets as conflicts; `names` has the name of each target."""
        return [
            Conflict(tuple(names[j] for j in s), least(self.values, s), least(self.seen, s))
            for s in sets
        ]


def to_simulate(history: History, count: int, seed: int) -> np.ndarray:
    """Points whose runs show most about impossible sets: the best points of the sets that are
    impossible so far, then points that may meet pairs that no run has met."""
    search = _search(history, seed)
    sets = search.sets()
    others = _others(search, sets)
    best = [search.best(s) for s in [others, search.together(others), *sets] if s]
    best = list({point.tobytes(): point for point in best}.values())[: max(count // 2, 1)]
    return np.vstack([*best, search.promising(count - len(best), history.points)])


def found(history: History, seed: int) -> Impossible:
    """The targets that cannot be met, as far as all runs so far show."""
    search = _search(history, seed)
    cut, names = search.cut, [target.name for target in history.targets.each]
    rows = _rows(history)
    of_rows = Search(
        lambda points: _by_row(search.distance(points), rows),
        cut,
        search.points,
        _by_row(search.seen, rows),
        seed,
    )
    left = Search(_left(history, cut), cut, history.region.points, np.empty((0, len(names))), seed)
    left.seen = np.where(_kept(history)[:, None], search.seen, np.inf)
    sets = search.sets()
    others = _others(search, sets)
    together = search.together(others) if others else ()
    return Impossible(
        cut,
        search.described(sets, names),
        of_rows.described(of_rows.sets(), list(rows)),
        left.described(left.sets(), names) if history.fits else [],
        others=search.described([others], names)[0] if others else None,
        together=search.described([together], names)[0] if together else None,
        unsearched=search.unsearched,
        unseen=_unseen(search, names),
    )


def _search(history: History, seed: int) -> Search:
    everywhere = sampling.uniform(POOL, history.points.shape[1], seed)
    start = np.vstack([everywhere, history.region.points, history.points])
    cut = bar(len(history.targets))
    return Search(within_noise(history), cut, start, of_runs(history), seed)


def _others(search: Search, sets: Sequence[Set]) -> Set:
    """The targets that are in none of `sets`."""
    taken = {j for columns in sets for j in columns}
    return tuple(j for j in range(search.values.shape[1]) if j not in taken)


def _rows(history: History) -> dict[str, list[int]]:
    """The indices of the targets in each row of a table."""
    rows: dict[str, list[int]] = {}
    for place, target in enumerate(history.targets.each):
        rows.setdefault(target.row, []).append(place)
    return rows


def _by_row(values: np.ndarray, rows: dict[str, list[int]]) -> np.ndarray:
    return np.array([values[:, columns].max(axis=1) for columns in rows.values()]).T


def _left(history: History, cut: float) -> Distance:
    """A function that gives the distances from the targets; it raises them above the cut at points
    that history matching has ruled out."""

    def distance(points: np.ndarray) -> np.ndarray:
        # Distances grow with the implausibility, so that a search is led back into the region left.
        away = history.knowledge.score(points) / CUT
        values = history.knowledge.implausibility(points, model=False)
        return np.where(away[:, None] > 1, np.maximum(values, cut * away[:, None]), values)

    return distance


def _kept(history: History) -> np.ndarray:
    """For each simulated point, whether history matching has not ruled it out."""
    return history.knowledge.score(history.points) <= CUT


def _unseen(search: Search, names: Sequence[str]) -> list[Conflict]:
    """Pairs that the emulator expects to be met somewhere and that no run has met."""
    seen = (search.seen <= search.cut).astype(np.float32)
    may = (search.values <= search.cut).astype(np.float32)
    open_ = np.triu((seen.T @ seen == 0) & (may.T @ may > 0), 1)
    pairs = [(int(i), int(j)) for i, j in zip(*np.nonzero(open_), strict=True)]
    return sorted(search.described(pairs, names), key=lambda pair: -pair.nearest)
