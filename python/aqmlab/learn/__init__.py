"""Traffic models from packet captures: read, written, shown (`docs/learning.md`)."""

from .command import Answer, learn

__all__ = ["Answer", "learn"]
