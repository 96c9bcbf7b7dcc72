"""Reports: what a study found, as one HTML file that needs nothing else."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write"]


def write(folder: Path | str) -> Path:
    """Writes `report.html` into a study's results folder, from what is stored there."""
    # Here, so that code that needs its words for numbers does not load templates.
    from . import report

    return report.write(folder)
