"""Advice for one access line: disciplines and settings are simulated in rounds, after each of which
the worse ones drop out (a race), and the best for an objective is advised (`docs/advice.md`)."""
