"""Kinds of figures, one a file; the list of them is in `aqmlab.figures`."""
