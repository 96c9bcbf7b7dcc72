"""Tables on narrow terminals and in files: no digit is cut off."""

import io

import pytest
from rich import box
from rich.table import Table

from aqmlab.io.consoles import Console

NUMBERS = ["1,234.5 ± 123.4", "12.3 ± 0.1", "12345678 ± 1234567", "5.0 ± 0.2", "1.00 ± 0.01"]


def table():
    made = Table(title="means", box=box.SIMPLE_HEAD, caption="-: undefined")
    made.add_column("")
    for number in range(len(NUMBERS)):
        made.add_column(f"measure {number}", justify="right")
    made.add_row("limit=60, rtt=100 ms", *NUMBERS)
    return made


def printed(width, *, terminal, made=None):
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=terminal, no_color=True, markup=False)
    console.print(made or table())
    return file.getvalue()


@pytest.mark.parametrize("width", [32, 40, 60, 80, 200])
def test_no_number_is_broken_on_a_terminal(width):
    text = printed(width, terminal=True)
    for number in NUMBERS:
        assert number in text, text
    assert "…" not in text
    assert text.count("means") == 1
    assert text.replace("\n", " ").count("undefined") == 1
    assert all(len(line) <= width + 12 for line in text.splitlines() if "\x1b" not in line)


def test_a_file_gets_one_table_however_wide():
    text = printed(40, terminal=False)
    (row,) = [line for line in text.splitlines() if NUMBERS[0] in line]
    assert all(number in row for number in NUMBERS)


def test_a_long_word_is_folded_and_not_cut():
    made = Table(box=None, show_header=False)
    made.add_row("x" * 50)
    text = printed(20, terminal=False, made=made)
    assert text.count("x") == 50
