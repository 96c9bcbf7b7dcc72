"""The table of numbers of the page: `web/tests/numbers.mjs`, in Node."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "web" / "tests" / "numbers.mjs"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_differences_intervals_and_scales_of_the_page():
    done = subprocess.run(
        ["node", "--test", str(SCRIPT)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout
