"""The comparison with goresponsiveness: how many live runs it takes, and what it keeps of them."""

from __future__ import annotations

import json

import pytest
from validation.live import speed_tests


@pytest.mark.parametrize(("scatter", "runs"), [(0.04, 3), (0.10, 4), (0.12, 6), (0.19, 15)])
def test_live_runs_leave_their_mean_a_standard_error_of_five_per_cent(scatter, runs):
    assert speed_tests.live_runs(scatter, least=3) == runs


def test_live_runs_are_kept_and_what_is_none_is_refused(tmp_path):
    file = tmp_path / "live.json"
    assert speed_tests.kept(file) == {}
    live = {"PIE, 10 Mbit/s": dict.fromkeys(sorted(speed_tests.MEASURED), 1)}
    file.write_text(json.dumps(live))
    assert speed_tests.kept(file) == live
    for wrong in ("[1", "[1]", "1", '{"PIE": 1}', '{"PIE": {"rpm": 1}}'):
        file.write_text(wrong)
        with pytest.raises(SystemExit, match="holds no live runs of this program"):
            speed_tests.kept(file)
