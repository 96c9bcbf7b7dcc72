"""What one more variant costs (docs/adding.md): the places of the product that name a witness."""

from __future__ import annotations

import importlib.util
import io
import re
import shutil
import sys
import tokenize
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
RED = "crates/aqm/src/algorithms/red"


@dataclass(frozen=True)
class Witness:
    """A variant that exists, and what it costs."""

    kind: str
    name: str
    own: tuple[str, ...]
    """Its own file or folder, and the files of its parts."""
    lines: dict[str, int]
    """Lines of each other source that name it."""
    choice: dict[str, int] = field(default_factory=dict)
    """The same, where it may be named but need not be."""


PEN = "python/aqmlab/figures/colours.py"
TC = "python/aqmlab/targets/tc.py"
"""Where a discipline that Linux has too may have an entry: our name of it and tc's."""
TC_DEFAULTS = "python/aqmlab/targets/tc_defaults.py"
"""Where a discipline may be named whose missing numbers tc computes itself."""
FREEBSD = "python/aqmlab/targets/freebsd.py"
"""Where `gred` is dummynet's word for gentle RED."""
GRED = {"python/aqmlab/targets/from_tc.py": 1, "python/aqmlab/targets/gred_words.py": 4}
"""Where tc's gred is read, whose words are in two commands."""
LAWS = {"crates/testvec/src/laws/rig.rs": 1, "crates/testvec/src/random_calls.rs": 1}
"""Where a discipline that moves a flow between queues is excused from keeping its order."""
WITNESSES = [
    Witness(
        "discipline",
        name,
        (f"crates/aqm/src/algorithms/{name}.rs", f"crates/aqm/src/algorithms/{name}/"),
        {"crates/aqm/src/algorithms/mod.rs": 1, "crates/aqm/src/registry.rs": 2},
        {PEN: 1, TC: 2, TC_DEFAULTS: 1, FREEBSD: 3, **GRED, **LAWS},
    )
    for name in ("afd", "gred", "curvy_red", "hhf", "sfb")
] + [
    Witness(
        "profile of RED",
        "ns2_fixed",
        (f"{RED}/profiles/ns2_fixed.rs",),
        {f"{RED}/profiles/mod.rs": 2},
    ),
    Witness(
        "congestion control",
        "vegas",
        ("crates/tcp/src/congestion/vegas.rs",),
        {"crates/tcp/src/congestion/mod.rs": 1, "crates/tcp/src/congestion/registry.rs": 1},
        # The kernel's name of it, and of `vegas-linux`.
        {"crates/live/src/users/end_system.rs": 2},
    ),
    Witness(
        "effect",
        "gilbert_elliott",
        ("crates/sim/src/effect/gilbert_elliott.rs",),
        {"crates/sim/src/effect.rs": 2},
    ),
    Witness(
        "kind of figure",
        "ellipses",
        ("python/aqmlab/figures/kinds/ellipses.py",),
        {"python/aqmlab/figures/__init__.py": 1},
    ),
    *(
        Witness("measure", name, (f"crates/record/src/{own}",), {})
        for name, own in {
            "longest_drop_run_packets": "meter/",
            "page_objects_mean": "pages.rs",
            "connections_peak_per_client": "concurrency.rs",
            "share_neighbours_lost": "datagrams.rs",
        }.items()
    ),
    Witness(
        "study",
        "harsh-red",
        ("python/aqmlab/experiments/harsh-red/",),
        {},
        {"python/aqmlab/cli/guide.py": 1},  # an example of the help
    ),
]


def _product() -> list[Path]:
    """Sources of the product, without tests."""
    rust = [path for crate in (ROOT / "crates").iterdir() for path in crate.glob("src/**/*.rs")]
    found = [*rust, *(ROOT / "python" / "aqmlab").rglob("*.py")]
    assert len(found) > 400, "too few to be the product"
    return sorted(p for p in found if not re.search(r"tests?\.rs$|testing\.rs$", p.name))


def _rust(text: str) -> list[str]:
    """Lines of code, without comments and unit tests in the same file."""
    product = text.split("#[cfg(test)]\nmod tests {")[0]
    return [line.split("//")[0] for line in product.splitlines()]


def _python(text: str) -> list[str]:
    """Lines of code, without comments and texts that are statements of their own."""
    lines = text.splitlines()
    new = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        (row, column), (end, _) = token.start, token.end
        if token.type == tokenize.COMMENT:
            lines[row - 1] = lines[row - 1][:column]
        elif token.type == tokenize.STRING and new:
            lines[row - 1 : end] = [""] * (end - row + 1)
        new = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT) or (
            new and token.type in (tokenize.NL, tokenize.COMMENT, tokenize.ENCODING)
        )
    return lines


