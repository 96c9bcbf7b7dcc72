"""Advice for one line: disciplines and settings raced for an objective (`docs/advice.md`)."""
