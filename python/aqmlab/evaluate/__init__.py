"""The score card of a queue discipline or congestion control over a fixed set of short
scenarios."""
