"""The compiled simulator in Python's words; nothing else knows `aqmlab._core`."""
