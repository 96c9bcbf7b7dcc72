"""The command `aqmlab` with the small study for its only one and a double behind it.

`SMALL_RUN_S` makes a run last, `SMALL_LOG` names a file that gets one line per run begun.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from unittest import mock

from small_study import SMALL, Double

from aqmlab.cli import answering as cli
from aqmlab.experiment import folders
from aqmlab.simulator import engine


class Slow(Double):
    """Runs that last, and leave a trace."""

    def run(self, text: str, progress=None) -> dict:
        if log := os.environ.get("SMALL_LOG"):
            with Path(log).open("a") as file:
                print(hashlib.sha256(text.encode()).hexdigest(), file=file)
        time.sleep(float(os.environ.get("SMALL_RUN_S", "0")))
        return super().run(text, progress)


if __name__ == "__main__":
    core = Slow()
    with (
        mock.patch.object(engine, "_core", lambda: core),
        mock.patch.object(folders, "SHIPPED", SMALL.parent),
    ):
        cli.main()
