"""How another program's numbers are held against ours, without running one."""

from __future__ import annotations

import ctypes
import importlib.util
import selectors
import struct
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from validation import __main__ as every_comparison
from validation import causes, equivalence, page, picture, recorded
from validation.equivalence import (
    Kept,
    Program,
    Seeds,
    figures_from,
    in_aqmlab,
    named,
    rows_of,
)
from validation.external import Missing, several
from validation.figures import FIGURES, Figure, jain_index
from validation.linux import __main__ as kernel
from validation.linux import arrivals, cases, l4s, machine
from validation.linux.embedded import Arrival, Fates, replay, structure
from validation.linux.guest import bulk
from validation.linux.guest.packets import frame as framed
from validation.live import __main__ as calibration
from validation.ns2 import cases as ns2
from validation.ns3 import cases as ns3
from validation.ns3 import program
from validation.verdicts import Compared, compared, ratios, table, verdicts
from validation.workload import Burst, Web, as_lines

from aqmlab.simulator import engine

WORDS = (("cbr", "two"), ("cbr",), ("two",), ("streams of",))
MARGIN = Figure("drops, %", 1, 0.10, 0.0)


@dataclass(frozen=True)
class Case:
    """A case of a comparison that nobody runs."""

    family: str = "one flow"
    flows: int = 1
    ecn: bool = False
    paired: bool = False

    def name(self) -> str:
        """As a file may be called."""
        return "one"


@pytest.mark.parametrize(
    ("ours", "theirs", "described"),
    [
        # Means 100 and 101 with half widths of a few tenths: inside a tenth of 101.
        ([99.9, 100.0, 100.1], [100.9, 101.0, 101.1], "equivalent"),
        # 20 above: outside.
        ([119.9, 120.0, 120.1], [99.9, 100.0, 100.1], "different"),
        # The interval alone is wider than the margin.
        ([80.0, 100.0, 120.0], [80.0, 100.0, 120.0], "inconclusive"),
    ],
)
def test_a_verdict_needs_the_whole_interval_inside_the_margin(ours, theirs, described):
    assert Compared("", "", MARGIN, ours, theirs).found.verdict == described


def test_small_differences_do_not_matter_where_the_floor_says_so():
    figure = Figure("drops, %", 1, 0.10, 0.5)
    assert Compared("", "", figure, [0.3, 0.3], [0.1, 0.1]).found.verdict == "equivalent"


def test_what_was_run_is_kept_and_a_damaged_file_is_as_good_as_none(tmp_path):
    kept, runs = Kept(tmp_path), []

    def run() -> dict[str, float]:
        runs.append(1)
        return {"drop_rate": 0.5}

    for described in ("a", "a", "b"):
        assert kept.row("one-Linux-1", [described], run) == {"drop_rate": 0.5}
    assert len(runs) == 2
    for file in tmp_path.iterdir():
        file.write_text("{")
    assert kept.row("one-Linux-1", ["a"], run) == {"drop_rate": 0.5}
    assert len(runs) == 3


def noisy(share: float) -> Program[Case]:
    """A program whose goodput goes up and down by a share, and scenarios that do not."""
    goodput = {False: 6.908 * (1 + share), True: 6.908 * (1 - share)}

    def run(_: Case, seed: int) -> dict[str, float]:
        return {"goodput_mbit_per_s": goodput[seed % 2 == 0]}

    case = ns3.Case("one", "droptail", flows=1, warmup_s=2, measured_s=8, window=44)
    scenario = ns3.scenario(case, 1)
    described = lambda _, seed: [share, seed]  # noqa: E731
    return Program("Linux", lambda: None, lambda: "6", run, described, lambda *_: scenario)


@pytest.mark.parametrize(("share", "runs"), [(0.0, 3), (0.02, 6), (0.2, 20)])
def test_a_case_is_run_until_its_intervals_are_narrow_whatever_the_verdict(
    tmp_path, real_core, share, runs
):
    found = rows_of(Case(), noisy(share), Seeds(3, 20), Kept(tmp_path))
    assert len(found) == 2 * runs
    assert [row["seed"] for row in found] == [*range(1, runs + 1)] * 2


