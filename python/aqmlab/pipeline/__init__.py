"""Carries out experiments: from a file to results, tables, verdicts, figures and report."""
