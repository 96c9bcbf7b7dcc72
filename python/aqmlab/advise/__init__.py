"""Advice for one access line: disciplines and settings are raced for an objective
(`docs/advice.md`)."""