def test_an_interval_that_cannot_be_told_asks_for_no_more_runs():
    assert Compared("", "", MARGIN, [None, 1.0], [1.0, 1.0]).narrow
    assert Compared("", "", MARGIN, [95.0, 95.1], [100.0, 100.1]).narrow
    assert not Compared("", "", MARGIN, [99.0, 101.0], [100.0, 100.0]).narrow


def test_a_table_leaves_out_what_neither_program_did():
    row = {"family": "one flow", "case": "one", "flows": 1, "ecn": False, "paired": False}
    zero = dict.fromkeys(FIGURES, 0.0) | {"goodput_mbit_per_s": 9.5}
    runs = [
        row | zero | {"program": program, "seed": seed}
        for program in ("aqmlab", "Linux")
        for seed in (1, 2)
    ]
    each = compared(pl.DataFrame(runs), "Linux")
    lines = table(each, "Linux").splitlines()
    assert [line for line in lines if line.startswith("| one")] == [
        "| one | goodput, Mbit/s | 2 | 9.5 ± 0 | 9.5 ± 0 | 1.000 ± 0.000 | 5% | equivalent |"
    ]
    assert verdicts(each) == "goodput, Mbit/s: 1 equivalent"
    assert ratios(each).rows() == [("one", "goodput", 1.0, 0.0, 0.05, "equivalent")]


def test_the_page_has_each_comparison_as_it_last_ran_and_names_what_did_not(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["__main__.py", "--quick", "--only", "a b"])
    recorded.record("python -m validation.ns2", "ns-2.35", "| a |", "queue: 1 equivalent").keep(
        tmp_path
    )
    known = recorded.found(tmp_path)
    text = page.text(known, {"ns2": "ns2.svg"}, {})
    assert "`python -m validation.ns2 --quick --only 'a b'`, 20" in text
    assert "ns-2.35.\n\nqueue: 1 equivalent.\n\n![ratios](ns2.svg)\n\n| a |" in text
    assert text.count("Not run.") == len(page.PARTS) - 1
    (one,) = known.values()
    long = replace(one, command="validation.ns2" + "".join(f" --only {n}" for n in range(5)))
    assert "--only 3" in page.text({"ns2": long}, {}, {})
    shown = page.text({"ns2": long}, {}, {}, whole=False)
    assert "`validation.ns2 --only 0 … (of 5 cases)`" in shown


def test_what_is_open_says_how_many_runs_would_decide_it():
    assert page.runs_to_decide(24, 1.02, 0.06, 0.05) == pytest.approx(24 * 4)
    assert page.runs_to_decide(24, 0.92, 0.06, 0.05) == pytest.approx(24 * 4)
    assert page.runs_to_decide(24, 1.0, 0.05, 0.05) == 24
    row = "| a | queue, packets | 24 | 9 ± 1 | 8 ± 1 | 1.020 ± 0.061 | 5% | **inconclusive** |"
    rows = [
        row,
        row.replace("1.020", "1.050"),
        row.replace("1.020 ± 0.061", ""),
        row.replace("**inconclusive**", "equivalent"),
    ]
    one = recorded.Record("ns2", "", "", {"aqmlab": "1", "other": "2"}, "\n".join(rows))
    described = page.text({"ns2": one}, {}, {})
    verdicts = [
        line.rpartition("5% | ")[2] for line in described.splitlines() if line.startswith("| a")
    ]
    assert verdicts == [
        "**inconclusive**: 99 |",
        "**inconclusive**: over 100,000 |",
        "**inconclusive** |",
        "equivalent |",
    ]


