"""Means, intervals and paired differences over seeds, since a single run is subject to chance.

`statistics` and `paired` return a tidy Polars data frame (`.to_pandas()` if you prefer);
`statistics_rows` and `paired_rows` return them as mappings, for which Polars is not loaded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

from aqmlab.intervals import CONFIDENCE, interval
from aqmlab.simulator import measures
from aqmlab.simulator.renamed import Numbers, Summary

if TYPE_CHECKING:
    import polars as pl

Flat = dict[str, float | None]
"""The numbers of a summary by dotted name; None where one is undefined."""
Row = dict[str, Any]


class Replication(Protocol):
    """The properties of a run that statistics need."""

    @property
    def variant(self) -> int:
        """Index of the combination of axis values."""
        ...

    @property
    def label(self) -> str:
        """The combination of axis values in words."""
        ...

    @property
    def seed(self) -> int:
        """The seed of the run."""
        ...

    @property
    def summary(self) -> Numbers:
        """The summary of the run: its measures by name."""
        ...


MACHINES = tuple(about["name"] for about in measures.MACHINES)
"""Numbers of a summary about the machine's speed, which are no measures of the network."""


def numbers(summary: Numbers, prefix: str = "") -> Flat:
    """Every measured number of a summary, None where it is undefined; nested names are joined with
    dots."""
    flat: dict[str, float | None] = {}
    for name, value in summary.items():
        if not prefix and name in MACHINES:
            continue
        if type(value) is float:  # the most frequent case is tested first
            flat[prefix + name] = value if math.isfinite(value) else None
        elif isinstance(value, Mapping):
            flat.update(numbers(value, f"{prefix}{name}."))
        elif _is_number(value):
            flat[prefix + name] = float(value)
        elif value is None or isinstance(value, float):
            flat[prefix + name] = None
    return flat


def merged(summaries: Sequence[Numbers]) -> Summary:
    """One summary from several: means of numbers; other values if all are equal, else None.

    A number that is undefined in any of them is undefined.
    """
    names = dict.fromkeys(name for summary in summaries for name in summary)
    return Summary((name, _merged([summary.get(name) for summary in summaries])) for name in names)


def _merged(values: Sequence[Any]) -> object:
    if all(isinstance(value, Mapping) for value in values):
        return merged(values)
    if all(map(_is_number, values)):
        return math.fsum(values) / len(values)
    return values[0] if all(value == values[0] for value in values) else None


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _interval(sample: Sequence[float | None], confidence: float) -> tuple[float, float, float]:
    """The interval of a sample; all NaN if any value is undefined."""
    values = [value for value in sample if value is not None]
    return interval(values if len(values) == len(sample) else [], confidence)


def statistics(runs: Iterable[Replication], confidence: float = CONFIDENCE) -> pl.DataFrame:
    """Mean and interval of every summary number of every variant over its seeds.

    Columns: variant, label, field, n, mean, low, high. A number that is undefined in any seed (a
    quantile that falls among failed requests) has no mean, since the mean of the other seeds would
    be biased. Its n counts the seeds in which it is defined.
    """
    return _frame(statistics_rows(runs, confidence), _STATISTICS)


def statistics_rows(runs: Iterable[Replication], confidence: float = CONFIDENCE) -> list[Row]:
    """The rows of `statistics`; what is undefined is None."""
    return [row for fields in by_variant(runs, confidence).values() for row in fields.values()]


def by_variant(runs: Iterable[Replication], confidence: float = CONFIDENCE) -> dict[int, OfVariant]:
    """The rows of `statistics` by variant and field, each computed when it is looked up: a network
    of many links has a million fields, of which a table shows ten."""
    groups = _by_variant(runs).items()
    return {variant: OfVariant(variant, label, of, confidence) for (variant, label), of in groups}


class _ByField(Mapping[str, Row]):
    """Rows by field, each computed when it is looked up."""

    _names: Mapping[str, None]

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __getitem__(self, name: str) -> Row:
        if name not in self._names:
            raise KeyError(name)
        return self._computed(name)

    def _computed(self, name: str) -> Row:
        raise NotImplementedError


