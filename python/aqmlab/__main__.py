"""`python -m aqmlab`."""

from aqmlab.cli.main import main

main()
