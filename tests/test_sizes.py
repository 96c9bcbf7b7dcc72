"""How long functions are, as `docs/sizes.py` counts them."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SIZES = runpy.run_path(str(Path(__file__).parent.parent / "docs" / "sizes.py"))

RUST = """
impl Meter {
    /// One.
    pub(crate) const fn one(&self) -> u32 {
        match self {
            _ => 1,
        }
    }
    fn two(
        &self,
    ) -> u32 {
        2
    }
}
trait Counts {
    fn three(
        &self,
    ) -> u32;
    fn four(&self) {}
}
"""
PYTHON = """
@decorated
def one():
    def two():
        return 2

    return two
"""
SCRIPT = """
export async function one(a) {
  if (a) {
    return 1
  }
}
class Side {
  two(b, c) {
    while (b) {
    }
  }
}
"""


@pytest.mark.parametrize(
    ("suffix", "text", "lengths"),
    [
        (".rs", RUST, {"one": 5, "two": 5, "three": 3, "four": 1}),
        (".py", PYTHON, {"one": 5, "two": 2}),
        (".js", SCRIPT, {"one": 5, "two": 4}),
    ],
)
def test_a_function_is_as_long_as_its_lines(suffix, text, lengths):
    found = {name: length for name, _, length in SIZES["functions"](suffix, text)}
    assert found == lengths


def test_tests_are_not_counted():
    counted = SIZES["sources"]()
    assert "docs/sizes.py" in counted and "tests/test_sizes.py" not in counted
    assert not [name for name in counted if name.endswith("/tests.rs")]
