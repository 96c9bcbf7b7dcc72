"""Carries out runs: simulation on all cores, calibration of loads, and results folders, so that no
run is repeated."""