def test_cases_that_are_run_again_take_the_place_of_their_rows(monkeypatch):
    def row(case: str, title: str, mean: int, verdict: str) -> str:
        half = {"equivalent": 0.02, "**inconclusive**": 0.03, "**different**": 0.025}[verdict]
        return f"| {case} | {title} | 3 | {mean} | 1 | 1.000 ± {half} | 5% | {verdict} |"

    head = "**one**\n\n| case | figure |\n| --- | --- |\n"
    rows = [
        row("a", "queue, packets", 1, "equivalent"),
        row("b", "queue, packets", 1, "**inconclusive**"),
    ]
    rows += [row("b", "dropped, %", 1, "equivalent"), row("c", "dropped, %", 1, "**different**")]
    old = recorded.Record(
        "ns2", "all", "2026-01-01", {"aqmlab": "1", "other": "2"}, head + "\n".join(rows)
    )
    assert recorded.wide(old.text, 4) == {"b"} and not recorded.wide(old.text, 3)
    assert recorded.wide(old.text.replace("1.000 ± 0.02 ", ""), 4) == {"a", "b"}
    monkeypatch.setattr("sys.argv", ["__main__.py", "--wide", "--most", "20"])
    news = [row("b", "queue, packets", 2, "equivalent"), row("b", "marked, %", 2, "equivalent")]
    new = recorded.record("python -m validation.ns2", "2", head + "\n".join(news))
    found = recorded.renewed(old, new)
    assert found.text == head + "\n".join([rows[0], *news, rows[3]])
    assert (
        found.summary
        == "queue, packets: 2 equivalent; marked, %: 1 equivalent; dropped, %: 1 different"
    )
    (again,) = found.again
    assert again.startswith("`python -m validation.ns2 --wide --most 20`, 2")
    assert again.endswith(": 1 cases")
    assert (found.command, found.made) == ("all", "2026-01-01")
    assert again in page.text({"ns2": found}, {}, {})
    later = f"Some cases were run later than the rest, once, last on {new.made}."
    assert later in page.text({"ns2": found}, {}, {}, whole=False)
    fresh = row("d", "dropped, %", 1, "equivalent")
    grown = recorded.renewed(old, replace(new, text=head + fresh))
    assert grown.text == f"{old.text}\n{fresh}"
    other = f"{head.replace('one', 'two')}{fresh}"
    assert recorded.renewed(old, replace(new, text=other)).text == f"{old.text}\n\n{other}"
    moved = recorded.renewed(old, replace(new, text=f"{head.replace('one', 'two')}{rows[0]}"))
    assert moved.text.count(rows[0]) == 1 and moved.text.endswith(rows[0])
    assert recorded.renewed(old, old).text == old.text
    with pytest.raises(ValueError, match="no family at the head"):
        recorded.renewed(replace(old, text=rows[0]), new)


RATIOS = page.kept_ratios()


def test_a_picture_has_every_case_and_figure():
    svg = picture.drawn(RATIOS["linux.mq"])
    for words in ("case", "figure"):
        for name in RATIOS["linux.mq"][words].unique():
            assert str(name).partition(",")[0] in svg, name


def test_the_page_is_that_of_the_records(tmp_path, monkeypatch):
    pictures = page.pictures(RATIOS)
    known = recorded.found(page.RECORDS)
    monkeypatch.setattr(picture, "drawn", lambda ratios: f"{ratios.height} ratios")
    whole = page.write_for_site(tmp_path).read_text("utf-8")
    for part, place in pictures.items():
        assert (tmp_path / place).read_text("utf-8") == f"{RATIOS[part].height} ratios"
        assert f"]({place})" in whole
    described = page.text(known, pictures, RATIOS, whole=False)
    assert described == page.PAGE.read_text("utf-8")
    rows = Counter(line for line in whole.splitlines() if line.startswith("| "))
    left = rows - Counter(line for line in described.splitlines() if line.startswith("| "))
    assert all(line.endswith((page.EQUIVALENT, "verdict |", " --- |")) for line in left), (
        "open rows stay"
    )
    assert sum(line.endswith(page.EQUIVALENT) for line in left.elements()) > 1_000


@pytest.mark.parametrize("part", RATIOS)
def test_what_is_apart_has_a_cause_and_a_control_shows_it(part):
    for one in causes.differences(part, RATIOS[part], causes.known()):
        assert one.verdict == "inconclusive" or one.shown, one


