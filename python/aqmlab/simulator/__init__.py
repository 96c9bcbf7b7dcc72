"""The Python interface of the compiled simulator `aqmlab._core`."""
