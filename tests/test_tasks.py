"""Nine people with nine tasks: commands from an empty folder, as each would type them."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import no_live_runs

TASKS = sorted((Path(__file__).parent / "tasks").glob("*.sh"))

LINE = """
duration = "12 s"
warmup = "4 s"
network.rtt = "20 ms"
link = [
    { rate = "20 Mbit/s", reverse_rate = "4 Mbit/s", reverse = { aqm = "droptail", limit = 200 } },
]
traffic = [
    { name = "upload", app = "bulk", side = "clients", flows = 4, tcp = "linux" },
    { name = "call", app = "voip", users = 1 },
]
"""
"""A line and users whose race takes seconds; without it the task races a household's queues."""
QUICK = (
    "HOME_LINE='--scenario line.toml --both --place router --discipline cake "
    "--discipline fq_codel'\n"
)


def test_there_are_nine():
    assert len(TASKS) == 9


@pytest.mark.parametrize("task", TASKS, ids=lambda path: path.stem)
def test_a_task_ends_with_its_answer(task, shell):
    if task.stem == "live_run" and (why := no_live_runs()):
        pytest.skip(f"no live runs here: {why}")
    (shell.folder / "line.toml").write_text(LINE, encoding="utf-8")
    shell(QUICK + task.read_text(encoding="utf-8"))
