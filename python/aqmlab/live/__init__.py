"""Runs a scenario on real TCP stacks, see docs/live.md."""
