"""The difference that defines a profile of a delay-based or per-flow discipline.

As in `test_profiles.py`: the same arrivals and otherwise the same parameters, and a look at the
packet on which the sources disagree.
"""

from __future__ import annotations

import itertools

import pytest

from trials import burst, ids, numbered, of, times

MS = 1_000_000
PACKET = 800_000  # ns that 1000 B occupy the line of 10 Mbit/s


def sent(calls: list[dict]) -> list[int]:
    return [call["sent"]["id"] for call in calls if call.get("sent")]


# CoDel.


def test_codel_of_the_rfc_signals_at_the_interval_linux_after_it(trial):
    # Departures every 0.8 ms; the second is the first above target, and one falls 8 ms later.
    base = {"target": "0.5 ms", "interval": "8 ms"}
    first = {
        profile: times(
            trial("codel", numbered(burst(40)), profile=profile, **base),
            "dropped",
        )[0]
        for profile in ("rfc8289", "ns2", "linux", "ns3")
    }
    assert first["rfc8289"] == first["ns2"] == 11 * PACKET
    assert first["linux"] == first["ns3"] == 12 * PACKET


def test_codel_of_linux_takes_a_half_for_the_root_of_a_half(trial):
    small = numbered(burst(6000, size=100))  # a departure every 0.08 ms
    series = {}
    for profile in ("rfc8289", "linux"):
        drops = times(trial("codel", small, profile=profile, limit=6000), "dropped")
        series[profile] = [(at - drops[0]) / MS for at in drops[1:5]]
    assert series["rfc8289"] == pytest.approx([100, 170.71, 228.45, 278.45], abs=0.16)
    assert series["linux"] == pytest.approx([100, 150, 206.25, 255.03], abs=0.16)


def test_codel_of_ns3_acts_where_exactly_1500_bytes_are_left(trial):
    four = numbered(burst(4, size=1500))
    base = {"target": "0 s", "interval": "1 ms"}
    # Packet 1 leaves 3000 B, packet 2 1500 B after more than the interval.
    for profile, drops in (("rfc8289", []), ("linux", []), ("ns3", [2])):
        assert ids(trial("codel", four, profile=profile, **base), "dropped") == drops


def test_codel_of_ns2_learns_the_largest_packet(trial):
    five = numbered(burst(5, size=500))
    base = {"target": "0 s", "interval": "0.1 ms"}
    # Packets 1 and 2 leave 1500 B and 1000 B.
    for profile, drops in (("rfc8289", []), ("ns2", [2])):
        assert ids(trial("codel", five, profile=profile, **base), "dropped") == drops


