"""Disciplines of a user's own: in Python or in a shared library, run in processes of their own."""
