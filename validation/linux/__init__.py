"""The Linux kernel's TCP and queue disciplines beside aqmlab, in virtual time."""
