"""ns-2 2.35 beside aqmlab."""
