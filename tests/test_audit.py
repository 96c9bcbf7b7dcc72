"""`make audit` says what it asked, and never that nothing is known where nothing could be asked."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "requirements" / "audit.py"


@pytest.fixture
def audit(monkeypatch):
    """The script with answers in place of tools: by the last word of the command."""
    script = runpy.run_path(str(SCRIPT))
    answers: dict[str, tuple[int | None, str, str]] = {
        "sources": (0, "", ""),
        "advisories": (0, "", ""),
        "pypi": (0, packages(rich=[]), ""),
        "osv": (0, packages(rich=[]), ""),
    }
    script["main"].__globals__["requested"] = lambda *words: answers[words[-1]]
    return script["main"], answers


def packages(**known: list[str] | None) -> str:
    entries = [
        {"name": name, "skip_reason": "not found"}
        if found is None
        else {
            "name": name,
            "version": "1",
            "vulns": [{"id": one, "fix_versions": ["2"]} for one in found],
        }
        for name, found in known.items()
    ]
    return json.dumps({"dependencies": entries})


def test_all_in_order(audit, capsys):
    main, _ = audit
    assert main() == 0
    assert capsys.readouterr().out.splitlines() == [
        "audit: crates: licences, sources and bans are in order (deny.toml)",
        "audit: crates: no advisory",
        "audit: Python: no advisory for 1 packages",
    ]


def test_what_cannot_be_asked_is_skipped_in_a_line(audit, capsys):
    main, answers = audit
    answers["advisories"] = (1, "", "[ERROR] failed to fetch advisory database https://x")
    answers["pypi"] = (0, packages(rich=None, numpy=None), "No known vulnerabilities found")
    answers["osv"] = (None, "", "it took too long")
    assert main() == 0
    _, crates, python = capsys.readouterr().out.splitlines()
    assert "skipped" in crates and "skipped" in python


@pytest.mark.parametrize(
    ("tool", "answer", "said"),
    [
        ("sources", (1, "", "error[rejected]: failed to satisfy license requirements"), "rejected"),
        ("advisories", (1, "", "error[vulnerability]: RUSTSEC-2026-0001"), "RUSTSEC-2026-0001"),
        ("pypi", (1, packages(numpy=None, rich=["PYSEC-1"]), ""), "rich 1: PYSEC-1, mended in ["),
    ],
)
def test_what_is_wrong_fails(audit, capsys, tool, answer, said):
    main, answers = audit
    answers[tool] = answer
    assert main() == 1
    assert said in capsys.readouterr().err


def test_the_second_service_is_asked_where_the_first_knows_nothing(audit, capsys):
    main, answers = audit
    answers["pypi"] = (0, packages(rich=None), "")
    answers["osv"] = (1, packages(rich=["OSV-1"]), "")
    assert main() == 1
    assert "OSV-1" in capsys.readouterr().err
