"""Which requests a page of the site would make to others: there must be none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_ELSEWHERE = r"""["']?\s*((?:https?:)?//[^"'\s>)]+)"""
_LINK = r"""<link\b(?![^>]*\brel=["']?(?:canonical|alternate|prev|next|license)\b)[^>]*?\bhref="""
FETCHED = (
    re.compile(
        rf"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc(?:set)?={_ELSEWHERE}"
    ),
    re.compile(rf"<object\b[^>]*?\bdata={_ELSEWHERE}"),
    re.compile(rf"{_LINK}{_ELSEWHERE}"),
    re.compile(rf"url\(\s*{_ELSEWHERE}"),
    re.compile(rf"@import\s+{_ELSEWHERE}"),
    # The theme's script asks this address for the stars of the repository that the page links to.
    re.compile(r"""(data-md-component=["']source["'])"""),
)
"""What a browser fetches without being clicked; the first group is the address."""


def third_party(text: str) -> list[str]:
    """The addresses elsewhere from which a browser would fetch something for this page."""
    return [found[1] for pattern in FETCHED for found in pattern.finditer(text)]


def of_site(folder: Path) -> Iterator[str]:
    """A sentence for each page or style of a built site that makes a request to others."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".html", ".css"):
            continue
        for address in dict.fromkeys(third_party(path.read_text(encoding="utf-8"))):
            yield f"{path.relative_to(folder)} fetches {address}"