def test_a_cause_is_believed_as_far_as_its_control_is_the_same():
    rows = [
        ("a-1", "queue", 1.2, 0.01, "different"),
        ("a-1", "dropped", 0.9, 0.2, "inconclusive"),
        ("a-1", "marked", 0.9, 0.2, "inconclusive"),
        ("b-1", "queue", 1.01, 0.02, "equivalent"),
        ("b-1", "marked", 1.3, 0.02, "different"),
        ("c-1", "queue", 1.3, 0.02, "different"),
    ]
    names = ("case", "figure", "ratio", "half", "verdict")
    table = pl.DataFrame([dict(zip(names, row, strict=True)) for row in rows])
    known = [
        causes.Cause("x", r"a-(\d)", r"b-\1", "why", ("queue", "dropped")),
        causes.Cause("x", r"c-(\d)", r"d-\1", "why"),
        causes.Cause("y", r"b-(\d)", r"a-\1", "why"),
    ]
    found = {(one.case, one.figure): one for one in causes.differences("x", table, known)}
    assert len(found) == 5
    queue = found["a-1", "queue"]
    assert (queue.control, queue.described, queue.shown) == (
        "b-1",
        "1.010 ± 0.020, equivalent",
        True,
    )
    # Neither program dropped any in the control.
    assert (found["a-1", "dropped"].described, found["a-1", "dropped"].shown) == (causes.NONE, True)
    assert found["a-1", "marked"].why == found["b-1", "marked"].why == ""
    assert (found["c-1", "queue"].described, found["c-1", "queue"].shown) == ("not run", False)
    other = causes.Cause("x", "a-1", "b-1", "why", ("queue",), "marked")
    (first, *_) = causes.differences("x", table, [other])
    assert (first.described, first.shown) == ("1.300 ± 0.020, different", False)


def test_every_cause_names_cases_that_there_are():
    names = {
        "ns2": [case.name() for case in ns2.full()],
        "ns3": [case.name() for case in ns3.full()],
        "linux": [case.name() for case in cases.full()],
    }
    figures = {figure.title.split(",")[0] for figure in FIGURES.values()}
    for cause in causes.known():
        of = names[cause.part]
        assert {*cause.figures} | ({cause.figure} - {""}) <= figures, cause.case
        controls = {cause.of(name, (*cause.figures, "queue")[0]) for name in of} - {None}
        assert controls and controls <= {*of}, cause.case


@pytest.mark.parametrize("listed", [cases.full, cases.quick, ns2.full, ns3.full])
def test_every_case_has_a_name_of_its_own_and_a_scenario_that_is_accepted(listed):
    some = list(listed())
    assert len({case.name() for case in some}) == len(some)


def test_the_kernels_cases_are_accepted_and_tell_tc_of_ecn(real_core):
    for case in cases.full():
        engine.check(cases.scenario(case))
        words = cases.job(case, 1)["qdisc"].split()
        if case.discipline[2]:
            assert ("ecn" in words) == case.ecn, case.name()


EXACT = ("droptail", "codel", "fq_codel", "cake", "sfq")
"""Kernel disciplines that draw nothing."""


def test_the_kernel_and_aqmlab_run_as_long_and_a_drawing_queue_longer_for_one_flow(real_core):
    for case in cases.full():
        job, ours = cases.job(case, 1), engine.check(cases.scenario(case))
        ends_s = (job["warmup_s"], job["duration_s"])
        assert (float(ours["warmup"].split()[0]), float(ours["duration"].split()[0])) == ends_s
        alone = case.flows == 1 and case.queue not in EXACT
        assert case.workload or ends_s == (10, 210 if alone else 40), case.name()
        # The steps of the guest's clock: 256 ns (arch/um/kernel/time.c).
        assert float(ours["network"]["delay_tick"].split()[0]) == 256e-9


def test_bulk_senders_begin_at_the_same_microseconds_in_both():
    case = next(case for case in cases.full() if case.flows == 50)
    described, ours = cases.job(case, 3)["starts"], cases.scenario(case, 3)["traffic"]
    assert [float(group["start"].split()[0]) for group in ours] == described == sorted(described)
    assert {group["start_within"] for group in ours} == {"0 s"}
    assert len(described) == 50 and described[0] >= 0 and described[-1] < 1
    assert described != cases.job(case, 4)["starts"]


