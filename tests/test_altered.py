"""A study with a field changed, or with assumptions: another study beside the published one."""

import pytest

from aqmlab.cli import unknowns
from aqmlab.errors import Renamed, SpecError
from aqmlab.experiment import altered
from aqmlab.experiment.experiment import load
from aqmlab.infer import two_sets
from aqmlab.report import report


def test_a_changed_study_has_a_name_of_its_own_and_the_field_in_every_cell():
    study = load("tuning-red")
    changed = altered.with_fields(study, ["link.0.delay=7 ms", "network.servers=3"])
    assert changed.name == "tuning-red-delay-7ms-servers-3"
    assert "link.0.delay=7 ms" in changed.subtitle
    assert changed.claim == study.claim
    assert changed.change is not None
    scenario = changed.change(study.scenario, ())
    assert scenario["link"][0]["delay"] == "7 ms"
    assert scenario["network"]["servers"] == 3
    result = {"name": changed.name, "quick": True, "changes": list(changed.changes)}
    assert report.command(result) == (
        "aqmlab study tuning-red --quick --set 'link.0.delay=7 ms' --set network.servers=3"
    )


def test_a_field_that_a_group_sets_is_refused_in_a_sentence():
    with pytest.raises(SpecError, match=r"--set link\.0\.forward\.w_q: the group .* sets link\.0"):
        altered.with_fields(load("tuning-red"), ["link.0.forward.w_q=0.01"])


def test_a_long_change_has_a_name_that_a_folder_can_have():
    words = altered.suffix(["link.0.forward={ aqm = 'red', " + "x" * 90 + " = 1 }", "a/b=../c"])
    assert len(words) < 80
    assert not set(words) & set("/ {}'")


def test_the_former_word_for_assumptions_works_for_a_version():
    assert unknowns.how(None, None) == {"by": two_sets.carry_out}
    with pytest.warns(Renamed, match="--set inferred is called --assume inferred now"):
        former = unknowns.how(["inferred"], None)["by"]
    assert (former.func, former.keywords) == (two_sets.assumed, {"set_": "inferred"})
    both = unknowns.how(["link.0.delay=7 ms"], "inferred")["alter"](load("tuning-red"))
    assert (both.name, both.set) == ("tuning-red-inferred-delay-7ms", "inferred")
    with pytest.warns(Renamed), pytest.raises(SpecError, match="give --assume once"):
        unknowns.how(["inferred"], "by-hand")
