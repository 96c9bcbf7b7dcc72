"""Writes the stubs of a new variant and names it in every list: `make new-discipline NAME=erd`.

Also `make new-control NAME=…` and `make new-measure NAME=…`. What is written compiles and passes
every test but those of what is generated or recorded (the commands that renew it are printed);
replace it by the algorithm, then its tests. [docs/adding.md](adding.md) describes the steps.

    python docs/new_variant.py discipline|control|measure NAME [--root FOLDER]
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
Insert = Callable[[str, str], str | None]
"""Gives a file's text with the variant of this name in it; None where the place is gone."""


@dataclass(frozen=True)
class Kind:
    """A kind of variant: its new files, by template, the lines elsewhere, and what to run then."""

    files: dict[str, str]
    """New file by template, both from the root."""
    lines: tuple[tuple[str, Insert], ...]
    """Files that name it, each with how its line is put in."""
    then: str


def camel(name: str) -> str:
    """The type of a variant: `CurvyRed` for `curvy_red`."""
    return name.title().replace("_", "")


def before(mark: str, line: str, section: str = "") -> Insert:
    """Puts `line` before the first `mark` after `section`."""

    def insert(text: str, name: str) -> str | None:
        at = text.find(section)
        at = text.find(mark, at + len(section)) if at >= 0 else -1
        if at < 0:
            return None
        return text[:at] + line.format(name=name, type=camel(name)) + text[at:]

    return insert


def in_order(pattern: str, line: str) -> Insert:
    """Puts `line` among the lines that match `pattern`, whose first group is the order."""

    def insert(text: str, name: str) -> str | None:
        found = list(re.finditer(pattern + r"[^;]*;", text, re.MULTILINE))
        if not found:
            return None
        after = [match for match in found if match[1] < name]
        at = after[-1].end() + 1 if after else found[0].start()
        return text[:at] + line.format(name=name, type=camel(name)) + "\n" + text[at:]

    return insert


AQM = "crates/aqm/src"
TCP = "crates/tcp/src/congestion"
RECORD = "crates/record/src"
RECORDER = "crates/sim/src/recorder"
ROW = """
    row("{name}", "threshold=1", ("p=0.05", "DMMM"), ("p=1", "DMMM"), "limit=3 p=0.000001"),
"""
CASES = """{
  "base": {"seed": 1, "load": 1.5, "parameters": {"threshold": 2, "p": 0.3, "limit": 8}}
}
"""

