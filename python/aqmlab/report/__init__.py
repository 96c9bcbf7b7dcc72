"""Reports: what a study found, as one HTML file that needs nothing else."""

from .report import write

__all__ = ["write"]
