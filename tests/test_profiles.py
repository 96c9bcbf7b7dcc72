"""The difference that defines an implementation profile, where its source says it is.

Each test gives two profiles the same arrivals and otherwise the same parameters, and looks at
what they do at the packet on which the sources disagree.
"""

from __future__ import annotations

import pytest

from trials import burst, ids, numbered, of

MS = 1_000_000
RED = {"min_th": 2, "max_th": 6, "w_q": 0.25, "max_p": 0.1}
# The simulators' RED counted as the paper's: packets, and nothing but the named differences.
PLAIN = {**RED, "gentle": False, "wait": False}
NS2 = {**PLAIN, "profile": "ns2", "queue_in_bytes": False, "byte_probability": False,
       "use_mark_p": False, "mean_packet_bytes": 1000}  # fmt: skip


def waiting(calls: list[dict]) -> int:
    """The most packets that waited at once."""
    most = now = 0
    for call in calls:
        now += sum({"queued": 1, "dropped": 0}.get(e[0], 0) for e in call["events"])
        now -= call.get("sent") is not None
        most = max(most, now)
    return most


def test_droptail_of_ns2_holds_one_less(trial):
    normative = trial("droptail", numbered(burst(8)), limit=5)
    ns2 = trial("droptail", numbered(burst(8)), limit=5, profile="ns2")
    # The first packet is on the line at once.
    assert (ids(normative, "dropped", "overflow"), ids(ns2, "dropped", "overflow")) == (
        [6, 7],
        [5, 6, 7],
    )


def test_red_of_the_simulators_never_tests_the_first_packet_of_the_band(trial):
    arrivals = numbered(burst(12))
    paper, ns2 = trial("red", arrivals, **PLAIN), trial("red", arrivals, **NS2)
    for one, other in zip(of(paper, "enqueue"), of(ns2, "enqueue"), strict=True):
        assert one["state"]["avg"] == pytest.approx(other["state"]["avg"])
        if one["state"]["avg"] >= 2:
            assert (len(one["draws"]), len(other["draws"])) == (1, 0)
            return
        assert not one["draws"] + other["draws"]
    pytest.fail("the average never reached the band")


