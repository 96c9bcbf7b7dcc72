"""Every comparison with another program, one after the other, and the page of what they showed.

Usage: python -m validation
What is not installed here is named in one line and left out; what has been run is not run again.
"""

from __future__ import annotations

import subprocess
import sys

from validation import page


def main() -> int:
    """Runs the parts of the page; the first that fails ends it."""
    for part in page.PARTS:
        out = str(page.RECORDS / part)
        command = [sys.executable, "-m", f"validation.{part}", "--out", out]
        if code := subprocess.run(command, check=False).returncode:
            return code
    return page.main()


if __name__ == "__main__":
    raise SystemExit(main())
