"""What runs inside the guest kernel, as its first process: one job, one answer, power off.

Usage (by `machine.py`): python -m validation.linux.guest JOB.json ANSWER.json

The guest's clock is virtual: what a process computes takes no time, and sleeping takes no host's
time. Standard library only: the guest sees the host's files.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

from validation.linux.guest import multiqueue
from validation.linux.guest.bulk import bulk
from validation.linux.guest.network import (
    LIBC,
    POWER_OFF,
    ROUTER,
    Namespaces,
    mount,
    run,
    seed_kernel,
    set_up,
)
from validation.linux.guest.packets import trace
from validation.linux.guest.transfer import transfer, web
from validation.linux.guest.typed import typed


def commands(job: dict, ends: Namespaces) -> dict:
    """What tc prints of each discipline that it was told, and its complaint if it refuses it."""
    ends.enter(ROUTER)
    described = []
    for words in job["qdiscs"]:
        place = ("tc", "qdisc", "replace", "dev", "line0", "root")
        done = subprocess.run([*place, *words.split()], capture_output=True, text=True, check=False)
        shown = run("tc", "-s", "-d", "qdisc", "show", "dev", "line0")
        described.append({"complaint": done.stderr.strip(), "shown": shown})
        run("tc", "qdisc", "replace", "dev", "line0", "root", "pfifo")
    return {"told": described}


JOBS = {
    "typed": typed,
    "bulk": bulk,
    "trace": trace,
    "commands": commands,
    "transfer": transfer,
    "multiqueue": multiqueue.multiqueue,
    "web": web,
}


def main() -> None:
    """Mounts what the guest lacks, does the job, writes the answer."""
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    job = json.loads(Path(sys.argv[1]).read_text())
    mount("proc", "/proc")
    mount("sysfs", "/sys")
    mount("tmpfs", "/run")
    seed_kernel(job["seed"])
    try:
        network = multiqueue.set_up if job["kind"] == "multiqueue" else set_up
        answer = JOBS[job["kind"]](job, network(job))
    except BaseException:
        answer = {"error": traceback.format_exc()}
    Path(sys.argv[2]).write_text(json.dumps(answer))


if __name__ == "__main__":
    try:
        main()
    finally:
        os.sync()
        LIBC.reboot(POWER_OFF)
