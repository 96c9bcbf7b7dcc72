"""Which small changes of a source are made, and how what became of them is kept."""

from __future__ import annotations

import pytest
from validation.mutants import page
from validation.mutants.listing import Mutant
from validation.mutants.trials import Answer, Kept

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
"""


def mutant(number: int, genre: str, line: int, column: int, replacement: str) -> Mutant:
    return Mutant(number, f"q.rs:{line}:{column}: one", "q.rs", genre, (line, column), replacement)


def rewritten(*mutants: Mutant) -> tuple[str, set[int]]:
    pytest.importorskip("tree_sitter_rust")
    from validation.mutants.schemata import Rewriter

    rewriter = Rewriter(SOURCE, mutants)
    return rewriter.rewritten().decode(), rewriter.placed


def test_an_operator_stands_behind_a_switch_and_its_function_is_not_const_any_more():
    text, placed = rewritten(mutant(7, "BinaryOperator", 5, 16, "-"))
    assert placed == {7}
    assert "    fn twice" in text
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


def test_a_constant_cannot_ask_which_mutant_is_active():
    text, placed = rewritten(mutant(1, "BinaryOperator", 2, 22, "+"))
    assert (text.encode(), placed) == (SOURCE, set())


def test_what_was_caught_is_not_asked_again_and_survivors_only_of_other_tests(tmp_path):
    kept = Kept(tmp_path / "answers.jsonl")
    one = mutant(1, "FnValue", 8, 9, "false")
    key = page.key(one, SOURCE)
    kept.add(key, Answer("missed"), "tests of today")
    again = Kept(tmp_path / "answers.jsonl")
    assert again.settled(key, "tests of today")
    assert not again.settled(key, "tests of tomorrow")
    again.add(key, Answer("caught", "a_test"), "tests of tomorrow")
    assert Kept(tmp_path / "answers.jsonl").settled(key, "tests of next week")
    assert not again.settled(page.key(one, SOURCE + b"//"), "tests of tomorrow")
    assert page.key(one, SOURCE + b"#[cfg(test)]\nmod tests {}") == key


def test_a_reason_outlives_a_moved_line():
    one = Mutant(1, "q.rs:10:20: replace < with <=", "q.rs", "BinaryOperator", (10, 20), "<=")
    moved = Mutant(1, "q.rs:11:20: replace < with <=", "q.rs", "BinaryOperator", (11, 20), "<=")
    name = "q.rs: replace < with <= | _ if n < LIMIT => !self.full,"
    assert page.lasting(one, SOURCE) == page.lasting(moved, b"\n" + SOURCE) == name
    assert all(reason.strip() for reason in page.justified().values())
