"""Comparison of aqmlab's QUIC with quinn-proto."""
