"""What is installed: ranges for users, one locked set with hashes for CI."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import aqmlab

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKS = ["lock.txt", "run.txt", "audit.txt", "site.txt"]


def locked(name: str) -> dict[str, tuple[list[Requirement], int]]:
    """The entries of a lock by package, with those of the lock it begins with, and their hashes."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    found: dict[str, tuple[list[Requirement], int]] = {}
    for entry in text.replace("\\\n", " ").splitlines():
        if entry.startswith("-r "):
            found |= locked(entry.removeprefix("-r "))
        elif entry and not entry.startswith("#"):
            requirement = Requirement(entry.split(" --hash")[0].strip())
            entries, hashes = found.get(requirement.name, ([], 0))
            more = len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", entry))
            assert more, entry
            found[requirement.name] = ([*entries, requirement], hashes + more)
    return found


def test_packages_that_users_need_are_ranges_below_the_next_major_release():
    groups = PROJECT["optional-dependencies"]
    for text in [*PROJECT["dependencies"], *groups["pandas"]]:
        bounds = {part.operator: Version(part.version) for part in Requirement(text).specifier}
        assert bounds.keys() == {">=", "<"}, text
        assert bounds["<"].release[1:] in ((), (0,)), text


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_is_exact(name):
    for package, (entries, _) in locked(name).items():
        for entry in entries:
            assert [part.operator for part in entry.specifier] == ["=="], package


@pytest.mark.parametrize(
    ("name", "extras"), [("lock.txt", ["build", "dev"]), ("run.txt", ["build"])]
)
def test_the_lock_has_what_the_project_asks_for(name, extras):
    known = locked(name)
    requested = [text for extra in extras for text in PROJECT["optional-dependencies"][extra]]
    for text in [*PROJECT["dependencies"], *requested]:
        requested = Requirement(text)
        for entry in known[requested.name][0]:
            (exact,) = entry.specifier
            assert exact.version in requested.specifier, f"{text}: run `make lock`"


def test_running_and_testing_meet_the_same_packages():
    """One list begins with the other, and no package stands in both (`make lock`)."""
    text = (ROOT / "requirements" / "lock.txt").read_text(encoding="utf-8")
    own = set(re.findall(r"^([\w.-]+)==", text, re.M))
    assert "\n-r run.txt\n" in text
    assert own
    assert own.isdisjoint(locked("run.txt"))


def test_tables_become_frames_of_pandas(fake, scenario):
    import pandas as pd

    assert "pandas" in PROJECT["optional-dependencies"]
    sweep = {"link.0.forward.limit": [60, 120], "seeds": 2}
    result = aqmlab.run({"scenario": scenario, "sweep": sweep})
    for frame in (result.table("queue"), result.statistics(), result.variants, result.paired(0, 1)):
        there = frame.to_pandas()
        assert isinstance(there, pd.DataFrame)
        assert list(there.columns) == frame.columns
        assert len(there) == frame.height
    queue = result.table("queue").to_pandas()
    assert queue.groupby("limit")["bottleneck.forward"].mean().to_dict() == {60: 3.5, 120: 3.5}


def test_every_file_of_rust_tests_is_in_a_program():
    """Cargo looks for none: a crate's files are modules of one program, `tests/main.rs`."""
    for folder in sorted((ROOT / "crates").glob("*/tests")):
        manifest = tomllib.loads((folder.parent / "Cargo.toml").read_text(encoding="utf-8"))
        assert manifest["package"]["autotests"] is False, folder
        alone = {program["name"] for program in manifest["test"]}
        modules = re.findall(r"^mod (\w+);", (folder / "main.rs").read_text("utf-8"), re.M)
        files = {file.stem for file in folder.glob("*.rs")} - {"main"}
        assert files == (files & alone) | (files & {*modules}), folder
        assert not files & alone & {*modules}, folder
        counting = {
            f.stem for f in folder.glob("*.rs") if "#[global_allocator]" in f.read_text("utf-8")
        }
        assert counting <= alone, f"{folder}: they count allocations of a whole process"


def test_actions_are_pinned_by_commit():
    found = 0
    for workflow in (ROOT / ".github" / "workflows").glob("*.yml"):
        for line in re.findall(r"uses: (.*)", workflow.read_text("utf-8")):
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line
            found += 1
    assert found > 5


def test_the_image_is_pinned_by_digest_and_runs_as_an_ordinary_user():
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    bases = [line for line in lines if line.startswith("FROM ")]
    assert len(bases) == 2
    for base in bases:
        assert re.search(r"@sha256:[0-9a-f]{64}( AS \w+)?$", base), base
    users = [line.split()[1] for line in lines[lines.index(bases[-1]) :] if line.startswith("USER")]
    assert users
    assert users[-1] not in ("root", "0")


def test_the_repository_stays_light():
    """At most 14 MB are tracked: what is heavy is built, or packed (docs/archive.py)."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("no git here")
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    total = sum(path.lstat().st_size for path in paths if path.is_file())
    assert total <= 14_000_000, f"{total:,} bytes: leave what is built to `make site`, or pack it"
