"""Benchmarks of the simulator and of commands on this machine (`aqmlab bench`)."""
