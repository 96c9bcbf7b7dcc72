"""A Linux kernel as an ordinary program: built once, started for each job, in virtual time.

User-mode Linux with `time-travel=inf-cpu`: its clock stands still while it computes and jumps to
the next timer while it waits, so a job does not depend on the host's speed or load. The kernel is
built from a Debian package (`linux-source-7.3`, `linux-source-6.12`) into a cache outside the tree;
it is an external program and no part of aqmlab. The newest installed source is taken, or that of
the release in the environment variable LINUX.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from validation.external import Missing, cache

HERE = Path(__file__).resolve().parent
GUEST, LINE, CONFIG = HERE / "guest", HERE / "line.c", HERE / "kernel.config"
TOOLS = ("make", "cc", "flex", "bison", "bc", "xz", "tar", "ip", "tc")
HZ = 1000
"""Timer ticks per second. User-mode Linux has 100; Debian's kernels 250, many others 1000."""
REGISTERS = 16384
"""Bytes kept for the vector registers of a process. User-mode Linux has room for 2,696 up to 6.12;
where the host's processor has more (11,008 with AMX), no process of the guest would start. Later
kernels look how many the host has."""


def source() -> Path:
    """The archive of Debian's kernel source: the newest installed, or that of LINUX."""
    wanted = os.environ.get("LINUX") or "*"
    found = Path("/usr/src").glob(f"linux-source-{wanted}.tar.xz")
    newest = max(found, key=lambda archive: numbers(version(archive)), default=None)
    if newest is None:
        package = "7.3 or linux-source-6.12" if wanted == "*" else wanted
        raise Missing(f"no kernel source: install the Debian package linux-source-{package}")
    return newest


def profile() -> str:
    """The profile whose rules are those of this kernel; today's where there is none."""
    try:
        return "linux-6.12" if numbers(version(source())) < (7,) else "linux"
    except Missing:
        return "linux"


def version(archive: Path) -> str:
    """The kernel of an archive, such as 6.12."""
    return archive.name.removeprefix("linux-source-").removesuffix(".tar.xz")


def numbers(release: str) -> tuple[int, ...]:
    """A release to be compared: 6.12 is newer than 6.9."""
    return tuple(map(int, re.findall(r"\d+", release)))


def folder() -> Path:
    """Where this kernel is built: named after its source, our device and its configuration."""
    if platform.machine() != "x86_64":
        raise Missing(f"user-mode Linux is built for x86_64 only, this is {platform.machine()}")
    archive = source()
    of = [
        LINE.read_bytes(),
        CONFIG.read_bytes(),
        str((HZ, REGISTERS)).encode(),
        str(archive.stat().st_size).encode(),
    ]
    digest = hashlib.sha256(b"\0".join(of)).hexdigest()[:12]
    return cache(f"linux-{version(archive)}-{digest}")


def release() -> str:
    """The kernel for the record, such as Linux 6.12."""
    return f"Linux {version(source())}"


def kernel() -> Path:
    """Path of the kernel, which is built if it is not there yet."""
    file = folder() / "linux"
    if not file.exists():
        raise Missing("no kernel for virtual time yet: `make uml` builds it in some four minutes")
    return file


def kernel_with(queue: str) -> Path:
    """The built kernel, if it is one that has what Linux has had since 7.0."""
    if profile() != "linux":
        raise Missing(
            f"{queue}: only a kernel 7.x has this; install the Debian package linux-source-7.3"
        )
    return kernel()


def described(*names: str) -> list[object]:
    """The kernel, and these files of the guest's program: what its numbers depend on."""
    return [folder().name, *((GUEST / name).read_text() for name in names)]


def build() -> Path:
    """Builds the kernel unless it is there; some four minutes on two cores, 1.3 GB for a time."""
    target = folder()
    if (target / "linux").exists():
        return target / "linux"
    lacking = [tool for tool in TOOLS if shutil.which(tool) is None]
    if lacking:
        raise Missing(
            f"to build the kernel, install {', '.join(lacking)} (Debian packages build-essential, "
            "flex, bison, bc, xz-utils and iproute2)"
        )
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target) as work:
        subprocess.run(["tar", "-xf", source(), "-C", work, "--strip-components=1"], check=True)
        _configure(Path(work))
        _make(Path(work), f"-j{os.cpu_count()}", "linux")
        built = Path(work, "linux")
        subprocess.run(["strip", "--strip-debug", built], check=True)
        built.replace(target / "linux")
    return target / "linux"


def _configure(tree: Path) -> None:
    shutil.copy(LINE, tree / "drivers/net/aqmlab_line.c")
    with (tree / "drivers/net/Makefile").open("a") as file:
        file.write("obj-y += aqmlab_line.o\n")
    _changed(tree / "arch/um/Kconfig", r"(config HZ\n.*?default) 100", rf"\1 {HZ}")
    offsets = tree / "arch/x86/um/user-offsets.c"
    if "HOST_FP_SIZE" in offsets.read_text():
        _changed(offsets, r"(HOST_FP_SIZE, )2696", rf"\g<1>{REGISTERS}")
    _make(tree, "x86_64_defconfig")
    with (tree / ".config").open("a") as file:
        file.write(CONFIG.read_text())
    _make(tree, "olddefconfig")


def _changed(file: Path, what: str, to: str) -> None:
    """Changes the one place of a kernel's source that matches."""
    text, count = re.subn(what, to, file.read_text(), count=1, flags=re.DOTALL)
    if not count:
        raise RuntimeError(f"{file} is not as expected: this kernel's source is another one")
    file.write_text(text)


def _make(tree: Path, *words: str) -> None:
    done = subprocess.run(
        ["make", "ARCH=um", *words], cwd=tree, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"make {' '.join(words)}: {done.stderr.strip()[-2000:]}")


def run(job: dict[str, Any], timeout_s: float = 600) -> dict[str, Any]:
    """What the guest answers to a job (`guest/`); RuntimeError says what went wrong in it."""
    with tempfile.TemporaryDirectory() as work:
        question, answer = Path(work, "job.json"), Path(work, "answer.json")
        question.write_text(json.dumps(job))
        # The guest's first process is a plain Python of the host; it sees the host's files.
        python = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
        command = [
            *("setarch", "-R", kernel()),
            *("mem=512M", "time-travel=inf-cpu", "quiet", "con=null", "con0=null,fd:1"),
            *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "PYTHONHASHSEED=0"),
            *(f"PYTHONPATH={HERE.parents[1]}", "PYTHONDONTWRITEBYTECODE=1"),
            *(f"init={python}", "--", "-m", "validation.linux.guest", question, answer),
        ]
        done = subprocess.run(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=timeout_s,
            cwd=work,
            env={**os.environ, "TMPDIR": work},
        )
        if not answer.exists():
            raise RuntimeError(f"the guest gave no answer: {done.stdout.strip()[-1500:]}")
        described = json.loads(answer.read_text())
    if "error" in described:
        raise RuntimeError(described["error"])
    return described