class OfVariant(_ByField):
    """The rows of one variant by field; `by_seed` has the numbers of its runs."""

    def __init__(
        self, variant: int, label: str, runs: Sequence[Replication], confidence: float
    ) -> None:
        self._about, self._confidence = (variant, label), confidence
        self._flat = [numbers(run.summary) for run in runs]
        self._names = dict.fromkeys(name for values in self._flat for name in values)
        seeds = (run.seed for run in runs)
        self.by_seed = dict(zip(seeds, self._flat, strict=True))

    def _computed(self, name: str) -> Row:
        sample = [values.get(name) for values in self._flat]
        n = sum(value is not None for value in sample)
        found = (*self._about, name, n, *_interval(sample, self._confidence))
        return _row(_STATISTICS, found)


def paired(
    a: Iterable[Replication], b: Iterable[Replication], confidence: float = CONFIDENCE
) -> pl.DataFrame:
    """Mean and interval of `b - a`, paired by seed, for every number that both have.

    Columns: field, n, mean_a, mean_b, difference, low, high. With common random numbers this
    interval is narrower than the two intervals suggest. A number that is undefined in any of
    these seeds has no difference; its n counts the seeds in which both are defined.
    """
    return _frame(paired_rows(a, b, confidence), _PAIRED)


def paired_rows(
    a: Iterable[Replication], b: Iterable[Replication], confidence: float = CONFIDENCE
) -> list[Row]:
    """The rows of `paired`; what is undefined is None."""
    first = {run.seed: numbers(run.summary) for run in a}
    second = {run.seed: numbers(run.summary) for run in b}
    return list(_Pairs(first, second, confidence).values())


def differences(variants: Mapping[int, OfVariant]) -> dict[int, Mapping[str, Row]]:
    """The rows of `paired`, by field, for each variant but the first minus the first; each row is
    computed when it is looked up."""
    first, *others = variants
    base = variants[first].by_seed
    return {other: _Pairs(base, variants[other].by_seed, CONFIDENCE) for other in others}


class _Pairs(_ByField):
    """The rows of `paired` by field, from the numbers of two variants by seed."""

    def __init__(self, a: Mapping[int, Flat], b: Mapping[int, Flat], confidence: float) -> None:
        self._pairs = [(a[seed], b[seed]) for seed in a if seed in b]
        self._confidence = confidence
        there = {name for _, second in self._pairs for name in second}
        names = dict.fromkeys(name for first, _ in self._pairs for name in first)
        self._names = {name: None for name in names if name in there}

    def _computed(self, name: str) -> Row:
        xs, ys = zip(*((x.get(name), y.get(name)) for x, y in self._pairs), strict=True)
        gaps = [None if x is None or y is None else y - x for x, y in zip(xs, ys, strict=True)]
        n = sum(gap is not None for gap in gaps)
        means = (_interval(sample, self._confidence)[0] for sample in (xs, ys))
        return _row(_PAIRED, (name, n, *means, *_interval(gaps, self._confidence)))


def _by_variant(runs: Iterable[Replication]) -> dict[tuple[int, str], list[Replication]]:
    groups: dict[tuple[int, str], list[Replication]] = {}
    for run in runs:
        groups.setdefault((run.variant, run.label), []).append(run)
    return groups


_STATISTICS = ("variant", "label", "field", "n", "mean", "low", "high")
_PAIRED = ("field", "n", "mean_a", "mean_b", "difference", "low", "high")


def _row(names: tuple[str, ...], values: tuple[object, ...]) -> Row:
    """A row with None for undefined means and ends of intervals."""
    finite = (None if isinstance(v, float) and math.isnan(v) else v for v in values)
    return dict(zip(names, finite, strict=True))


def _frame(rows: list[Row], names: tuple[str, ...]) -> pl.DataFrame:
    import polars as pl

    kinds = {
        "label": pl.String,
        "field": pl.String,
        "variant": pl.Int64,
        "n": pl.Int64,
    }
    schema = {name: kinds.get(name, pl.Float64) for name in names}
    return pl.DataFrame(rows, schema=schema, orient="row")