def test_of_l4s_cases_only_what_draws_nothing_is_paired():
    paired = [case.name() for case in l4s.cases() if case.paired]
    assert paired == [
        "dualpi2 4M 10ms: 1 DCTCP",
        "dualpi2 10M 10ms: 1 DCTCP",
        "dualpi2 10M 20ms: 4 DCTCP",
    ]


def test_a_line_that_serves_in_slots_is_open_as_long_in_the_guest_as_here():
    case = next(case for case in l4s.cases() if case.period_ms == 8)
    line, (link,) = l4s.job(case, 1)["line"], l4s.scenario(case, 1)["link"]
    (slots,) = link["effects"]
    # Ours takes the mean rate, the guest's device that within a slot.
    assert line["slot"] == [8_000_000, 2_000_000] and line["rate"][0] == 160_000_000
    assert (slots["period"], slots["share"], link["rate"]) == ("8 ms", 0.25, "40000000 bit/s")
    assert sum(case.seeds for case in l4s.in_slots()) == 6 * 14


def test_the_plan_of_the_kernel_s_cases_names_cases():
    planned = kernel.planned()
    each = Counter(min(equivalence.both(planned(case))) for case in cases.full())
    # The numbers of the plan of 2026-11-29: a name that is no case's would be missing here.
    assert each == {2: 21, 3: 31, 4: 23, 5: 14, 6: 10, 7: 5, 8: 24}


@pytest.mark.skipif(sys.platform != "linux", reason="timerfd is Linux's")
def test_the_guest_begins_at_a_turn_of_its_wheel_and_wakes_when_it_asked_to():
    at = bulk.turn(1_000)
    ticks = round(at * 1_000) + (1 << 32) - 300_000
    assert ticks % 4096 == 0 and 0 < at - time.monotonic() < 8.2
    alarm = bulk.Alarm()
    with selectors.DefaultSelector() as ready:
        ready.register(alarm, selectors.EVENT_READ)
        for _ in range(2):
            soon = time.monotonic() + 0.0015
            alarm.set(soon)
            # An instant that has been is over no more once the next is set, nor can it be read.
            assert not alarm.over
            assert ready.select()
            assert 0 <= time.monotonic() - soon < 5
            alarm.rung()
            assert alarm.over


def test_the_kernels_web_transfers_are_those_of_aqmlab():
    case = next(case for case in cases.full() if case.workload)
    described = [(round(1e6 * at), octets) for at, octets in cases.job(case, 2)["transfers"]]
    lines = cases.scenario(case, 2)["traffic"][0]["model"]["text"].splitlines()[1:]
    ours = [(int(line.split()[0]), int(line.split()[-1].split(",")[1])) for line in lines]
    assert described == ours
    assert len(described) > 5000


def test_the_cases_of_ns3_are_accepted_and_name_the_same_numbers(real_core):
    for case in ns3.full():
        queue = engine.check(ns3.scenario(case, 1))["link"][0]["forward"]
        described = dict(word.removeprefix("--").split("=", 1) for word in ns3.words(case, 7))
        attributes = dict(pair.split("=") for pair in described["attributes"].split(","))
        assert described["seed"] == "7"
        assert attributes.get("UseEcn", "false") == str(queue.get("ecn", False)).lower()
        if "MinTh" in attributes:
            assert float(attributes["MinTh"]) == queue["min_th"], case.name()


