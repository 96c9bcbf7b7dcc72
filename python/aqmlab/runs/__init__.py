"""Runs: simulated on all cores, calibrated, kept in a results folder and never done twice."""
