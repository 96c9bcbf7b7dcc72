"""Tests of networks as traffic: what the names stand for."""

import json
from typing import Any

import numpy as np
import pytest

from aqmlab.errors import SpecError
from aqmlab.simulator import engine, network_tests
from aqmlab.simulator.network_tests import flent, responsiveness, speed_tests
from aqmlab.tables import network_tests as results
from aqmlab.tables import responsiveness as over_http2
from aqmlab.tables.statistics.network_tests import (
    game_rating,
    network_test,
    said_over_true,
    true_round_trip_s,
)
from aqmlab.tables.statistics.streaming import streaming_rating

LINE = {
    "duration": "20 s",
    "warmup": "5 s",
    "seed": 1,
    "link": [{"name": "line", "rate": "10 Mbit/s", "delay": "5 ms", "forward": "fq_codel"}],
}


def groups(**group):
    return network_tests.expand({**LINE, "traffic": [group]})["traffic"]


def test_rrul_is_four_flows_each_way_and_four_pings():
    found = {group["name"]: group for group in groups(app="rrul", tcp="linux")}
    assert len(found) == 12
    up, down = found["TCP upload EF"], found["TCP download BK"]
    assert (up["side"], up["dscp"], down["side"], down["dscp"]) == (
        "clients",
        "ef",
        "servers",
        "cs1",
    )
    assert (up["start"], up["lasts"], up["tcp"]) == ("5 s", "60 s", "linux")
    ping = found["Ping (ms) UDP EF"]
    assert (ping["app"], ping["dscp"], ping["interval"], ping["lasts"]) == (
        "ping",
        "ef",
        "0.2 s",
        "70 s",
    )
    assert "tcp" not in ping and "dscp" not in found["Ping (ms) ICMP"]


def test_streams_are_counted_as_flent_counts_them():
    names = [group["name"] for group in groups(app="tcp_nup", upload_streams=3, length="10 s")]
    assert names == ["Ping (ms) ICMP", "TCP upload::1", "TCP upload::2", "TCP upload::3"]
    both = [group["name"] for group in groups(app="tcp_nup_ndown", upload_streams=1)]
    assert "TCP upload::1" in both and "TCP download::4" in both


def test_hosts_of_rtt_fair_have_round_trips_of_their_own():
    found = {g["name"]: g["rtt"] for g in groups(app="rtt_fair", rtts=["10 ms", "0.2 s"])}
    assert (found["TCP upload BE1 host1"], found["Ping (ms) ICMP2 host2"]) == ("0.01 s", "0.2 s")


def test_controls_are_flent_s():
    by_name = {g["name"]: g.get("tcp") for g in groups(app="cubic_bbr", tcp={"profile": "plain"})}
    assert by_name["TCP upload BBR BE"] == {"profile": "plain", "congestion": "bbr"}
    assert by_name["Ping (ms) ICMP"] is None


@pytest.mark.parametrize(
    ("group", "sentence"),
    [
        ({"app": "rrul", "lenght": "1 s"}, 'rrul has no field "lenght"; did you mean "length"?'),
        ({"app": "rrul", "length": "soon"}, "traffic.0.length: 'soon' is no time"),
        ({"app": "tcp_nup", "upload_streams": 0}, "is no whole number from 1 to 1000"),
        ({"app": "networkquality", "direction": "sideways"}, "is none of download, upload, both"),
    ],
)
def test_a_mistake_names_field_and_remedy(group, sentence):
    with pytest.raises(SpecError, match=sentence.replace("?", r"\?").replace('"', ".")):
        groups(**group)


def test_other_groups_stay_as_they_are():
    scenario = {**LINE, "traffic": [{"app": "bulk", "flows": 1}]}
    assert network_tests.expand(scenario) is scenario
    mixed = network_tests.expand({**LINE, "traffic": [*scenario["traffic"], {"app": "ndt7"}]})
    assert mixed["traffic"][0] == scenario["traffic"][0]
    assert mixed["record"]["goodput"] is True


