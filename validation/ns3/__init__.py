"""Comparison of aqmlab with ns-3."""