@pytest.mark.parametrize(("profile", "drops"), [("ns2", False), ("ns2-fixed", True)])
def test_ns2s_second_defect_accepts_an_empty_queues_packet_above_max_th(trial, profile, drops):
    # Harsh RED's second fix: the queue has just run empty, the average is still above max_th.
    parameters = {**NS2, "profile": profile, "w_q": 0.1, "max_th": 3, "limit": 100}
    if profile == "ns2-fixed":
        del parameters["use_mark_p"]
    empty = trial("red", numbered(burst(60)), **parameters)[-1]["at_ns"]
    arrivals = numbered(burst(60), burst(1, at=empty + MS // 10))
    last = of(trial("red", arrivals, **parameters), "enqueue")[-1]
    assert last["state"]["avg"] >= 3
    assert last["events"] == ([["dropped", 60, "forced"]] if drops else [["queued", 60]])


def test_ns2s_first_defect_lets_the_last_packet_hang_over_the_limit(trial):
    # 1001 + 1000 + 999 B fill 3000 B but for 1000 B less one.
    arrivals = numbered(burst(1), burst(1, size=1001), burst(1), burst(1, size=1500))
    base = {**NS2, "queue_in_bytes": True, "min_th": 50, "max_th": 90, "limit": 3}
    fixed = {k: v for k, v in base.items() if k != "use_mark_p"} | {"profile": "ns2-fixed"}
    assert ids(trial("red", arrivals, **base), "dropped", "overflow") == []
    assert ids(trial("red", arrivals, **fixed), "dropped", "overflow") == [3]


def test_red_of_ns3_keeps_its_count_at_a_forced_drop(trial):
    arrivals = numbered(burst(16))
    ns3 = {**PLAIN, "profile": "ns3", "mean_packet_bytes": 1000, "idle_packet_time": "0.8 ms"}
    for parameters, kept in ((NS2, False), (ns3, True), ({**ns3, "ns1_compat": True}, False)):
        calls = of(trial("red", arrivals, **{**parameters, "max_th": 3, "limit": 100}), "enqueue")
        forced = [call for call in calls if ids([call], "dropped", "forced")]
        assert forced and all((call["state"]["count"] > 0) == kept for call in forced)


@pytest.mark.parametrize("profile", ["ns2", "altq"])
def test_altq_signals_early_where_wait_forbids_it(trial, profile):
    # Between c p_b = 0 and 1 ns-2's wait passes everything, ALTQ signals with p_b/(2 - c p_b).
    parameters = {"profile": "altq", **RED} if profile == "altq" else {**NS2, "wait": True}
    parameters |= {"max_th": 40, "max_p": 0.5, "limit": 100}
    within = 0
    for seed in range(30):
        count = 0
        for call in of(trial("red", numbered(burst(40)), seed, **parameters), "enqueue"):
            count, before = call["state"]["count"], count
            hits = ids([call], "dropped", "early") != []
            within += hits and (before + 1) * call["state"]["p_b"] < 1
    assert (within > 0) == (profile == "altq")


def test_red_of_linux_draws_once_for_each_signal(trial):
    # An idle average ages as slowly as in the kernel: 16 times the 30 ms that packets would need.
    arrivals = numbered(*(burst(14, at=i * 470 * MS) for i in range(60)))
    parameters = {**RED, "max_th": 12, "max_p": 0.4, "ecn": True}
    linux = of(trial("red", arrivals, profile="linux", **parameters), "enqueue")
    paper = of(trial("red", arrivals, profile="fj93", **parameters), "enqueue")
    entries = signals = 0
    for call, before in zip(linux[1:], linux, strict=False):
        early = any(e[0] != "queued" and e[2] == "early" for e in call["events"])
        entry = before["state"]["count"] == -1 and call["state"]["count"] == 0
        assert len(call["draws"]) == (early or entry)
        assert not (early and entry), "the packet that enters the band is never signalled"
        entries, signals = entries + entry, signals + early
    assert entries > 20 and signals > 20
    assert sum(len(c["draws"]) for c in paper) > sum(len(c["draws"]) for c in linux)


def test_an_idle_time_ages_the_average_once_less_in_the_paper_than_in_ns2(trial):
    # The line is idle from 8.0 ms (ten packets of 0.8 ms); at 12 ms five more fitted in.
    arrivals = numbered(burst(10), burst(1, at=12 * MS))
    high = {"min_th": 50, "max_th": 90}
    before, after = {}, {}
    for parameters in (PLAIN, NS2, {"profile": "altq", **RED}, {"profile": "linux", **RED}):
        calls = of(trial("red", arrivals, **{**parameters, **high, "limit": 100}), "enqueue")
        profile = parameters.get("profile", "fj93")
        before[profile], after[profile] = (call["state"]["avg"] for call in calls[-2:])
    assert after["fj93"] == pytest.approx(before["fj93"] * 0.75**5)
    assert after["ns2"] == pytest.approx(before["ns2"] * 0.75**6)
    # ALTQ: n - 1 packets, then a sample; twelve binary places.
    assert after["altq"] == pytest.approx(before["altq"] * 0.75**5, rel=0.02)
    # Linux halves by a table: -ln(1 - w) 5 = 1.4 takes one bit.
    assert after["linux"] == pytest.approx(before["linux"] / 2, rel=1e-3)


def test_use_mark_p_drops_marked_traffic_above_max_th_by_the_random_test(trial):
    arrivals = numbered(burst(30))
    marks = {**NS2, "use_mark_p": True, "ecn": True, "limit": 100}
    # All that is dropped above max_th is dropped by a test with p_b = 1; without it, surely.
    assert ids(trial("red", arrivals, **marks), "dropped", "forced") == []
    assert ids(trial("red", arrivals, **marks), "dropped", "early") != []
    assert ids(trial("red", arrivals, **{**marks, "use_mark_p": False}), "dropped", "forced") != []


def test_adaptive_red_steps_at_arrivals_but_by_a_timer_in_linux(trial):
    arrivals = numbered(*(burst(2, at=i * 40 * MS) for i in range(40)))
    for profile, where in (("floyd", "enqueue"), ("ns2", "enqueue"), ("linux", "tick")):
        calls = trial("ared", arrivals, profile=profile, min_th=2, max_th=6, max_p=0.1)
        pairs = zip(calls[1:], calls, strict=False)
        steps = [c for c, b in pairs if c["state"]["max_p"] != b["state"]["max_p"]]
        assert len(steps) >= 2 and {step["call"] for step in steps} == {where}
        if profile == "linux":
            assert [step["at_ns"] // MS for step in steps[:2]] == [500, 1000]


def test_the_first_packet_divides_max_p_of_fengs_red_in_ns3(trial):
    first = {
        profile: of(trial("feng_red", numbered(burst(1)), profile=profile, max_p=0.09), "enqueue")[
            0
        ]
        for profile in ("fj93", "ns2", "ns3")
    }
    assert first["ns3"]["state"]["max_p"] == pytest.approx(0.03)
    assert first["fj93"]["state"]["max_p"] == first["ns2"]["state"]["max_p"] == 0.09


def test_gred_stacks_the_averages_of_higher_priorities(trial):
    arrivals = numbered(burst(6, flow=0), burst(6, flow=1))
    base = {"min_th": 2, "max_th": 4, "w_q": 1, "virtual_queues": 2, "limit": 100}
    # Its own 0 to 5 packets, or those and the 5 of flow 0: from which on all is signalled.
    apart = ids(trial("gred", arrivals, **base, mode="separate"), "dropped", "forced")
    stacked = ids(trial("gred", arrivals, **base, mode="grio"), "dropped", "forced")
    assert [i for i in apart if i >= 6] != [6, 7, 8, 9, 10, 11]
    assert [i for i in stacked if i >= 6] == [6, 7, 8, 9, 10, 11]


def test_rio_of_ns2_forgets_the_average_at_out_arrivals(trial):
    outs = numbered(burst(6, flow=1))
    paper, ns2 = trial("rio", outs, profile="paper"), trial("rio", outs, profile="ns2")
    assert paper[-1]["state"]["avg_total"] > 0 == ns2[-1]["state"]["avg_total"]
    ins = numbered(burst(6, flow=0))
    paper, ns2 = trial("rio", ins, profile="paper"), trial("rio", ins, profile="ns2")
    assert [c["state"] for c in of(paper, "enqueue")] == [c["state"] for c in of(ns2, "enqueue")]


def test_rio_of_altq_counts_lower_precedences_too(trial):
    arrivals = numbered(*(burst(n, flow=flow) for flow, n in ((0, 2), (1, 3), (2, 4))))
    last = of(trial("rio", arrivals, profile="altq", w_q=1), "enqueue")[-1]["state"]
    # Before the last packet, but for the one on the line: 1 low, 3 medium, 3 high.
    assert [last[f"avg_{name}"] for name in ("low", "medium", "high")] == [0, 3, 7]


def test_avq_of_ns2_clamps_after_charging_and_skips_what_it_drops(trial):
    arrivals = numbered(burst(1), burst(1, at=2 * MS), burst(1, at=4 * MS))
    base = {"units": "packet", "ecnlim": 1, "limit": 50}
    full = 10_000_000
    paper = trial("avq", arrivals, **base)[-1]["state"]["virtual_capacity"]
    ns2 = trial("avq", arrivals, **base, profile="ns2")[-1]["state"]["virtual_capacity"]
    # In 2 ms C~ gains alpha gamma C 2 ms = 0.37 packets/s; each packet costs 0.15.
    assert paper == pytest.approx(full - 0.15 * 8000) and ns2 == full
    # A virtual queue of one packet drops at once; ns-2 then neither charges nor moves its clock.
    tight = {"units": "packet", "limit": 1, "buflim": 1}
    twice = numbered(burst(2), burst(1, at=10 * MS))
    for profile, charges in (("paper", 2), ("ns2", 1)):
        calls = of(trial("avq", twice, **tight, profile=profile), "enqueue")
        assert ids(calls, "dropped", "early") == [1]
        taken = 8_000_000 - calls[1]["state"]["virtual_capacity"]
        assert taken == pytest.approx(0.15 * 8000 * charges)


def test_rem_of_ns2_holds_one_less_and_marks_at_departure(trial):
    arrivals = numbered(burst(30))
    # The price starts so high that, from the first update on, everything is signalled.
    steep = {"gamma": 1000, "phi": 2, "b_star": 1, "limit": 6}
    standard = trial("rem", arrivals, **steep)
    ns2 = trial("rem", arrivals, **steep, profile="ns2")
    assert (waiting(standard), waiting(ns2)) == (6, 5)
    late = numbered(burst(5), burst(5, at=3 * MS))
    for profile, call in (("standard", "enqueue"), ("ns2", "dequeue")):
        calls = trial("rem", late, **{**steep, "limit": 50}, profile=profile, ecn=True)
        marks = {c["call"] for c in calls for e in c["events"] if e[0] == "marked"}
        assert marks == {call}
    # ns-2 passes what cannot be marked; the standard rule drops it.
    plain = numbered(burst(5), burst(5, at=3 * MS, ecn="not-ect"))
    for profile, drops in (("standard", True), ("ns2", False)):
        calls = trial("rem", plain, **{**steep, "limit": 50}, profile=profile, ecn=True)
        assert (ids(calls, "dropped", "early") != []) == drops


def test_blue_of_altq_rises_by_an_eighth_and_drops_at_random(trial):
    arrivals = numbered(burst(1), burst(6, at=10 * MS), burst(10, at=13 * MS + MS // 2))
    for profile, step in (("standard", 0.0025), ("altq", 0.125)):
        calls = trial("blue", arrivals, profile=profile, limit=5, freeze_time="3 ms", repeat=False)
        lost = ids(calls, "dropped", "overflow")
        assert max(call["state"]["p"] for call in calls) == step
        refused = [
            c["packet"]["id"] for c in of(calls, "enqueue") if ids([c], "dropped", "overflow")
        ]
        # The standard's victim is the arrival; ALTQ's any packet that waits.
        assert (lost == refused) == (profile == "standard")


def test_dctcp_step_ignores_or_drops_what_cannot_be_marked(trial):
    arrivals = numbered(burst(4), burst(2, ecn="not-ect"))
    ends = {
        rule: ids(trial("dctcp_step", arrivals, K=3, not_ect=rule), "dropped", "forced")
        for rule in ("pass", "drop")
    }
    assert ends == {"pass": [], "drop": [4, 5]}
