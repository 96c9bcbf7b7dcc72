"""The laboratory in a browser's tab, served from here: `aqmlab lab`."""

from pathlib import Path

PAGE = Path(__file__).parent / "page"
"""The page and the simulator's module, as `make web` has built them; missing where it could not."""
