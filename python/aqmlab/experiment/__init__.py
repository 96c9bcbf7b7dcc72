"""An experiment as data: what is written in files, read critically, and the runs that it plans."""
