"""One score card of a queue or congestion control over a fixed set of short scenarios."""
