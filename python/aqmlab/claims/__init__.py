"""Evaluates claims of a paper on simulated runs, each by a rule that was written before the run.

`rule` reads the rules, `expression` computes their expressions, `evidence` finds the numbers in
runs, `judge` decides, `scorecard` reports verdicts with their evidence, and `cache` reads verdicts
of earlier commands.
"""
