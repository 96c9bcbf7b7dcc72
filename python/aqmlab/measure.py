"""Nobody knows the truth from one run: means, intervals and paired differences over seeds.

Every function returns a tidy Polars data frame (`.to_pandas()` if you prefer).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import polars as pl

CONFIDENCE = 0.95


class Replication(Protocol):
    """One run, as statistics sees it."""

    @property
    def variant(self) -> int:
        """Which combination of axis values."""
        ...

    @property
    def label(self) -> str:
        """That combination in words."""
        ...

    @property
    def seed(self) -> int:
        """The seed of the run."""
        ...

    @property
    def summary(self) -> Mapping[str, Any]:
        """What came out, in numbers."""
        ...


def numbers(summary: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """Every finite number of a summary; nested names are joined with dots."""
    flat: dict[str, float] = {}
    for name, value in summary.items():
        if isinstance(value, Mapping):
            flat.update(numbers(value, f"{prefix}{name}."))
        elif _is_number(value):
            flat[prefix + name] = float(value)
    return flat


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """Mean and the ends of its Student-t interval; the ends are NaN for fewer than two values."""
    from scipy import stats

    n = len(values)
    if n == 0:
        return math.nan, math.nan, math.nan
    mean = math.fsum(values) / n
    if n == 1:
        return mean, math.nan, math.nan
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1))
    half = float(stats.t.ppf((1 + confidence) / 2, n - 1)) * deviation / math.sqrt(n)
    return mean, mean - half, mean + half


def statistics(runs: Iterable[Replication], confidence: float = CONFIDENCE) -> pl.DataFrame:
    """Mean and interval of every summary number of every variant over its seeds.

    Columns: variant, label, field, n, mean, low, high. A seed in which a number does not exist
    (a response-time quantile without responses) is not counted in its n.
    """
    rows: list[tuple[Any, ...]] = []
    for (variant, label), members in _by_variant(runs).items():
        samples: dict[str, list[float]] = {}
        for run in members:
            for name, value in numbers(run.summary).items():
                samples.setdefault(name, []).append(value)
        rows += [
            (variant, label, name, len(values), *interval(values, confidence))
            for name, values in samples.items()
        ]
    return _frame(rows, ("variant", "label", "field", "n", "mean", "low", "high"))


def paired(
    a: Iterable[Replication], b: Iterable[Replication], confidence: float = CONFIDENCE
) -> pl.DataFrame:
    """Mean and interval of `b - a`, seed by seed, of every number both have.

    Columns: field, n, mean_a, mean_b, difference, low, high. With common random numbers this
    interval is narrower than the two intervals suggest.
    """
    first = {run.seed: numbers(run.summary) for run in a}
    second = {run.seed: numbers(run.summary) for run in b}
    samples: dict[str, list[tuple[float, float]]] = {}
    for seed, values in first.items():
        for name, value in values.items():
            other = second.get(seed, {}).get(name)
            if other is not None:
                samples.setdefault(name, []).append((value, other))
    rows: list[tuple[Any, ...]] = []
    for name, pairs in samples.items():
        n = len(pairs)
        mean_a = math.fsum(x for x, _ in pairs) / n
        mean_b = math.fsum(y for _, y in pairs) / n
        rows.append((name, n, mean_a, mean_b, *interval([y - x for x, y in pairs], confidence)))
    return _frame(rows, ("field", "n", "mean_a", "mean_b", "difference", "low", "high"))


def _by_variant(runs: Iterable[Replication]) -> dict[tuple[int, str], list[Replication]]:
    groups: dict[tuple[int, str], list[Replication]] = {}
    for run in runs:
        groups.setdefault((run.variant, run.label), []).append(run)
    return groups


def _frame(rows: list[tuple[Any, ...]], names: tuple[str, ...]) -> pl.DataFrame:
    """Undefined ends of intervals become nulls."""
    import polars as pl

    kinds = {
        "label": pl.String,
        "field": pl.String,
        "variant": pl.Int64,
        "n": pl.Int64,
    }
    schema = {name: kinds.get(name, pl.Float64) for name in names}
    return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)
