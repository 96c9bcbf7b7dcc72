"""A few of the trials of `make fuzz`, of each class."""

from __future__ import annotations

from random import Random

import pytest

from hostile import trials
from hostile.oracle import Answer, Failure, check, limited

SHARE = {"damage": 12, "names": 10, "toml": 30, "environments": 2, "strangers": 25}
"""Trials; a study takes too long to be made for a few of them."""


@pytest.mark.parametrize("name", SHARE)
def test_a_few_trials(real_core, tmp_path, name):
    one = trials(name, tmp_path)
    for number in range(SHARE[name]):
        with limited():
            one(Random(f"{name} 0 {number}"))


@pytest.mark.parametrize(
    "answer",
    [
        Answer(1, "", "aqmlab: x"),
        Answer(2, "", ""),
        Answer(2, "", "Traceback (most recent call last):\naqmlab: x"),
        Answer(2, "", "aqmlab: " + "x" * 2000),
        Answer(0, "\x1b[31m", ""),
        Answer(0, "\u202e", ""),
    ],
)
def test_the_oracle_sees_what_it_looks_for(answer):
    with pytest.raises(Failure):
        check(answer)
