"""Claims of a paper, each with a rule that was written before the run, judged on our runs.

`rule` reads them, `expression` computes with them, `evidence` finds the numbers, `judge` decides
and `scorecard` gathers the verdicts of all studies.
"""
