"""Which small changes of a source are made, and how what became of them is kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from validation.mutants import page, python, trials
from validation.mutants.answers import Answers, digest_of_tests, source
from validation.mutants.listing import Mutant

SOURCE = b"""
const LIMIT: u32 = 2 * 8;
impl Queue {
    const fn twice(&self) -> u32 {
        self.n + self.n
    }
    fn admits(&self, n: u32) -> bool {
        match n {
            0 => true,
            _ if n < LIMIT => !self.full,
            _ => false,
        }
    }
}
const HALF: Rule = Rule { most: 3 + 5, of: |n| n / 2 };
struct Ring { places: [u8; 2 * 4] }
"""


def mutant(number: int, genre: str, line: int, column: int, replacement: str) -> Mutant:
    return Mutant(number, f"q.rs:{line}:{column}: one", "q.rs", genre, (line, column), replacement)


def rewritten(*mutants: Mutant) -> tuple[str, set[int]]:
    pytest.importorskip("tree_sitter_rust")
    from validation.mutants.schemata import Rewriter

    rewriter = Rewriter(SOURCE, mutants)
    text = rewriter.rewritten().decode()
    assert rewriter.in_const == {m.number for m in mutants if m.start[0] == 5}, "twice() alone"
    return text, rewriter.placed


def test_an_operator_stands_behind_a_switch_and_its_function_stays_const():
    text, placed = rewritten(mutant(7, "BinaryOperator", 5, 16, "-"))
    assert placed == {7}
    assert "    const fn twice" in text
    assert "active(&[7]) { 0 => {self.n + self.n}, 7 => {/*<7*/self.n - self.n/*7>*/}" in text


def test_a_function_returns_early_an_arm_never_matches_and_a_sign_is_left_out():
    text, placed = rewritten(
        mutant(1, "FnValue", 8, 9, "false"),
        mutant(2, "MatchArm", 9, 13, ""),
        mutant(3, "MatchArmGuard", 10, 18, "true"),
        mutant(4, "BinaryOperator", 10, 20, "<="),
        mutant(5, "UnaryOperator", 10, 31, ""),
    )
    assert placed == {1, 2, 3, 4, 5}
    assert "1 => {/*<1*/return false/*1>*/}" in text
    assert "0 if crate::mutant_switch::active(&[2]) == 0 => true" in text
    assert "3 => {/*<3*/true/*3>*/}" in text
    assert "4 => {/*<4*/n <= LIMIT/*4>*/}" in text
    assert "5 => {/*<5*/self.full/*5>*/}" in text


def test_a_constant_and_the_length_of_an_array_cannot_ask_which_mutant_is_active():
    of = [mutant(1, "BinaryOperator", 2, 22, "+"), mutant(2, "BinaryOperator", 16, 30, "+")]
    text, placed = rewritten(*of)
    assert (text.encode(), placed) == (SOURCE, set())


def test_a_closure_in_a_constant_can():
    text, placed = rewritten(
        mutant(1, "BinaryOperator", 15, 35, "-"), mutant(2, "BinaryOperator", 15, 50, "*")
    )
    assert placed == {2}
    assert "most: 3 + 5, of: |n| (match" in text
    assert "0 => {n / 2}, 2 => {/*<2*/n * 2/*2>*/}" in text


def test_what_no_switch_can_hold_is_written_into_the_source_and_its_own_tests_are_asked_first():
    pytest.importorskip("tree_sitter_rust")
    from validation.mutants.alone import changed, distance, module, of_errors

    one = Mutant(1, "q.rs:2:22: one", "q.rs", "BinaryOperator", (2, 22), "+", (2, 23))
    assert changed(SOURCE, one) == SOURCE.replace(b"2 * 8", b"2 + 8")
    body = Mutant(2, "q.rs:8:9: one", "q.rs", "FnValue", (8, 9), "false", (12, 10))
    assert b"-> bool {\n        false\n    }\n}" in changed(SOURCE, body)
    assert module("crates/aqm/src/algorithms/red/mod.rs") == "algorithms::red::"
    assert (module("crates/aqm/src/gate.rs"), module("crates/aqm/src/lib.rs")) == ("gate::", "")
    reached = ({"a/red/x.rs", "b.rs"}, {"a/red/y.rs"}, {"a/z.rs"}, {"b.rs"})
    assert [distance("a/red/x.rs", files) for files in reached] == [0, 1, 2, 3]
    assert of_errors([{"code": {"code": "E0308"}}, {"code": None}]) == "unviable"
    assert of_errors([{"code": {"code": "long_running_const_eval"}}]) == "timeout"


def answers_of(root: Path, source: bytes) -> Answers:
    """Of two mutants of one file."""
    (root / "q.rs").write_bytes(source)
    two = [mutant(1, "FnValue", 8, 9, "false"), mutant(2, "FnValue", 8, 9, "true")]
    return Answers(root / "answers" / "q.json", root, two)


def test_answers_stay_until_the_source_changes_and_survivors_until_a_test_does(tmp_path):
    first = answers_of(tmp_path, SOURCE)
    first.words |= {1: "caught", 2: "missed"}
    first.reopen("tests of today")
    assert first.words[2] == "not asked"
    first.words[2] = "missed"
    first.write()
    again = answers_of(tmp_path, SOURCE + b"#[cfg(test)]\nmod tests {}")
    again.reopen("tests of today")
    assert again.words == {1: "caught", 2: "missed"}
    again.reopen("tests of tomorrow", excused={2})
    assert again.words == {1: "caught", 2: "missed"}, "there is a reason why it may live"
    again.reopen("tests of the day after")
    assert again.words == {1: "caught", 2: "not asked"}
    assert set(answers_of(tmp_path, SOURCE + b"//").words.values()) == {"not asked"}


def test_code_behind_the_tests_of_another_file_is_source_too():
    code = b"fn f() {}\n\n#[cfg(test)]\nmod tests"
    assert source(code + b";\n") == source(b"fn f() {}\n")
    assert source(code + b" {\n}\n") == source(b"fn f() {}\n")
    assert source(code + b";\n\nfn g() {}\n") != source(code + b";\n")


def test_another_test_is_noticed_and_a_changed_source_is_none(tmp_path):
    def described() -> str:
        return digest_of_tests(tmp_path, ["."], ["q.rs"], 1.0)

    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    answers_of(tmp_path, SOURCE)
    first = described()
    answers_of(tmp_path, SOURCE + b"//")
    assert described() == first
    answers_of(tmp_path, SOURCE + b"#[cfg(test)]\nmod tests {}")
    within = described()
    (tmp_path / "laws.rs").write_text("a law")
    assert len({first, within, described()}) == 3


PROGRAM = """
const fn one() -> u32 { if crate::mutant_switch::active(&[4, 5]) == 4 { 0 } else { 1 } }
const ONE: u32 = one();
fn main() {
    let n = 1u32;
    while crate::mutant_switch::active(&[3]) == 3 {}
    // Late the first time alone.
    if crate::mutant_switch::active(&[6]) == 6 && std::fs::File::create_new("late").is_ok() {
        loop {}
    }
    assert_eq!(ONE, 1);
    assert_eq!(one(), n);
}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the switch asks Linux for children")
@pytest.mark.skipif(shutil.which("rustc") is None, reason="no Rust compiler")
def test_a_program_answers_for_many_mutants_each_in_a_child(tmp_path):
    switch = Path(page.__file__).with_name("switch.rs").read_text()
    features = "#![feature(core_intrinsics, const_eval_select)]\n"
    (tmp_path / "main.rs").write_text(features + PROGRAM + switch)
    built = tmp_path / "all-q"
    words = ["rustc", "--edition=2024", "-o", str(built), str(tmp_path / "main.rs")]
    bootstrap = {**os.environ, "RUSTC_BOOTSTRAP": "1"}
    subprocess.run(words, check=True, capture_output=True, env=bootstrap)
    (tmp_path / "crates" / "q").mkdir(parents=True)
    requested = trials.Trials(tmp_path, {"all-q": built}, slowest_s=10, jobs=2)
    requested.look(tmp_path / "tests.json")
    assert [test.reaches for test in requested.tests] == [{3, 4, 5, 6}]
    test = trials.Test("all-q", "", 0.01, frozenset({3, 4, 5, 6}))
    assert dict(requested.ask(test, [3, 4, 5, 6])) == {3: "timeout", 4: "caught"}
    assert (tmp_path / "crates" / "q" / "late").exists()