def test_every_control_is_a_case_with_one_thing_changed():
    """Its seeds draw round trips, a burst comes at any time, a SYN always asks for ECN."""
    (drawn,) = (case for case in ns2.controls() if case.drawn_ms)
    trips = {seed: drawn.drawn(seed).rtt_ms for seed in (1, 2)}
    assert trips[1] != trips[2] and drawn.drawn(1).rtt_ms == trips[1]
    for low, high in trips.values():
        assert 7 <= low <= 19 and 137 <= high <= 149
    (same,) = (case for case in ns3.controls() if case.drawn_ms)
    assert same.drawn(2).rtt_ms == trips[2]
    assert str(trips[2][0] / 1000) in ns2.words(drawn, 2)
    rtts = ns2.scenario(drawn, 2)["network"]["rtt"]
    assert (
        rtts == ns3.scenario(same, 2)["network"]["rtt"] != ns3.scenario(same, 1)["network"]["rtt"]
    )
    always = next(case for case in cases.controls() if not case.ecn_fallback)
    assert cases.job(always, 1)["sysctl"]["ipv4/tcp_ecn_fallback"] == 0
    assert cases.scenario(always)["traffic"][0]["tcp"]["ecn_fallback"] is False
    usual = replace(always, ecn_fallback=True)
    assert "ipv4/tcp_ecn_fallback" not in cases.job(usual, 1)["sysctl"]


def test_the_cases_of_ns2_are_accepted(real_core):
    for case in ns2.full():
        described = engine.check(ns2.scenario(case, 1))
        assert len(described["link"]) == (2 if case.cross else 1), case.name()


@pytest.mark.parametrize("load", [0.5, 0.98])
def test_web_transfers_offer_the_load_that_their_case_names(load):
    """The means of 20 seeds of 250 s are within three standard errors of it."""
    link = replace(next(ns2.web()), measured_s=200)
    offered = [
        sum(one.segments for one in Web(load).transfers(seed, link)) * 1500 * 8 / link.end_s / 10e6
        for seed in range(20)
    ]
    error = np.std(offered, ddof=1) / np.sqrt(len(offered))
    assert abs(np.mean(offered) - load) < 3 * error < 0.1 * load


def test_a_burst_shares_its_segments_and_starts_at_once():
    link = next(ns2.bursts())
    flows = Burst(18, 247, 60, 10).transfers(5, link)
    assert sum(one.segments for one in flows) == 247
    assert {one.segments for one in flows} == {13, 14}
    (start,) = {one.start_us for one in flows}
    assert 60e6 <= start <= 70e6
    assert as_lines(flows[:1]) == f"{start / 1e6:.6f} 0 14\n"


def test_every_kind_of_case_gives_its_figures_in_aqmlab(real_core):
    """Short runs: what was told of workload, streams and second link comes back in the numbers."""
    short = {"warmup_s": 2, "measured_s": 8}
    web, stream, two = (
        replace(next(kind()), **short) for kind in (ns2.web, ns2.streams, ns2.two_links)
    )
    of_web = in_aqmlab(web, ns2.scenario(web, 1), 1)
    assert 0.007 < of_web["transfer_mean_s"] < 2
    assert "goodput_mbit_per_s" not in of_web
    of_streams = in_aqmlab(stream, ns2.scenario(stream, 1), 1)
    assert 0 <= of_streams["stream_loss_rate"] < 0.1
    of_two = in_aqmlab(two, ns2.scenario(two, 1), 1)
    # The ten over both links share each with ten others.
    assert of_two["goodput_mbit_per_s"] < 7 < of_streams["goodput_mbit_per_s"] < 8
    assert 0 < of_two["queue_time_mean_packets_second"] <= 121


def test_what_a_program_does_not_tell_is_never_the_same():
    row = {"family": "bursts", "case": "one", "flows": 0, "ecn": False, "paired": True}
    runs = [
        row | {"program": program, "seed": seed, "transfer_mean_s": mean}
        for program, means in (("aqmlab", [1.0, 1.0, None]), ("ns-2", [1.0, 1.0, 1.0]))
        for seed, mean in enumerate(means)
    ]
    (one,) = compared(pl.DataFrame(runs), "ns-2")
    assert one.found.verdict == "inconclusive"
    assert "in 2 of 3 runs | 1000 ± 0" in one.row()
    assert replace(one, ours=[None] * 3).found.verdict == "different"
    neither = [run | {"transfer_mean_s": None} for run in runs]
    assert compared(pl.DataFrame(neither), "ns-2") == []


