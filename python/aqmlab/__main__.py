"""Runs the command line: `python -m aqmlab`."""

from aqmlab.cli import main

main()