KINDS = {
    "discipline": Kind(
        files={
            f"{AQM}/algorithms/{{name}}.rs": "crates/aqm/templates/discipline.rs",
            "tests/transcriptions/{name}.py": "tests/transcriptions/_template.py",
            "crates/testvec/cases/{name}.json": CASES,
        },
        lines=(
            (
                f"{AQM}/algorithms/mod.rs",
                in_order(r"^pub\(crate\) mod (\w+)", "pub(crate) mod {name};"),
            ),
            (f"{AQM}/registry.rs", before("\n};", "\n    {name},", "use crate::algorithms::{")),
            (f"{AQM}/registry.rs", before("];", "    {name}::ENTRY,\n", "pub static ALGORITHMS")),
            ("crates/aqm/tests/ecn_matrix.rs", before("];", ROW, "const MATRIX")),
            ("crates/aqm/tests/refusals.rs", before("];", '    "{name}",\n', "const PEACEFUL")),
            (
                "crates/aqm/tests/effective.rs",
                before("];", '    ("{name}", &["limit_bytes"]),\n', "const UNSET"),
            ),
            (
                "crates/testvec/tests/each.rs",
                before("\n        }", " {name}", "each_discipline! { $check:"),
            ),
        ),
        then="""\
Write the algorithm into crates/aqm/src/algorithms/{name}.rs, and its tests
(docs/adding.md says which). Then
    cargo test -p aqmlab-aqm -p aqmlab-testvec      the laws, the ECN matrix, refusals
    AQMLAB_BLESS=1 cargo test -p aqmlab-testvec --test all golden
    AQMLAB_BLESS=1 cargo test -p aqmlab-sim --test all golden
    make vectors docs                               its test vectors and its page
    cargo bench -p aqmlab-aqm -- {name}             its row in docs/performance.md
""",
    ),
    "control": Kind(
        files={f"{TCP}/{{name}}.rs": "crates/tcp/templates/control.rs"},
        lines=(
            (f"{TCP}/mod.rs", in_order(r"^mod (\w+)", "mod {name};")),
            (f"{TCP}/registry.rs", before("];", "    super::{name}::ENTRY,\n", "const CONTROLS")),
        ),
        then="""\
Write the control into crates/tcp/src/congestion/{name}.rs, and its tests. Then
    cargo test -p aqmlab-tcp                        tests/loss_laws.rs has its response to loss
    AQMLAB_BLESS=1 cargo test -p aqmlab-tcp --test all golden
""",
    ),
    "measure": Kind(
        files={f"{RECORD}/{{name}}.rs": "crates/record/templates/measure.rs"},
        lines=(
            (f"{RECORD}/lib.rs", in_order(r"^(?:pub )?mod (\w+)", "mod {name};")),
            (f"{RECORD}/lib.rs", in_order(r"^pub use (\w+)::", "pub use {name}::{type};")),
            (f"{RECORD}/registry.rs", before("\n};", "\n    {name},", "use crate::{")),
            (
                f"{RECORD}/registry.rs",
                before("    ]\n    .concat()", '        list(&[""], "", {name}::MEASURES),\n'),
            ),
            (
                f"{RECORDER}.rs",
                before("    concurrency: Concurrency,", "    {name}: record::{type},\n"),
            ),
            (
                f"{RECORDER}.rs",
                before(
                    "            concurrency: ", "            {name}: record::{type}::default(),\n"
                ),
            ),
            (
                f"{RECORDER}.rs",
                before(
                    "        let segment = match",
                    "        if self.window.contains(now) {{\n"
                    "            self.{name}.dropped(packet.ip_bytes());\n        }}\n",
                    "pub(crate) fn lost(",
                ),
            ),
            (
                f"{RECORDER}/outcome.rs",
                before(
                    "        self.concurrency.summarise",
                    "        self.{name}.summarise(&mut summary);\n",
                ),
            ),
        ),
        then="""\
Write what is measured into crates/record/src/{name}.rs; the line of
crates/sim/src/recorder.rs that reports dropped packets to it is an example of an event. Then
    cargo test -p aqmlab-record -p aqmlab-sim --test all measures
    make dev && AQMLAB_BLESS=1 .venv/bin/python -m pytest tests/test_measures.py
    make docs                                       docs/results.md
""",
    ),
}


class Refused(Exception):
    """A sentence: what is wrong, and what to do."""


def new(kind: str, name: str, root: Path = ROOT) -> list[str]:
    """Writes the variant; returns the files written or changed, each once."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise Refused(
            f'"{name}" names no file: write small letters, digits and "_", as in NAME=curvy_red'
        )
    wanted, written = KINDS[kind], {}
    for path, template in wanted.files.items():
        file = path.format(name=name)
        if (root / file).exists():
            raise Refused(f"{file} exists already: choose another NAME, or delete the file")
        text = (root / template).read_text(encoding="utf-8") if "\n" not in template else template
        text = re.sub(r"\btemplate\b(?=\"|::)", name, text)
        written[file] = re.sub(r"\bTemplate\b", camel(name), text)
    for file, insert in wanted.lines:
        text = written.get(file) or (root / file).read_text(encoding="utf-8")
        changed = insert(text, name)
        if changed is None:
            raise Refused(f"{file}: its place for {name} is not found: mend docs/new_variant.py")
        written[file] = changed
    for file, text in written.items():
        (root / file).write_text(text, encoding="utf-8")
    return list(written)


def main() -> None:
    """Writes what the command line names, formats it and prints what comes next."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("name")
    parser.add_argument("--root", type=Path, default=ROOT)
    chosen = parser.parse_args()
    try:
        files = new(chosen.kind, chosen.name, chosen.root)
    except Refused as refused:
        sys.exit(f"make: {refused}")
    if shutil.which("rustfmt"):
        rust = [chosen.root / file for file in files if file.endswith(".rs")]
        subprocess.run(
            ["rustfmt", "--edition", "2024", "--config-path", chosen.root, *rust], check=False
        )
    print("\n".join(files), "", KINDS[chosen.kind].then.format(name=chosen.name), sep="\n", end="")


if __name__ == "__main__":
    main()