def test_a_reason_outlives_a_moved_line():
    one = Mutant(1, "q.rs:10:20: replace < with <=", "q.rs", "BinaryOperator", (10, 20), "<=")
    moved = Mutant(1, "q.rs:11:20: replace < with <=", "q.rs", "BinaryOperator", (11, 20), "<=")
    name = "q.rs: replace < with <= | _ if n < LIMIT => !self.full,"
    assert page.lasting(one, SOURCE) == page.lasting(moved, b"\n" + SOURCE) == name
    assert all(reason.strip() for reason in page.justified().values())


JUDGE = """
LEVEL = 0.05
Names = dict[str, int]

class Bound:
    low: float = 1.0

    @property
    def strict(self) -> bool:
        return self.low > 0

    def holds(self, x):
        if x is None:
            raise ValueError("no number" + "!")
        return x >= self.low

def double(x):
    return 2 * x
"""


def python_mutants(root: Path) -> list[python.Mutant]:
    pytest.importorskip("mutmut")
    (root / "python").mkdir(exist_ok=True)
    (root / "python" / "judge.py").write_text(JUDGE)
    return python.mutants(root, "python/judge.py")


def test_constants_and_decorated_functions_are_held_by_no_trampoline(tmp_path):
    found = python_mutants(tmp_path)
    held = [(one.place, one.held) for one in found if one.held]
    assert held[0] == ("Bound.holds", "judge.xǁBoundǁholds__mutmut_1")
    assert held[-1] == ("double", "judge.x_double__mutmut_2")
    alone = {one.name for one in found if not one.held}
    assert "python/judge.py:2: : LEVEL = 0.05 -> LEVEL = 1.05" in alone
    assert "python/judge.py:10: Bound.strict: return self.low > 0 -> return self.low >= 0" in alone
    assert "python/judge.py:6: Bound: low: float = 1.0 -> low: float = 2.0" in alone
    # What type checkers alone read, and the words of an error, stay as they are.
    assert not any("Names" in one.name or "no number" in one.name for one in found)


def test_a_mutant_of_python_is_the_whole_file_with_one_change(tmp_path):
    (one,) = [one for one in python_mutants(tmp_path) if one.change.endswith("x > self.low")]
    assert one.text == JUDGE.replace("x >= self.low", "x > self.low")
    assert one.lasting == (
        "python/judge.py: Bound.holds: return x >= self.low -> return x > self.low"
    )


def test_answers_of_python_stay_until_the_source_or_a_test_changes(tmp_path):
    (tmp_path / "judge.py").write_text(JUDGE)
    two = [python.Mutant("judge.py", n, "f", f"f_{n}", None, None, None) for n in (1, 2)]

    def kept() -> python.PythonAnswers:
        return python.PythonAnswers(tmp_path / "python.json", tmp_path, {"judge.py": two})

    first = kept()
    first.reopen("tests of today")
    first.notify(zip(two, ["caught", "missed"], strict=True))
    again = kept()
    again.reopen("tests of today")
    assert (again.words, again.open()) == ({"judge.py": ["caught", "missed"]}, [])
    again.reopen("tests of tomorrow")
    assert again.open() == two[1:]
    (tmp_path / "judge.py").write_text("")
    assert kept().open() == two
