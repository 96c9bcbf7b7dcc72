"""Studies: a published experiment done again, from one command to a report.

`registry` lists them, `experiment` reads one as data, `plan` turns it into runs, `laboratory` runs
them, `tables`, `drawing`, `findings` and `headlines` look at the results, `study` ties it together.
"""