def test_responsiveness_over_http2_is_a_group_of_load_each_way_and_one_of_probes():
    found = {g["name"]: g for g in groups(app="networkquality", tcp="linux")}
    assert list(found) == ["load download", "load upload", "foreign"]
    # 5 % of 10 Mbit/s in pairs of 6,000 B: 10.4 a second; self probes in both directions together.
    assert found["foreign"]["probe_every"] == "0.096 s"
    assert found["load upload"]["probe_every"] == "0.192 s"
    # 5 ms of a sixteenth of the line is less than a packet.
    assert found["load download"]["frame_bytes"] == 1439
    (load, _) = groups(app="rpm")
    assert (load["direction"], load["interval"], load["lasts"]) == ("download", "5 s", "40 s")
    # A self probe begins where its foreign one ends (rpm/rpm.go), so that one group has both.
    (load,) = groups(app="goresponsiveness")
    assert (load["interval"], load["frame_bytes"], load["probe_every"]) == ("1 s", 16384, "0.01 s")
    assert (load["probes"], load["self_probes"]) == ("both", "after_foreign")
    # Its server's program is in Go and sets no TCP_NOTSENT_LOWAT.
    assert (load["send_buffer"], load["writes"]) == ("linux", "blocking")


def test_a_pair_of_goresponsiveness_is_answered_when_its_self_probe_is():
    times = np.array([0.0, 0.1, 0.5, 0.6])
    own = np.array([False, True, False, True])
    http = np.array([0.4, 0.2, 0.3, 0.5])
    zero = np.zeros(4)
    probes = over_http2.Probes(times, times + http, own, zero, zero, http)
    assert probes.answered(0.0, 0.5) == pytest.approx(0.6)  # 0.4 s, and then 0.2 s
    assert probes.answered(0.0, 1.0) == pytest.approx(1.3)
    assert probes.answered(1.0, 2.0) == 2.0


def test_responsiveness_over_http11_adds_a_connection_each_interval():
    found = groups(app="rpm", interval="1 s", intervals=20, tcp="linux", http="http11")
    loads = [g for g in found if g["name"].startswith("load ")]
    assert [g["start"] for g in loads[:3]] == ["0 s", "1 s", "2 s"] and len(loads) == 16
    (probes,) = (g for g in found if g["name"] == "foreign")
    # 5 % of 10 Mbit/s in pairs of 6,000 B: 10.4 a second.
    assert probes["users"] == 208
    rows = probes["requests"]["text"].splitlines()
    assert len(rows) == 209 and rows[1].startswith("0,0.048")


def test_a_speed_test_is_idle_then_down_then_up():
    by_name = {g["name"]: g for g in groups(app="ookla", connections=8)}
    assert (by_name["download"]["start"], by_name["download"]["flows"]) == ("3 s", 8)
    assert by_name["upload"]["start"] == "20 s"
    assert by_name["latency"]["lasts"] == "35 s"
    assert {"both upload", "both download"} <= {g["name"] for g in groups(app="crusader")}


def test_the_simulator_reads_every_test(real_core):
    for name in network_tests.TESTS:
        checked = engine.check({**LINE, "traffic": [{"app": name, "tcp": "linux"}]})
        assert checked["traffic"], name
    assert len(flent.TESTS) == 44 and len(speed_tests.TESTS) == 6


def test_tests_are_listed_described_and_in_the_schema(real_core):
    assert engine.application("rrul")["summary"].startswith("Realtime Response Under Load")
    apps = [
        of["properties"]["app"].get("const") for of in engine.schema()["$defs"]["traffic"]["oneOf"]
    ]
    assert apps.count("rrul") == 1 and "networkquality" in apps


def test_flent_s_series_carry_known_marks():
    for about in flent.data().values():
        assert all(
            one.get("dscp") in (None, "tos4", "ef", *(f"cs{i}" for i in range(1, 8)))
            for one in about["series"]
        )
    assert json.loads(flent.DATA.read_text("utf-8"))["rrul"]["combined"][0] == "TCP upload avg"


class FakeRun:
    """A speed test: 20 ms idle, 50 ms while downloading, 115 ms while uploading, 16 Mbit/s."""

    def __init__(self):
        self.scenario = network_tests.expand({"traffic": [{"app": "ookla"}]})
        self.summary = {"ports": {"line.forward": {"queue_delay_p99_s": 0.03}}}
        at = np.arange(0.0, 35.0, 0.2)
        trips = np.select([at < 3, at < 18, at < 20], [0.02, 0.05, 0.02], 0.115)
        busy = np.arange(36)
        self._tables = {
            "pings": {"sent_ns": at * 1e9, "rtt_s": trips},
            "seconds": {
                "download.goodput_bytes": np.where((busy >= 3) & (busy < 18), 2e6, 0),
                "upload.goodput_bytes": np.where((busy >= 20) & (busy < 35), 1e6, 0),
            },
        }

    def columns(self, name):
        return self._tables[name]


