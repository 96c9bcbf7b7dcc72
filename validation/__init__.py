"""Other programs run beside aqmlab, a folder each: `python -m validation.ns2`."""
