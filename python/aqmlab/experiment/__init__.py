"""An experiment as data: its files are read and checked here, and its runs are planned."""
