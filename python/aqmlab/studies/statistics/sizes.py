"""Statistics of the table `response_sizes`: answered requests by the size of the reply."""

from __future__ import annotations

import math

import numpy as np

from aqmlab.studies.laboratory import Measured


def median_of_size(run: Measured, *, upto_bytes: int) -> float:
    """Median response time in seconds of the replies whose size is in the row that ends with
    `upto_bytes` (a power of two: the row holds replies of more than half of it); not a number
    without any.
    """
    table = run.table("response_sizes")
    row = np.flatnonzero(table["upto_bytes"] == upto_bytes)
    if len(row) == 0 or table["responses"][row[0]] == 0:
        return math.nan
    return float(table["p50_s"][row[0]])
