"""The Python interface of the compiled simulator; only this package uses `aqmlab._core`."""
