"""The same grids in the simulator and on real TCP stacks, see docs/validation.md."""
