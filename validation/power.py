"""How often each case must be run for its figures to be called equivalent: reckoned, not tried.

Usage: python -m validation.power PART [--minutes N] [--figures K] [--most N] [--out FILE]
PART is `linux` or `linux.l4s`. From the records of earlier runs each figure's chance of the verdict
*equivalent* is reckoned for any number of runs; seeds are given where they add most to the sum of
these chances for a second of processor time, until N minutes are spent or K figures are expected.
FILE is for `python -m validation.PART --plan FILE`. Nothing is run here.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import chdtri, ndtr

from aqmlab.intervals import student
from validation.equivalence import named
from validation.figures import FIGURES
from validation.linux import cases, l4s
from validation.page import RECORDS
from validation.recorded import RATIOS, Record, cells, found, runs_of

PARTS = {"linux": ("linux", "linux.older"), "linux.l4s": ("linux.l4s",)}
"""The records of earlier runs, by what is planned: of 6.12 too, whose cases are those of 7.3."""

MORE = 2.0
"""Degrees of freedom that a variance has beyond its runs' (assumed): two runs alone would say
almost nothing of it."""

LEAST = 0.15
"""True differences have at least this standard deviation, in margins (assumed): figures whose
interval is narrow show less, and of the others little is known."""

START_S, PACKET_S, REQUEST_S, OURS = 0.5, 47e-6, 87e-6, 0.03
"""Processor seconds: of any run of the kernel, and for each packet that its line can send, of bulk
senders and of web users; one of ours takes this share of it. Measured on 2026-11-29 (2.1 s for 40
simulated seconds at 10 Mbit/s, 9.4 s for 210, 5.5 s for 70 of web users), good to a fifth."""

FRAME_BITS = 1514 * 8

AnyCase = cases.Case | l4s.Case

SHARES = (np.arange(9) + 0.5) / 9
"""Where distributions are looked at in place of an integral."""


@dataclass
class Known:
    """What earlier runs showed of one figure, in its unit on the page."""

    margin: float
    paired: bool
    """Whether runs of one seed are judged as a pair."""
    apart: list[float] = field(default_factory=list)
    """The means' difference, one of each record."""
    runs: list[int] = field(default_factory=list)
    variances: list[tuple[float, float, float]] = field(default_factory=list)
    """Variances of a pair's difference, of our runs, and of the other program's."""

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the variances."""
        return sum(count - 1 for count in self.runs)

    def variance(self, which: int) -> float:
        """One of the three, of all records together."""
        each = zip(self.runs, self.variances, strict=True)
        return sum((count - 1) * of[which] for count, of in each) / self.freedom


def halves(cell: str) -> tuple[float, float]:
    """Mean and half width of a cell such as `94.83 ± 0.13`; not a number where it has none."""
    mean, _, half = cell.partition(" ± ")
    return (float(mean), float(half)) if half else (math.nan, math.nan)


Figures = dict[tuple[str, str], Known]


def known(records: Sequence[tuple[Record, pl.DataFrame]], paired: Mapping[str, bool]) -> Figures:
    """What the records show, by case and figure; of the cases in `paired` alone."""
    each: Figures = {}
    for record, ratios in records:
        exact = {(case, name): rest for case, name, *rest in ratios.rows()}
        for case, title, runs, ours, theirs, _, _, _ in filter(
            None, map(cells, record.text.splitlines())
        ):
            if case in paired:
                row = exact.get((case, title.split(",")[0]))
                _add(each, (case, title), runs_of(runs), halves(ours), halves(theirs), row, paired)
    return each


def _add(
    each: Figures,
    key: tuple[str, str],
    runs: tuple[int, int],
    ours: tuple[float, float],
    theirs: tuple[float, float],
    exact: Sequence[float] | None,
    paired: Mapping[str, bool],
) -> None:
    (a, half_a), (b, half_b) = ours, theirs
    of = next(one for one in FIGURES.values() if one.title == key[1])
    margin = max(of.margin * b, of.floor * of.scale)
    one = each.setdefault(key, Known(margin, paired[key[0]]))
    if math.isnan(a) or math.isnan(b) or min(runs) < 2:
        return
    apart, half = (b * (exact[0] - 1), b * exact[1]) if exact else (a - b, math.nan)
    of_theirs, of_ours = half_b**2 * _scale(runs[0]), half_a**2 * _scale(runs[1])
    of_pairs = half**2 * _scale(runs[0])
    if one.paired and (runs[0] != runs[1] or math.isnan(half)):
        of_pairs = of_theirs + of_ours
    one.apart.append(apart)
    one.runs.append(runs[0])
    one.variances.append((of_pairs, of_ours, of_theirs))


def _scale(runs: int) -> float:
    """From the square of a half width to a variance: the quantile of Student's distribution, and
    the runs."""
    return runs / student(0.975, runs - 1) ** 2


def spread_of_truth(each: Iterable[Known]) -> float:
    """Standard deviation of the true differences about 0, in margins: how far the estimates of all
    figures scatter beyond their own uncertainty, of those that are known within half a margin; not
    below `LEAST`."""
    found = []
    for one in each:
        for apart, runs in zip(one.apart, one.runs, strict=True):
            error = _variance(one, paired=one.paired, ours=1) / runs
            if error < (one.margin / 2) ** 2:
                found.append((apart**2 - error) / one.margin**2)
    return max(math.sqrt(max(sum(found) / len(found), 0.0)) if found else 0.0, LEAST)


def _variance(one: Known, *, paired: bool, ours: int) -> float:
    """Variance of the difference of means, times the number of the other program's runs."""
    return one.variance(0) if paired else one.variance(1) / ours + one.variance(2)


