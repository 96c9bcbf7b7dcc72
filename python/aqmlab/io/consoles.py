"""Rich's console, to which names from files may be given."""

from __future__ import annotations

from typing import Any

import rich.console
from rich.text import Text

from .terminal import printable


class Console(rich.console.Console):
    """Prints text that stands for itself: what has no picture is shown by its number."""

    def render_str(self, text: str, **options: Any) -> Text:
        """As Rich does; every piece of plain text on its way to the terminal comes through here."""
        return super().render_str(printable(text, keep="\n"), **options)
