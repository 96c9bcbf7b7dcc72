"""How fast the simulator and the commands are on this machine."""