@pytest.fixture(scope="module")
def sources() -> dict[str, list[str]]:
    """Lines of code of each source of the product."""
    return {
        path.relative_to(ROOT).as_posix(): (_rust if path.suffix == ".rs" else _python)(
            path.read_text()
        )
        for path in _product()
    }


@pytest.mark.parametrize("witness", WITNESSES, ids=lambda w: f"{w.kind} {w.name}")
def test_a_variant_is_named_in_its_own_file_and_its_list(
    witness: Witness, sources: dict[str, list[str]]
) -> None:
    assert any((ROOT / own).exists() for own in witness.own), "the witness is gone"
    word = re.compile(rf"(?<![\w-]){re.escape(witness.name)}(?![\w-])")
    named = {
        path: count
        for path, lines in sources.items()
        if not path.startswith(witness.own)
        and (count := sum(word.search(line) is not None for line in lines))
    }
    needed = {path: n for path, n in named.items() if witness.choice.get(path) != n}
    assert needed == witness.lines, (
        f"one more {witness.kind} costs more than docs/adding.md says: let other places read the "
        "list, or list here and in docs/adding.md why they name it"
    )


def test_the_document_says_what_it_costs() -> None:
    text = (ROOT / "docs" / "adding.md").read_text()
    for witness in WITNESSES:
        row = next(line for line in text.splitlines() if line.startswith(f"| [{_row(witness)}]"))
        lines = sum(witness.lines.values())
        said = {0: "no line", 1: "1 line"}.get(lines, f"{lines} lines")
        assert said in row, row


def _row(witness: Witness) -> str:
    return {"discipline": "queue discipline"}.get(witness.kind, witness.kind)


# What `make new-discipline`, `new-control` and `new-measure` write.


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("new_variant", ROOT / "docs" / "new_variant.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["new_variant"] = module
    spec.loader.exec_module(module)
    return module


def _copy(writer: ModuleType, kind: str, to: Path) -> Path:
    """What a new variant of this kind changes, and its templates, in a folder."""
    wanted = writer.KINDS[kind]
    changed = {path for path, _ in wanted.lines}
    for path in changed | {text for text in wanted.files.values() if "\n" not in text}:
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, to / path)
    for path in wanted.files:
        (to / path).parent.mkdir(parents=True, exist_ok=True)
    return to


@pytest.mark.parametrize("kind", ["discipline", "control", "measure"])
def test_stubs_stand_in_every_place(writer: ModuleType, kind: str, tmp_path: Path) -> None:
    root = _copy(writer, kind, tmp_path)
    lines = {path: (root / path).read_text().count("\n") for path, _ in writer.KINDS[kind].lines}
    written = writer.new(kind, "curvy_erd", root)
    for path in written:
        text = (root / path).read_text()
        assert re.search(r"\bcurvy_erd\b|\bCurvyErd\b", text) or path.endswith(".json"), path
        product = text.split("#[cfg(test)]")[0]
        assert not re.search(r"\b[Tt]emplate(?!\.)\b(?! \()", product), path
    for path, before in lines.items():
        assert (root / path).read_text().count("\n") >= before, path
    with pytest.raises(writer.Refused, match=r"exists already: choose another NAME"):
        writer.new(kind, "curvy_erd", root)


def test_stubs_cost_what_the_witnesses_cost(writer: ModuleType) -> None:
    for kind, witness in {"discipline": "discipline", "control": "congestion control"}.items():
        expected = next(w for w in WITNESSES if w.kind == witness).lines
        found = [path for path, _ in writer.KINDS[kind].lines if "/src/" in path]
        assert {path: found.count(path) for path in found} == expected


def test_a_name_that_is_no_file_is_refused(writer: ModuleType, tmp_path: Path) -> None:
    for name in ("Erd", "erd-2", "2erd", "../erd", ""):
        with pytest.raises(writer.Refused, match="write small letters"):
            writer.new("discipline", name, tmp_path)


def test_the_samples_of_the_document_are_the_templates() -> None:
    text = (ROOT / "docs" / "adding.md").read_text()
    samples = [block.split("```")[0] for block in text.split("```rust\n")[1:]]
    templates = [
        (ROOT / f"crates/{path}").read_text()
        for path in ("aqm/templates/discipline.rs", "record/templates/measure.rs")
    ]
    assert len(samples) == len(templates)
    for sample, template in zip(samples, templates, strict=True):
        assert sample in template, "write the template into docs/adding.md"