@cache
def _chi(freedom: float) -> np.ndarray:
    """Quantiles of chi squared over its degrees of freedom."""
    return chdtri(freedom, 1 - SHARES) / freedom


def chance(one: Known, runs: int, ours: int, spread: float) -> float:
    """The probability that the verdict is *equivalent* after `runs` of the other program, and
    `ours` times as many of aqmlab (with more than one, runs are not paired).

    The true difference is not what was estimated: it is normal about 0 with a deviation of `spread`
    margins, and the estimates are added to that by Bayes' rule. The true variance is uncertain as a
    scaled inverse of chi squared, and so is the one that will be estimated.
    """
    if not one.runs:
        return 0.0
    paired = one.paired and ours == 1
    # The estimates were made of equally many runs, in pairs where these are judged.
    before = _variance(one, paired=one.paired, ours=1)
    prior = (spread * one.margin) ** 2
    weights = [count / before if before else math.inf for count in one.runs]
    if math.inf in weights:
        centre, doubt = one.apart[-1], 0.0
    else:
        precision = 1 / prior + sum(weights)
        centre = sum(w * x for w, x in zip(weights, one.apart, strict=True)) / precision
        doubt = 1 / precision
    more = 1 / _chi(one.freedom + MORE)
    first = (one.variance(0) if paired else one.variance(2)) / runs
    second = 0.0 if paired else one.variance(1) / (ours * runs)
    wide = student(0.975, runs - 1) ** 2 * first * np.outer(more, _chi(runs - 1))
    if second:
        wide = wide + student(0.975, ours * runs - 1) ** 2 * second * more[:, None]
    room = np.maximum(one.margin - np.sqrt(wide), 0)
    sigma = np.sqrt(doubt + (first + second) * more)[:, None] + 1e-12 * one.margin
    return float(np.mean(ndtr((room - centre) / sigma) - ndtr((-room - centre) / sigma)))


def seconds(case: AnyCase, runs: int, ours: int) -> float:
    """Processor time of `runs` in the kernel and `ours` times as many here, about."""
    rate = case.rate_mbit
    if isinstance(case, l4s.Case):
        rate = case.shaped_mbit
    packets = rate * 1e6 * (case.warmup_s + case.measured_s) / FRAME_BITS
    web = isinstance(case, cases.Case) and case.workload
    return runs * (1 + OURS * ours) * (START_S + packets * (REQUEST_S if web else PACKET_S))


@dataclass(frozen=True)
class Choice:
    """One way to run a case."""

    seconds: float
    expected: float
    """How many of its figures are called equivalent, on average."""
    runs: int
    ours: int
    """Our runs for each of the other program's."""


def counts(most: int) -> list[int]:
    """Numbers of runs that are looked at: all small ones, then in steps of a twentieth. Not two,
    whose intervals are three times those of three."""
    each = [3]
    while each[-1] < most:
        each.append(min(max(each[-1] + 1, round(each[-1] * 1.05)), most))
    return each


