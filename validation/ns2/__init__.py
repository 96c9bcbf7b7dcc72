"""Comparison of aqmlab with ns-2 2.35."""
