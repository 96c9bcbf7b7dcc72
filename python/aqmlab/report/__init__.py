"""Reports: the results of a study as one self-contained HTML file."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write"]


def write(folder: Path | str) -> Path:
    """Writes `report.html` into a study's results folder, from what is stored there."""
    # Imported here, so that code that needs only its texts for numbers does not load templates.
    from . import report

    return report.write(folder)