def choices(
    case: AnyCase, each: Sequence[Known], spread: float, most: int, ours: int
) -> list[Choice]:
    """Every way to run a case."""
    return [
        Choice(
            seconds(case, runs, times),
            sum(chance(one, runs, times, spread) for one in each),
            runs,
            times,
        )
        for runs in counts(most)
        for times in dict.fromkeys((1, ours))
    ]


def chosen(
    offers: Mapping[str, Sequence[Choice]], budget_s: float, wanted: float
) -> dict[str, Choice]:
    """One choice a case: from the cheapest on, always the dearer one that adds most for each second
    more, until the budget is spent or the wanted number of figures is expected."""
    plan = {name: min(each, key=lambda one: one.seconds) for name, each in offers.items()}

    def best(name: str) -> tuple[float, Choice] | None:
        now = plan[name]
        steps = [
            ((one.expected - now.expected) / (one.seconds - now.seconds), one)
            for one in offers[name]
            if one.seconds > now.seconds and one.expected > now.expected
        ]
        return max(steps, key=lambda step: step[0], default=None)

    steps = {name: step for name in offers if (step := best(name))}
    spent = sum(one.seconds for one in plan.values())
    total = sum(one.expected for one in plan.values())
    while steps and total < wanted:
        name = max(steps, key=lambda name: steps[name][0])
        _, to = steps.pop(name)
        more = to.seconds - plan[name].seconds
        if spent + more <= budget_s:
            spent, total = spent + more, total + to.expected - plan[name].expected
            plan[name] = to
            if step := best(name):
                steps[name] = step
    return plan


def written(plan: Mapping[str, Choice], head: str) -> str:
    """The plan as `equivalence.plan` reads it: the cheapest case first, so that as many as can be
    are whole if time ends."""
    lines = [f"# {line}" for line in head.splitlines()]
    for name, one in sorted(plan.items(), key=lambda of: of[1].seconds):
        count = one.runs if one.ours == 1 else [one.runs, one.ours * one.runs]
        lines.append(f'"{name}" = {count}')
    return "\n".join(lines) + "\n"


def planned(
    arguments: argparse.Namespace, of: Mapping[str, AnyCase]
) -> tuple[dict[str, Choice], int, float]:
    """A choice for each of these cases, how many figures they have, and how far true differences
    scatter, in margins."""
    records = found(RECORDS)
    shown = [
        (records[part], pl.read_csv(RECORDS / part / RATIOS)) for part in PARTS[arguments.part]
    ]
    figures = known(shown, {name: case.paired for name, case in of.items()})
    spread = spread_of_truth(figures.values())
    offers = {
        name: choices(
            case,
            [one for (which, _), one in figures.items() if which == name],
            spread,
            arguments.most,
            arguments.ours,
        )
        for name, case in of.items()
    }
    return chosen(offers, 60 * arguments.minutes, arguments.figures), len(figures), spread


def main() -> int:
    """Prints what a plan is expected to show, and writes it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--minutes", type=float, default=math.inf, help="of a processor, at most")
    parser.add_argument("--figures", type=float, default=math.inf, help="expected, no more")
    described = "our runs for each of the other program's, where that is worth more (8)"
    parser.add_argument("--ours", type=int, default=8, help=described)
    parser.add_argument("--most", type=int, default=200, help="runs of a case at most (200)")
    parser.add_argument("--without", action="append", default=[], help="cases or a family left out")
    parser.add_argument("--out", type=Path, help="TOML file of the plan")
    arguments = parser.parse_args()
    all_cases: list[AnyCase] = [*(cases.full() if arguments.part == "linux" else l4s.cases())]
    out = named(all_cases, arguments.without)
    of = {case.name(): case for case in all_cases if case not in out}
    plan, figures, spread = planned(arguments, of)
    expected, runs, spent_s = (
        sum(getattr(one, name) for one in plan.values()) for name in ("expected", "runs", "seconds")
    )
    text = (
        f"{expected:.0f} of {figures} figures of {len(plan)} cases are expected to be equivalent, "
        f"after {runs:,} runs of the kernel, {spent_s / 60:.0f} minutes of a processor "
        f"(true differences of {spread:.2f} margins, standard deviation)."
    )
    print(text)
    if arguments.out:
        head = (
            f"How often each case is run by `python -m validation.{arguments.part} --plan`.\n{text}"
        )
        arguments.out.write_text(written(plan, head), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
