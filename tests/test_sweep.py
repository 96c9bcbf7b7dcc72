import copy
import math

from hypothesis import given
from hypothesis import strategies as st

from aqmlab.experiment.plan import Run
from conftest import base_scenario, planned

AXES = st.lists(st.lists(st.integers(1, 100), min_size=1, max_size=4), min_size=0, max_size=3)
PATHS = ["link.0.forward.limit", "traffic.0.users", "network.clients"]


@given(AXES, st.lists(st.integers(0, 1000), min_size=1, max_size=4, unique=True))
def test_all_combinations_under_all_seeds(values, seeds):
    document = {"scenario": base_scenario(), "sweep": dict(zip(PATHS, values, strict=False))}
    untouched = copy.deepcopy(document)
    plan = planned(document, seeds=seeds)
    runs = plan.runs()
    assert document == untouched
    assert len(plan.cells) == math.prod(map(len, values))
    # What several cells want is run once.
    assert len(runs) == len({cell.key for cell in plan.cells}) * len(seeds)
    by_variant: dict[int, list[Run]] = {}
    for run in runs:
        by_variant.setdefault(run.variant, []).append(run)
    for members in by_variant.values():
        # Common random numbers: every variant meets the same seeds.
        assert [run.seed for run in members] == list(seeds)
        assert len({run.label for run in members}) == 1
    for run in runs:
        assert run.scenario["seed"] == run.seed
    if values:
        limits = [run.scenario["link"][0]["forward"]["limit"] for run in runs]
        assert set(limits) == set(values[0])


def test_runs_do_not_share_their_scenarios(scenario):
    first, second = planned(scenario, seeds=2).runs()
    first.scenario["link"][0]["forward"]["limit"] = 1
    assert second.scenario["link"][0]["forward"]["limit"] == 60


def test_the_first_axis_turns_slowest(scenario):
    axes = {"link.0.forward.limit": [1, 2], "traffic.0.users": [10, 20]}
    runs = planned({"scenario": scenario, "sweep": axes}).runs()
    assert [run.label for run in runs] == [
        "limit=1, users=10",
        "limit=1, users=20",
        "limit=2, users=10",
        "limit=2, users=20",
    ]
    assert runs[3].values == {"link.0.forward.limit": "limit=2", "traffic.0.users": "users=20"}
