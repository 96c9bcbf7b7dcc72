"""The page in a real browser: what `web/tests/browser.mjs` asks of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from test_own_in_tab import missing_compiler, written

from aqmlab.experiment.experiment import load
from aqmlab.lab import PAGE
from aqmlab.lab.server import Laboratory
from aqmlab.pipeline.study import Study

WEB = Path(__file__).parents[1] / "web"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
MISSING = [
    what
    for what, there in {
        "the page (make web)": (PAGE / "index.html").is_file(),
        "node": shutil.which("node"),
        "a browser (Debian: apt install chromium)": CHROMIUM,
        "puppeteer-core (cd web && npm ci)": (WEB / "node_modules/puppeteer-core").is_dir(),
    }.items()
    if not there
]

SWEPT = {
    "scenario": {
        "name": "swept",
        "duration": "5 s",
        "link": [{"rate": "1 Mbit/s"}],
        "traffic": [{"app": "bulk", "users": 2}],
    },
    "sweep": {"seeds": 2, "link.0.rate": ["1 Mbit/s", "2 Mbit/s"]},
}


@pytest.mark.skipif(bool(MISSING), reason=f"missing: {', '.join(MISSING)}")
def test_the_page_in_a_browser(
    tmp_path: Path, real_core: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    del real_core
    monkeypatch.chdir(tmp_path)
    own: list[Path] = []
    if missing_compiler("rust") is None:
        name = ('name: c"calm"', 'name: c"loops"')
        endless = ("let left =", "while mss > 0 {}\n        let left =")
        own = [written("rust").resolve(), written("rust", name, endless).resolve()]
    Study(load(SWEPT)).carry_out(out=tmp_path / "results" / "swept")
    with Laboratory(PAGE, tmp_path / "results") as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        more = {"PAGE": PAGE, "LAB": server.address, "PYTHON": sys.executable, "CHROMIUM": CHROMIUM}
        environment = {**os.environ, **{name: str(value) for name, value in more.items()}}
        environment["OWN"] = ":".join(map(str, own))
        environment["PYTHONPATH"] = str(Path(__file__).parents[1] / "python")
        try:
            done = subprocess.run(
                ["node", "--test", str(WEB / "tests" / "browser.mjs")],
                env=environment,
                capture_output=True,
                text=True,
                timeout=900,
            )
        finally:
            server.shutdown()
            thread.join()
    assert done.returncode == 0, done.stdout[-8000:]
