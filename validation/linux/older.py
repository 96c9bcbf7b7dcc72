"""The comparison of `validation.linux` with Linux 6.12, whose profile is `linux-6.12`.

Usage: python -m validation.linux.older, with the options of validation.linux
Needs the Debian package linux-source-6.12 and the kernel of `make uml LINUX=6.12`; without it, says
so in one line and ends well.
"""

from __future__ import annotations

import os

from validation.linux import __main__ as comparison


def main() -> int:
    """Runs both and prints the table."""
    os.environ["LINUX"] = "6.12"
    return comparison.main("linux.older")


if __name__ == "__main__":
    raise SystemExit(main())