def test_a_program_without_the_figures_of_its_queue_has_failed():
    with pytest.raises(RuntimeError, match="failed"):
        figures_from(["echo", "drop_rate", "0"], "")
    described = figures_from(["cat"], "drop_rate 0 mark_rate 0 queue_time_mean_packets 3")
    assert described["queue_time_mean_packets"] == 3


def test_only_takes_cases_that_have_one_of_the_words():
    every = list(ns2.full())
    words = {word: [case.name() for case in named(every, word)] for word in WORDS}
    assert words[("cbr", "two")] == words[("cbr",)] + words[("two",)]
    assert len(words[("streams of",)]) == len(words[("cbr",)]) == 7


def test_only_takes_a_whole_name_or_family_for_that_alone():
    every = list(cases.full())
    assert [case.name() for case in named(every, ["pie-10-cubic"])] == ["pie-10-cubic"]
    assert {case.family for case in named(every, ["CUBIC"])} == {"CUBIC"}
    assert {case.family for case in named(every, ["CUBI"])} == {"CUBIC", "CUBIC with ECN"}


def test_a_confirmation_takes_seeds_that_were_not_used(tmp_path, real_core):
    found = rows_of(Case(), noisy(0.0), Seeds(2, 2, 1001), Kept(tmp_path))
    assert [row["seed"] for row in found] == [1001, 1002, 1001, 1002]


def test_jains_index_is_of_all_flows_and_none_where_nothing_got_through():
    assert jain_index([3.0, 3.0]) == {"jain_index": 1.0}
    assert jain_index([3.0, 0.0]) == {"jain_index": 0.5}
    assert jain_index([0.0]) == {}


def test_several_calls_at_a_time_answer_in_the_order_of_what_they_are_of():
    second_is_through = threading.Event()

    def call(number):
        if number == 0:
            assert second_is_through.wait(60)
        else:
            second_is_through.set()
        return number

    assert list(several(call, (0, 1), jobs=2)) == [0, 1]


def test_every_part_of_the_page_is_a_comparison_that_can_be_run():
    for part in page.PARTS:
        assert importlib.util.find_spec(f"validation.{part}"), part


def test_a_share_of_the_long_comparisons_fits_an_hour_and_records_nothing():
    short, whole = list(every_comparison.commands(False)), list(every_comparison.commands(True))
    assert len(short) == len(page.PARTS) == len({command[2] for command in whole})
    # What a plan has set is run by it, and what it leaves out is added to that record.
    series = [command[3:-2] for command in whole if command[2] == "validation.linux.l4s"]
    assert [words[0] for words in series] == ["--plan", "--keep"]
    left = {case.name() for case in l4s.cases()} - equivalence.plan(Path(series[0][1])).keys()
    assert left == {case.name() for case in named(list(l4s.cases()), series[1][2:])}
    assert all("--out" in command for command in whole)
    assert not any("--out" in command for command in short)
    assert {
        command[2].removeprefix("validation.") for command in short if "--every" in command
    } == {*every_comparison.SHARES}


def test_runs_of_the_same_users_are_judged_by_their_differences():
    ours, theirs = [80.0, 100.0, 120.0], [80.5, 100.4, 120.6]
    assert Compared("", "", MARGIN, ours, theirs, paired=True).found.verdict == "equivalent"
    assert Compared("", "", MARGIN, ours, theirs).found.verdict == "inconclusive"


def test_without_ns3_one_sentence_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(program, "release", lambda: "3.44")
    monkeypatch.setattr(program, "home", lambda: tmp_path / "ns3")
    monkeypatch.setattr(program.shutil, "which", lambda _: None)
    with pytest.raises(Missing, match="Debian package g\\+\\+"):
        program.built()


def test_frames_of_a_trace_carry_a_right_checksum_and_their_number():
    frame = framed(7, 3, 100, ecn=2)
    assert len(frame) == 14 + 100
    assert frame[15] == 2
    total = sum(struct.unpack("!10H", frame[14:34]))
    assert (total & 0xFFFF) + (total >> 16) == 0xFFFF
    assert struct.unpack_from("=I", frame, 42) == (7,)


