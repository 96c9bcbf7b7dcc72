"""Statistics of responses by size, from the table `response_sizes`: a row for each doubling."""

from __future__ import annotations

import math

import numpy as np

from aqmlab.runs.laboratory import FinishedRun

Rows = dict[str, np.ndarray]


def _rows(run: FinishedRun) -> Rows:
    """The table `response_sizes` with columns of floats."""
    return {name: values.astype(float) for name, values in run.columns("response_sizes").items()}


def _upto(rows: Rows, upto_bytes: float) -> Rows:
    """The rows whose responses all have at most `upto_bytes`."""
    small = rows["upto_bytes"] <= upto_bytes
    return {name: values[small] for name, values in rows.items()}


def median_of_size(run: FinishedRun, *, upto_bytes: int) -> float:
    """Median response time in seconds of the replies whose size is in the row that ends with
    `upto_bytes` (a power of two: the row holds replies of more than half of it); NaN without any.
    """
    table = run.columns("response_sizes")
    row = np.flatnonzero(table["upto_bytes"] == upto_bytes)
    if len(row) == 0 or table["responses"][row[0]] == 0:
        return math.nan
    return float(table["p50_s"][row[0]])


def sized_mean_ms(run: FinishedRun, *, upto_bytes: float) -> float:
    """Mean response time (ms) of the answered responses in the rows up to this size."""
    rows = _upto(_rows(run), upto_bytes)
    total = rows["responses"].sum()
    return float(1000 * (rows["mean_s"] * rows["responses"]).sum() / total) if total else np.nan


def sized_count(run: FinishedRun, *, upto_bytes: float) -> float:
    """Number of answered responses of the measured interval in the rows up to this size."""
    return float(_upto(_rows(run), upto_bytes)["responses"].sum())


def sized_retransmitted(run: FinishedRun, *, upto_bytes: float) -> float:
    """Percentage of the responses up to this size with a retransmission."""
    rows = _upto(_rows(run), upto_bytes)
    total = rows["responses"].sum()
    return float(100 * rows["retransmitted"].sum() / total) if total else np.nan


def bytes_of_largest(run: FinishedRun, *, percent: float) -> float:
    """Percentage of the payload bytes that the largest `percent` percent of the responses carry.

    Responses of one row count as equally large, which underestimates the result a little.
    """
    rows = _rows(run)
    count, carried = rows["responses"][::-1], rows["bytes"][::-1]
    wanted = percent / 100 * count.sum()
    before = np.concatenate([[0.0], np.cumsum(count)[:-1]])
    share = np.clip((wanted - before) / np.maximum(count, 1.0), 0.0, 1.0)
    return float(100 * (share * carried).sum() / carried.sum())


def share_of_sizes_faster(a: FinishedRun, b: FinishedRun) -> float:
    """Percentage of a's responses in rows (doublings of the size) in which a's mean time is below
    b's.

    Rows in which b has no response do not count as faster.
    """
    mine, theirs = _aligned(_rows(a), _rows(b))
    faster = mine["mean_s"] < theirs["mean_s"]  # the mean is 0 in rows without responses
    return float(100 * mine["responses"][faster].sum() / mine["responses"].sum())


def byte_share_distance(a: FinishedRun, b: FinishedRun, *, upto_bytes: float) -> float:
    """Largest distance in points, over the sizes up to this one, between the shares of payload
    bytes that responses of up to a size carry.
    """
    mine, theirs = _aligned(_rows(a), _rows(b))
    distance = np.abs(_byte_shares(mine) - _byte_shares(theirs))
    return float(distance[mine["upto_bytes"] <= upto_bytes].max())


def _byte_shares(rows: Rows) -> np.ndarray:
    return 100 * np.cumsum(rows["bytes"]) / rows["bytes"].sum()


def _aligned(a: Rows, b: Rows) -> tuple[Rows, Rows]:
    """Both tables with common rows; rows that one lacks are empty there."""
    edges = np.union1d(a["upto_bytes"], b["upto_bytes"])
    return _spread(a, edges), _spread(b, edges)


def _spread(rows: Rows, edges: np.ndarray) -> Rows:
    place = np.searchsorted(edges, rows["upto_bytes"])
    found = {"upto_bytes": edges}
    for name in ("responses", "bytes", "mean_s"):
        found[name] = np.zeros(len(edges))
        found[name][place] = rows[name]
    return found
