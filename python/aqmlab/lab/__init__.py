"""Serves the laboratory in a browser's tab: `aqmlab lab`."""

from pathlib import Path

PAGE = Path(__file__).parent / "page"
"""The folder of the page and the simulator's WebAssembly module, built by `make web`; it may be
missing."""
