"""`make lock`: leave to a lock what another one lacks, and let it begin with that one.

`python besides.py lock.txt run.txt` takes from `lock.txt` every package that stands in `run.txt`
with the same version, marker and hashes, and writes `-r run.txt` in their place.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ENTRY = re.compile(r"^\S.*\n(?: {4}.*\n)*", re.MULTILINE)


def main(whole: Path, part: Path) -> None:
    """Rewrites `whole`; `part` stays as it is."""
    known = set(ENTRY.findall(part.read_text(encoding="utf-8")))
    entries = ENTRY.findall(whole.read_text(encoding="utf-8"))
    head = [entry for entry in entries if entry.startswith("#")]
    rest = [entry for entry in entries if entry not in known]
    whole.write_text("".join([*head, f"-r {part.name}\n", *rest]), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
