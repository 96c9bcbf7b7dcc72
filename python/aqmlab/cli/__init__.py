"""The command `aqmlab`: what it takes and how it answers."""
