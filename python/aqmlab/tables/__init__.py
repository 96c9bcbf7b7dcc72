"""Computes numbers from runs: statistics, means and intervals over seeds, paired differences,
tables."""
