"""The study "Tuning RED for Web Traffic", first part.

All of it is data, in `experiments/tuning-red/experiment.toml`: calibration (figures 3-8), FIFO
(table 1, figures 9a-d and 10), RED by load and by thresholds (figures 11, 12a, 12b).
"""

from __future__ import annotations

from .experiment import load
from .study import Study


def study() -> Study:
    """The study, read from the files that come with the package."""
    return Study(load("tuning-red"))
