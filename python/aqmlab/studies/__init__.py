"""Studies: a published experiment done again, from one command to a report.

`registry` lists them, `experiment` reads one as data, `plan` turns it into runs, `laboratory` runs
them, `claims`, `tables`, `drawing` and `headlines` look at the results, `study` ties it together.
"""
