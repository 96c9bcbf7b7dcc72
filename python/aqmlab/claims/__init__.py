"""Claims of a paper, each with a rule that was written before the run, judged on our runs.

`rule` reads them, `expression` computes with them, `evidence` finds the numbers, `judge` decides,
`scorecard` says it with the evidence and `kept` reads what earlier commands said.
"""
