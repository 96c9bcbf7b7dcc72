"""A user's own disciplines and congestion controls, in Python or in a shared library; they run in
separate processes."""
