"""From an experiment to its results, tables, verdicts, figures and report."""