def test_codel_of_ns3_plans_from_the_mark_linux_from_its_plan(trial):
    arrivals = numbered(burst(60, size=1500))
    base = {"ecn": True, "target": "0.5 ms", "interval": "10 ms"}
    after = {}
    for profile in ("linux", "ns3"):
        marks = times(trial("codel", arrivals, profile=profile, **base), "marked")
        after[profile] = [(at - marks[0]) // 1_200_000 for at in marks[1:3]]
    # Planned for 10 and 15 ms; the mark due at 10 ms comes at 10.8 ms.
    assert after == {"linux": [9, 13], "ns3": [9, 14]}


def test_codel_of_ns2_resumes_with_one_less_the_rfc_with_what_was_added(trial):
    bursts = [burst(60, at=i * 60 * MS) for i in range(3)]
    base = {"target": "0.5 ms", "interval": "8 ms", "limit": 100}
    entries = {}
    for profile in ("rfc8289", "ns2"):
        calls = trial("codel", numbered(*bursts), profile=profile, **base)
        pairs = zip(calls[1:], calls, strict=False)
        entries[profile] = [
            (before["state"]["count"], now["state"]["count"])
            for now, before in pairs
            if now["state"]["dropping"] > before["state"]["dropping"]
        ]
    for counts in entries.values():
        assert len(counts) == 3 and counts[0] == (0, 1)
    (_, (a, b), (c, d)) = entries["rfc8289"]
    assert (b, d) == (a - 1, c - b)
    assert all(now == before - 1 for before, now in entries["ns2"][1:])
    assert d < c - 1


# FQ-CoDel.


def test_fq_codel_of_linux_takes_an_emptied_new_queue_off_at_once(trial):
    arrivals = numbered(burst(1, flow=1), burst(3, flow=2))
    lists = {}
    for profile in ("rfc8290", "linux", "ns3"):
        second = of(trial("fq_codel", arrivals, profile=profile), "dequeue")[1]
        lists[profile] = second["state"]["new_flows"], second["state"]["old_flows"]
    assert lists == {"rfc8290": (1, 1), "linux": (1, 0), "ns3": (1, 1)}


def test_fq_codel_of_linux_looks_at_the_bytes_of_all_queues(trial):
    arrivals = numbered(burst(40, flow=1), burst(2, flow=2))
    base = {"target": "0.1 ms", "interval": "0.5 ms", "quantum": 300}
    # Flow 2's queue never leaves more than an MTU behind, the others do.
    for profile, lost in (("rfc8290", False), ("ns3", False), ("linux", True)):
        drops = ids(trial("fq_codel", arrivals, profile=profile, ecn=False, **base), "dropped")
        assert any(i >= 40 for i in drops) == lost


def test_fq_codel_of_ns3_does_not_count_what_the_buffer_drops(trial):
    counts = {}
    for profile in ("rfc8290", "linux", "ns3"):
        calls = trial("fq_codel", numbered(burst(12)), profile=profile, limit=10)
        overload = next(call for call in calls if ids([call], "dropped"))
        counts[profile] = overload["state"]["max_count"], len(ids([overload], "dropped"))
    # Half the bytes of eleven packets.
    assert counts == {"rfc8290": (6, 6), "linux": (6, 6), "ns3": (0, 6)}


# Round robin.


@pytest.mark.parametrize(
    ("victim", "front", "lost"),
    [("lqd", True, 1), ("lqd", False, 6), ("alqd", True, 1), ("tail", True, 10)],
)
def test_drr_drops_from_the_longest_queue_or_the_arrival(trial, victim, front, lost):
    # A 6, B 3 and C 1 wait (A's first packet is on the line); C's next finds no room.
    arrivals = numbered(burst(7, flow=1), burst(3, flow=2), burst(2, flow=3))
    calls = trial("drr", arrivals, victim=victim, front=front, limit=10)
    assert ids(calls, "dropped") == [lost if victim != "tail" else 11]


def test_drr_gives_equal_bytes_not_equal_turns(trial):
    arrivals = numbered(burst(7, flow=1), burst(4, flow=2, size=1500))
    order = sent(trial("drr", arrivals, limit=100))
    # A's first packet finds the line free.
    assert "".join("A" if i < 7 else "B" for i in order) == "A" + "ABAABABAAB"


def test_sfq_drops_the_last_packet_linux_headdrop_the_first(trial):
    arrivals = numbered(burst(7, flow=1), burst(5, flow=2))
    for head_drop, lost in ((False, 6), (True, 1)):
        assert ids(trial("sfq", arrivals, limit=10, head_drop=head_drop), "dropped") == [lost]


# PIE.

STEADY = [burst(1, at=i * 500_000) for i in range(1800)]  # 1.6 times the line's rate
PIE = {"max_burst": "0 s", "derandomise": False, "alpha": 3, "beta": 1}


def test_pie_of_linux_updates_first_after_half_a_second(trial):
    for profile, first in (("rfc8033", 15), ("linux", 500), ("docsis", 16)):
        arrivals = numbered(burst(1), burst(1, at=600 * MS))
        assert of(trial("pie", arrivals, profile=profile), "tick")[0]["at_ns"] == first * MS


def test_pie_of_linux_decays_by_a_64th_at_rest(trial):
    arrivals = numbered([{**a, "at_ns": a["at_ns"] + 400 * MS} for g in STEADY for a in g],
                        burst(1, at=3000 * MS))  # fmt: skip
    for profile, kept in (("rfc8033", 0.98), ("linux", 63 / 64)):
        ticks = of(trial("pie", arrivals, profile=profile, **PIE), "tick")
        pairs = [
            (a["state"]["p"], c["state"]["p"])
            for a, b, c in zip(ticks, ticks[1:], ticks[2:], strict=False)
            if b["state"]["qdelay"] == c["state"]["qdelay"] == 0 == a["state"]["qdelay"]
            and b["state"]["p"] > 0.1  # below it the gains are smaller
        ]
        step = 3 * 0.015
        assert len(pairs) >= 1
        for before, after in pairs:
            assert after == pytest.approx(((before - step) * kept - step) * kept)


def test_pie_of_linux_adds_two_percent_above_250_ms(trial):
    # 500 packets at once: the last waits for 400 ms.
    arrivals = numbered(burst(1), burst(800, at=490 * MS))
    base = {"limit": 1000, "max_burst": "0 s", "alpha": 0, "beta": 0}
    for profile, grows in (("rfc8033", False), ("linux", True)):
        ticks = of(trial("pie", arrivals, profile=profile, **base), "tick")
        for before, now in itertools.pairwise(ticks):
            late = now["state"]["qdelay"] > 0.25
            grown = now["state"]["p"] - before["state"]["p"]
            assert grown == pytest.approx(0.02 if late and grows else 0, abs=1e-12) or (
                now["state"]["qdelay"] == 0
            )
        assert any(tick["state"]["qdelay"] > 0.25 for tick in ticks)


def test_pie_of_linux_marks_at_the_ecn_threshold_itself(trial):
    arrivals = numbered(*STEADY, burst(1, at=950 * MS))
    for profile, kind in (("rfc8033", "dropped"), ("linux", "marked")):
        base = {**PIE, "alpha": 1, "profile": profile, "ecn": True}
        marks = [c for c in trial("pie", arrivals, mark_ecnth=1, **base) if ids([c], "marked")]
        first = marks[0]
        exactly = trial("pie", arrivals, mark_ecnth=first["state"]["p"], **base)
        (call,) = [c for c in exactly if c.get("packet") == first["packet"]]
        assert ids([call], kind) == [first["packet"]["id"]]


def test_pie_counts_the_burst_allowance_at_updates_linux_at_departures(trial):
    arrivals = numbered(*STEADY)
    for profile, where in (("rfc8033", "tick"), ("linux", "dequeue")):
        calls = trial("pie", arrivals, profile=profile, max_burst="60 ms")
        falls = [
            now["call"]
            for now, before in zip(calls[1:], calls, strict=False)
            if now["state"]["burst_allowance"] < before["state"]["burst_allowance"]
        ]
        assert set(falls) == {where}


def test_pie_of_linux_spares_two_mtus(trial):
    # 2 x 1500 B wait at most: more than the RFC's 2 x 1000, less than two MTUs with headers.
    held = [burst(4, at=i * 6 * MS, size=1500) for i in range(300)]
    for profile, tests in (("rfc8033", True), ("linux", False)):
        base = {**PIE, "alpha": 100, "target": "0.5 ms", "profile": profile}
        calls = trial("pie", numbered(*held), **base)
        assert any(c["draws"] for c in calls) == tests


def test_pie_of_docsis_sleeps_below_a_third_of_the_buffer_and_never_marks(trial):
    low = numbered(burst(30), *STEADY[:1], *(burst(1, at=i * PACKET) for i in range(400)))
    base = {"profile": "docsis", "alpha": 5, "beta": 50, "max_burst": "0 s"}
    asleep = trial("pie", low, limit_bytes=120_000, **base)
    awake = trial("pie", low, limit_bytes=60_000, **base)
    assert max(call["state"]["p"] for call in asleep) > 0.3
    assert not ids(asleep, "dropped") and ids(awake, "dropped", "early")
    assert not ids(awake, "marked")


@pytest.mark.parametrize(("overload", "lost"), [("arrival", [10]), ("fattest", [1, 2, 3, 4, 5])])
def test_fq_pie_refuses_the_arrival_ns3_halves_the_fattest_queue(trial, overload, lost):
    arrivals = numbered(burst(10, flow=1), burst(1, flow=2))
    assert ids(trial("fq_pie", arrivals, overload=overload, limit=9), "dropped") == lost


# DualPI2.

LOAD = [burst(1, at=i * 500_000, ecn=("ect1", "ect0")[i % 2]) for i in range(600)]


def test_dualpi2_accumulates_probabilities_linux_draws(trial):
    draws = {}
    for profile in ("rfc9332", "linux"):
        calls = trial("dualpi2", numbered(*LOAD), profile=profile, limit=300)
        assert ids(calls, "marked")
        draws[profile] = sum(len(call["draws"]) for call in calls)
    assert draws["rfc9332"] == 0 < draws["linux"]


def test_dualpi2_ramps_where_linux_has_a_step(trial):
    # Scalable packets leave after 0, 0.8 and so on: the second waits 0.88 ms, a fifth of the ramp.
    pairs = [burst(4, at=i * 20 * MS, size=1100, ecn="ect1") for i in range(20)]
    rfc = trial("dualpi2", numbered(*pairs), profile="rfc9332", alpha=0, beta=0)
    linux = trial("dualpi2", numbered(*pairs), profile="linux", alpha=0, beta=0)
    # The sum of fifths must exceed one: the 6th, 11th and 16th. The third and the fourth wait
    # 1.76 ms and more: Linux marks all of them, the RFC's ramp none, since at most one is behind
    # (Th_len).
    assert ids(rfc, "marked") == [21, 41, 61]
    assert ids(linux, "marked") == [i for i in range(80) if i % 4 >= 2]
    # Linux's step may want others to be there already, or count packets instead.
    late = trial("dualpi2", numbered(*pairs), profile="linux", alpha=0, beta=0, min_qlen_step=2)
    assert ids(late, "marked") == list(range(3, 80, 4))
    few = trial("dualpi2", numbered(*pairs), profile="linux", alpha=0, beta=0, step_packets=1)
    assert ids(few, "marked") == list(range(1, 80, 4))


def test_dualpi2_of_linux_spares_two_mtus(trial):
    thin = [burst(2, at=i * 2 * MS, ecn="not-ect") for i in range(300)]
    base = {"alpha": 10, "beta": 0, "target": "0.1 ms", "t_update": "1.9 ms"}
    for profile, loses in (("rfc9332", True), ("linux", False)):
        calls = trial("dualpi2", numbered(*thin), profile=profile, **base)
        assert max(call["state"]["p"] for call in calls) > 0.05
        assert bool(ids(calls, "dropped")) == loses


# SFB and CHOKe.

CROWD = {"bin_size": 1, "d1": 0.1, "limit": 100, "max": 90}


def test_sfb_of_the_paper_marks_above_one_half(trial):
    arrivals = numbered(burst(14), *(burst(2, at=i * MS) for i in range(14)))
    drops = {"lab": 0, "linux": 0, "paper": 0}
    for profile in drops:
        for seed in range(10):
            few = [a for a in arrivals if a["packet"]["id"] < 10]
            drops[profile] += len(ids(trial("sfb", few, seed, profile=profile, **CROWD), "dropped"))
    assert drops["paper"] == 0 < min(drops["lab"], drops["linux"])


def test_sfbs_penalty_box_of_linux_restarts_its_clock_at_each_try(trial):
    # Arrivals every 90 ms at 10 packets/s: a continuous bucket admits, Linux rounds down to 0.
    fill = burst(40)
    later = [burst(1, at=i * 90 * MS) for i in range(1, 40)]
    base = {"bin_size": 1, "d1": 0.999, "d2": 1e-9, "limit": 100, "max": 90, "penalty_burst": 5}
    admitted = {}
    for profile in ("lab", "linux"):
        calls = trial("sfb", numbered(fill, *later), profile=profile, **base)
        late = [c for c in of(calls, "enqueue") if c["at_ns"] > 1000 * MS]
        admitted[profile] = len(ids(late, "queued"))
    assert admitted["linux"] == 0 < admitted["lab"]


def test_choke_of_linux_only_draws_a_threshold_for_the_first_packet_of_the_band(trial):
    arrivals = numbered(*(burst(1, flow=i) for i in range(12)))
    base = {"min_th": 2, "max_th": 40, "w_q": 0.5, "max_p": 1e-9, "limit": 100}
    extra = {}
    for profile in ("paper", "linux"):
        calls = of(trial("choke", arrivals, profile=profile, **base), "enqueue")
        extra[profile] = [len(c["draws"]) - 1 for c in calls if c["state"]["count"] >= 0]
    # Beside the draw of a waiting packet: the paper tests each, Linux draws once for all.
    assert set(extra["paper"]) == {1}
    assert extra["linux"][0] == 1 and set(extra["linux"][1:]) == {0}
