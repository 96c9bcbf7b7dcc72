"""The kinds of figures, one in each file; `aqmlab.figures` lists them."""