def test_a_speed_test_says_what_it_saw_and_the_truth_stands_beside():
    run: Any = FakeRun()
    said = results.said(run)
    assert said is not None
    own = said.own
    assert own["download_bits_per_s"] == pytest.approx(16e6)
    assert own["upload_bits_per_s"] == pytest.approx(8e6)
    assert [own[f"{phase}_rtt_p50_s"] for phase in ("idle", "download", "upload")] == [
        0.02,
        0.05,
        0.115,
    ]
    # 30 ms more down and 95 ms up: 62.5 ms on average, 95 ms in the worse direction.
    assert (own["grade-dslreports"], own["grade-waveform"]) == ("C", "C")
    assert own["aim-gaming"] == "poor"  # 5 for 20 ms, 0 for loss, 0 for an increase of 95 ms
    assert said.truth["line.forward"]["queue_delay_p99_s"] == 0.03
    assert network_test(run, name="grade-waveform") == 2
    assert network_test(run, name="upload_rtt_p50_s") == 0.115
    with pytest.raises(SpecError, match='no test says "rmp"; did you mean "rpm"'):
        network_test(run, name="rmp")


def test_the_truth_is_what_packets_waited_while_the_test_loaded_the_line():
    run: Any = FakeRun()
    run.scenario |= {"network": {"rtt": "20 ms"}, "link": [{"name": "line", "delay": "1 ms"}]}
    busy = np.arange(36)
    loading = (busy >= 4) & (busy < 18)
    run._tables["seconds"] |= {
        "line.forward.departures": np.where(loading, 1000, 10),
        "line.forward.queue_delay_mean_s": np.where(loading, 0.03, 0.5),
        "line.reverse.departures": np.zeros(36),
        "line.reverse.queue_delay_mean_s": np.zeros(36),
    }
    # 22 ms and 30 ms of waiting: seconds before and behind do not count.
    assert true_round_trip_s(run) == pytest.approx(0.052)
    assert said_over_true(run) == pytest.approx(0.05 / 0.052)
    run.scenario["network"] = {"rtt": {"min": "1 ms", "max": "2 ms"}}
    assert np.isnan(true_round_trip_s(run)), "several distances"


def test_a_connection_with_a_single_sample_has_no_trimmed_mean():
    run: Any = FakeRun()
    of = {"samples": 10, "trimmed_mean_s": 0.04}
    by_group = {f"{responsiveness.SELF} 1": of, f"{responsiveness.SELF} 2": {**of, "samples": 30}}
    by_group[f"{responsiveness.SELF} 3"] = {"samples": 1, "trimmed_mean_s": None}
    run.summary["tcp_rtt_by_group"] = by_group
    assert results._loaded(run) == pytest.approx(0.04)


def test_a_game_is_rated_by_its_echo_requests():
    run: Any = FakeRun()
    run.summary["ping"] = {"game": {"rtt_mean_s": 0.02, "unanswered_share": 0.0}}
    near = game_rating(run, ping="game")
    run.summary["ping"]["game"] = {"rtt_mean_s": 0.2, "unanswered_share": 0.01}
    assert 80 < near <= 100 and game_rating(run, ping="game") < near - 20
    assert np.isnan(game_rating(run, ping="other"))


def test_viewers_are_rated_by_what_they_saw_and_waited_for():
    run: Any = FakeRun()
    run.has = lambda name: name in run._tables
    assert np.isnan(streaming_rating(run)), "no viewers"
    seen = {"user": [0, 1, 1, 2], "share": [1.0, 0.5, 0.5, 1.0]}
    seen["rate_bits_per_s"] = [5.8e6, 5.8e6, 235e3, 5.8e6]
    viewers = {"user": [0, 1, 2], "played_s": [200.0, 200.0, 0.0], "startup_s": [1.0, 1.0, np.nan]}
    viewers |= {"stalls": [0, 6, 0], "stalled_s": [0.0, 30.0, 0.0]}
    run._tables |= {"player_rates": {k: np.array(v) for k, v in seen.items()}}

    def of(first, count):
        kept = {k: np.array(v[first : first + count]) for k, v in viewers.items()}
        run._tables["players"] = kept
        return streaming_rating(run)

    good, bad = of(0, 1), of(1, 1)
    assert good > 4 and bad < 2.5
    # The third's picture never moved.
    assert of(0, 3) == pytest.approx((good + bad) / 2)


def test_a_run_without_a_test_says_nothing():
    run: Any = FakeRun()
    run.scenario = {"traffic": [{"name": "bulk0", "app": "bulk"}]}
    assert results.said(run) is None
    with pytest.raises(SpecError, match="give the scenario one"):
        network_test(run, name="rpm")
