"""`make audit`: licences, sources and known vulnerabilities of every package, Rust and Python.

One line for each question. What an advisory database would know is left out in one line where the
database cannot be reached; a licence, a source or a vulnerability that is wrong is an error.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = Path(sys.executable).parent
PATIENCE_S = 40
"""No network may hold up whoever only wants to build."""
NOT_FETCHED = "failed to fetch advisory database"
SERVICES = ("pypi", "osv")
"""Where pip-audit asks in turn: the index itself, whose mirrors often know nothing, and OSV."""


class Failed(Exception):
    """Something is wrong with a package."""


def requested(*words: object) -> tuple[int | None, str, str]:
    """Exit code (none if it took too long), standard output and standard error of a tool."""
    try:
        answer = subprocess.run(
            [str(TOOLS / str(words[0])), *map(str, words[1:])],
            cwd=ROOT,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, "", "it took too long"
    return answer.returncode, answer.stdout, answer.stderr


def crates() -> str:
    """Licences, sources and bans of `deny.toml`; needs no network."""
    code, _, said = requested("cargo-deny", "--locked", "check", "bans", "licenses", "sources")
    if code != 0:
        raise Failed(said)
    return "licences, sources and bans are in order (deny.toml)"


def crate_advisories() -> str:
    """What the RustSec database knows of the crates."""
    code, _, said = requested("cargo-deny", "--locked", "check", "advisories")
    if code is None or NOT_FETCHED in said:
        return "advisories skipped, the RustSec database cannot be reached"
    if code != 0:
        raise Failed(said)
    return "no advisory"


def python_advisories() -> str:
    """What PyPI or OSV knows of the packages in the lock."""
    for service in SERVICES:
        found = _vulnerabilities(service)
        if found is None:
            continue
        known, left_out, bad = found
        if bad:
            raise Failed("\n".join(bad))
        return f"no advisory for {known} packages" + (f", {left_out} unknown" if left_out else "")
    return "advisories skipped, neither PyPI's nor OSV's can be reached"


def _vulnerabilities(service: str) -> tuple[int, int, list[str]] | None:
    """How many packages it knows, how many it does not, and what is wrong with the known ones.

    None if it knows none: of a mirror without advisories pip-audit says "no known vulnerabilities".
    """
    words = ["--disable-pip", "--require-hashes", "--requirement", "requirements/lock.txt"]
    words += ["--format", "json", "--progress-spinner", "off", "--vulnerability-service", service]
    _, answer, _ = requested("pip-audit", *words)
    try:
        entries = json.loads(answer)["dependencies"]
    except (ValueError, KeyError):
        return None
    known = [entry for entry in entries if "skip_reason" not in entry]
    bad = [
        f"{entry['name']} {entry['version']}: {one['id']}, mended in {one['fix_versions']}"
        for entry in known
        for one in entry["vulns"]
    ]
    return (len(known), len(entries) - len(known), bad) if known else None


def main() -> int:
    """Asks all; 1 if anything is wrong."""
    wrong = 0
    for of, question in (
        ("crates", crates),
        ("crates", crate_advisories),
        ("Python", python_advisories),
    ):
        try:
            print(f"audit: {of}: {question()}")
        except Failed as error:
            wrong = 1
            print(f"audit: {of}: {error}", file=sys.stderr)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
