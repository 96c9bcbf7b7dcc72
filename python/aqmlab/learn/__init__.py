"""Traffic models that are learned from packet captures (`docs/learning.md`)."""

from .command import Answer, learn

__all__ = ["Answer", "learn"]
