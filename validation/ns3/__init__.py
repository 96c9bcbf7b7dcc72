"""ns-3 beside aqmlab."""