def test_without_a_kernel_one_sentence_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(machine.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(machine, "source", lambda: machine.CONFIG)
    with pytest.raises(Missing, match="`make uml` builds it"):
        machine.kernel()
    monkeypatch.setattr(machine.platform, "machine", lambda: "riscv64")
    with pytest.raises(Missing, match="x86_64 only"):
        machine.kernel()


class Shelf:
    """A queue of two packets, first come, first served."""

    def __init__(self) -> None:
        self.fates, self.waiting = Fates(), []

    def enqueue(self, number: int, packet: Arrival, now: int) -> None:
        assert packet.at_ns == now
        if len(self.waiting) == 2:
            self.fates.dropped.add(number)
        else:
            self.waiting.append(number)

    def dequeue(self, now: int) -> int | None:
        return self.waiting.pop(0) if self.waiting else None


def test_packets_are_handed_over_as_the_c_header_says():
    packet = structure("aqmlab_packet")
    assert [name for name, *_ in packet._fields_] == [
        *("flow", "id", "bytes", "source", "destination", "dscp", "ack", "ecn")
    ]
    assert (packet.flow.offset, packet.ecn.offset, ctypes.sizeof(packet)) == (0, 22, 24)
    with pytest.raises(LookupError, match="no structure aqmlab_queue of whole numbers"):
        structure("aqmlab_queue")


def test_packets_leave_when_the_other_program_s_line_was_free():
    packets = [Arrival(at, 0, 100, 0) for at in (0, 10, 20, 30, 5000)]
    # 100 bytes take 800 ns; the other line was late by 5, 6 and 9 ns.
    fates = replay(Shelf(), packets, [805, 1611, 2420], 8)
    assert fates.left_ns == {0: 805, 1: 1611, 2: 2420, 4: 5800}
    assert fates.dropped == {3}


def test_the_disciplines_of_the_recorded_arrivals_are_accepted(real_core):
    for name, of in arrivals.DISCIPLINES.items():
        requested = {"discipline": of.name, "parameters": of.parameters, "packets": 3}
        assert engine.trial(requested)["cases"], name


def test_live_loads_are_held_against_users_and_simulated_ones(monkeypatch, tmp_path):
    """Ratios 1, 1, 1.05: mean 1.0167, s = 0.028868, half width 4.302653 s/sqrt(3) = 0.0717."""
    loads = {"live": [(1, 2.0), (2, 4.0), (3, 6.3)], "simulated": [(1, 2.0), (2, 4.0), (3, 6.0)]}
    monkeypatch.setattr(calibration, "points", lambda folder, number: loads[folder.name])
    live, simulated, ratio, *_ = calibration.report(tmp_path)
    # Slopes: (2 + 8 + 18.9)/14 and 28/14.
    assert live.startswith("live      2.064 ± ") and "requests for each user, R² 0.99" in live
    assert simulated == "simulated 2 ± 0 requests for each user, R² 1.00000"
    assert ratio == "ratio     1.0167 (0.9450 to 1.0884), 3 pairs"


def test_the_table_of_counts_is_that_of_the_records():
    text = page.OVERVIEW.read_text("utf-8")
    assert page.overview(text, recorded.found(page.RECORDS)) == text, (
        "run python -m validation.page"
    )
    one = recorded.Record("ns2", "", "2026-01-01", {"other": "ns-2.35"}, "| a | x | equivalent |")
    head = "| a: one | 2 | the same up to packet |\n| --- | --- | --- |"
    rows = f"{head}\n| b | 1 | all |\n| c | 1 | 3 |"
    exact = recorded.Record("quic.losses", "", "2026-01-01", {"other": "quinn"}, rows)
    marks = "".join(page.COUNTS)
    counted = page.overview(f"x\n{marks}y", {"ns2": one, "quic.losses": exact})
    assert "(`validation.ns2`) | ns-2.35, 2026-01-01 | 1 | 1 | none | none |" in counted
    assert "(`validation.quic.losses`) | quinn, 2026-01-01 | 2 rows | 1 equal | | |" in counted
    assert counted.count("| not run |") == len(page.PARTS) - 2
    assert page.overview(counted, {"ns2": one, "quic.losses": exact}) == counted
