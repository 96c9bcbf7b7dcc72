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


def typed(job: dict, ends: Namespaces) -> dict:
    """Types the lines of each case twice, and says what devices then have and what was refused."""
    ends.enter(ROUTER)
    device = job["device"]
    ifb = f"ifb4{device}"
    found = []
    for lines in job["cases"]:
        run("ip", "link", "add", device, "type", "veth", "peer", "name", "peer")
        run("ip", "link", "set", device, "up")
        complaints = []
        for line in [*lines, *lines]:
            done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
            if done.returncode or done.stderr.strip():
                complaints.append(f"{line}: {done.stderr.strip()}")
        shown = {
            "qdisc": {n: run("tc", "-d", "qdisc", "show", "dev", n) for n in (device, ifb)},
            "class": {n: run("tc", "class", "show", "dev", n) for n in (device, ifb)},
            "filter": run("tc", "filter", "show", "dev", device, "parent", "ffff:"),
        }
        found.append({"complaint": "\n".join(complaints), "shown": shown})
        run("ip", "link", "del", device)
        run("ip", "link", "del", ifb)
    return {"typed": found}


JOBS = {
    "typed": typed,
    "bulk": bulk,
    "trace": trace,
    "commands": commands,
    "transfer": transfer,
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
        answer = JOBS[job["kind"]](job, set_up(job))
    except BaseException:
        answer = {"error": traceback.format_exc()}
    Path(sys.argv[2]).write_text(json.dumps(answer))


if __name__ == "__main__":
    try:
        main()
    finally:
        os.sync()
        LIBC.reboot(POWER_OFF)
