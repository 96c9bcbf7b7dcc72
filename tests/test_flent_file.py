"""Files of Flent and of other tools: written and read."""

import gzip
import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from aqmlab.errors import AqmlabError, SpecError
from aqmlab.simulator import network_tests
from aqmlab.tables import flent_file, measured_file


class FakeRun:
    """A run of a test: pings of 20 ms, transfers of 1 Mbit/s from 5 to 15 s."""

    def __init__(self, **group):
        group = {"length": "10 s", **group}
        self.scenario = network_tests.expand({"traffic": [group]})
        self.summary = {"simulated_s": 20.0}
        groups = self.scenario["traffic"]
        pings = [i for i, one in enumerate(groups) if one["app"] == "ping"]
        at = np.arange(0.0, 20.0, 0.2)
        busy = (np.arange(20) >= 5) & (np.arange(20) < 15)
        self._tables = {
            "pings": {
                "group": np.repeat(pings, len(at)),
                "sent_ns": np.tile(at * 1e9, len(pings)),
                "rtt_s": np.tile(np.where(at == 0.4, np.nan, 0.02), len(pings)),
            },
            "seconds": {"time_s": np.arange(20.0)}
            | {
                f"{one['name']}.goodput_bytes": np.where(busy, 125_000, 0)
                for one in groups
                if one["app"] != "ping"
            },
        }

    def has(self, name):
        return name in self._tables

    def columns(self, name):
        return self._tables[name]


def fake(**group) -> Any:
    """As a finished run."""
    return FakeRun(**group)


def test_a_run_becomes_the_series_of_flent():
    found = flent_file.document(fake(app="rrul"), "mine")
    assert (found["version"], found["metadata"]["NAME"]) == (4, "rrul")
    steps, results = found["x_values"], found["results"]
    assert len(steps) == 101 and all(len(series) == 101 for series in results.values())
    ping = results["Ping (ms) UDP EF"]
    assert ping[1] == pytest.approx(20) and ping[2] is None, "the third request has no answer"
    upload = results["TCP upload BE"]
    assert (upload[24], upload[25], upload[74], upload[75]) == (None, 1.0, 1.0, None)
    assert results["TCP upload sum"][30] == 4 and results["TCP upload avg"][30] == 1
    assert results["TCP totals"][30] == 8
    assert len(found["raw_values"]["TCP upload BE"]) == 10
    assert found["metadata"]["SERIES_META"]["TCP totals"] == {"UNITS": "Mbits/s"}


def test_fairness_is_jain_s_index():
    found = flent_file.document(fake(app="tcp_nup", upload_streams=3))
    assert found["results"]["TCP upload fairness"][30] == pytest.approx(1)


def test_equal_runs_give_equal_files(tmp_path):
    files = [flent_file.write(fake(app="tcp_2up"), tmp_path / f"{i}.flent.gz") for i in range(2)]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_another_run_is_refused():
    run = fake(app="rrul")
    run.scenario = {"traffic": [{"name": "web", "app": "web"}]}
    run._tables["seconds"]["web.goodput_bytes"] = np.zeros(20)
    with pytest.raises(AqmlabError, match="of no test of Flent: run one"):
        flent_file.document(run)


def test_what_was_written_is_read(tmp_path):
    file = flent_file.write(fake(app="rrul_be"), tmp_path / "a.flent.gz")
    found = measured_file.read(file)
    assert (found.tool, found.test) == ("Flent", "rrul_be")
    assert found.series["TCP download BE"] == [1.0] * 10
    assert found.series["Ping (ms) ICMP"][0] == pytest.approx(20)


@pytest.mark.parametrize("test", ["rrul", "tcp_8down", "rtt_fair"])
def test_flent_itself_opens_and_plots_it(tmp_path, test):
    pytest.importorskip("flent", reason="Flent is not installed: pip install flent")
    file = flent_file.write(fake(app=test), tmp_path / "a.flent.gz")
    picture = tmp_path / "a.png"
    command = [sys.executable, "-m", "flent", "-i", str(file), "-o", str(picture)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert picture.is_file(), answer.stderr


# --- others ---


def test_iperf3_is_read(tmp_path):
    interval = {"sum": {"bits_per_second": 9.5e6}, "streams": [{"rtt": 25_000}, {"rtt": 0}]}
    content = {
        "start": {"test_start": {"reverse": 1, "protocol": "TCP"}},
        "intervals": [interval] * 2,
    }
    file = tmp_path / "iperf.json"
    file.write_text(json.dumps(content), "utf-8")
    found = measured_file.read(file)
    assert found.series == {"TCP download": [9.5, 9.5], "TCP RTT (ms)": [25.0, 25.0]}


def test_a_run_of_no_test_has_no_series_beside_a_measured_file(tmp_path):
    run = fake(app="rrul")
    run.scenario = {"traffic": [{"name": "load", "app": "bulk"}]}
    assert flent_file.measured(run) == {}


def test_goresponsiveness_and_network_quality_are_read(tmp_path):
    printed = "Final RPM:  612 (P90)\nFinal RPM:   733 (Single-Sided 5% Trimmed Mean)\n"
    text = tmp_path / "rpm.txt"
    text.write_text(printed, "utf-8")
    assert measured_file.is_measured(text)
    assert measured_file.read(text).numbers == {"rpm_percentile": 612, "rpm": 733}
    apple = tmp_path / "nq.json"
    apple.write_text('{"dl_throughput": 1e8, "responsiveness": 850.5, "base_rtt": 12}', "utf-8")
    found = measured_file.read(apple).numbers
    assert found == {"download_bits_per_s": 1e8, "rpm": 850.5, "base_rtt_ms": 12}


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.flent.gz", b"no gzip", "not packed by gzip: take it from the tool again"),
        ("a.json", b"{", "damaged JSON"),
        ("b.json", b"{}", "of no known tool"),
        ("c.txt", b"hello", "of no known tool"),
        ("d.flent.gz", gzip.compress(b'{"x_values": [], "results": 3}', mtime=0), "damaged"),
        ("e.json", b'{"start": {}, "intervals": []}', "without a rate of any interval: run it"),
        (
            "g.json",
            b'{"start": {}, "intervals": [], "error": "unable to connect"}',
            r"""without a rate of any interval \("unable to connect"\): run it again with -J""",
        ),
        ("h.flent", b'{"x_values": [], "results": {"Ping": [NaN, 1e999]}}', "no series has a num"),
        (
            "i.flent",
            b'{"x_values": [], "results": {"Ping": [1' + b"0" * 400 + b"]}}",
            "no series has a number",
        ),
    ],
)
def test_a_damaged_file_is_one_sentence(tmp_path, name, content, sentence):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(SpecError, match=sentence):
        measured_file.read(file)


def test_a_packed_file_with_any_wrong_bit_is_one_sentence(tmp_path):
    series = {"Ping (ms) ICMP": [1.0, 2.0, 3.0] * 40}
    packed = gzip.compress(json.dumps({"x_values": [], "results": series}).encode(), mtime=0)
    file = tmp_path / "a.flent.gz"
    for place in range(10, len(packed)):
        for damaged in (packed[:place], flipped(packed, place)):
            file.write_bytes(damaged)
            with pytest.raises(SpecError, match="cut short, damaged or not packed by gzip"):
                measured_file.read(file)


def flipped(content: bytes, place: int) -> bytes:
    """The content with one bit of that byte inverted."""
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize("wrong", [None, 1, "x", [], {}, [1], -1])
def test_a_value_of_another_kind_in_a_result_of_iperf3(tmp_path, wrong):
    interval = {"streams": [{"rtt": 100}], "sum": {"bits_per_second": 1e6}}
    whole = {"start": {"test_start": {"reverse": 1}}, "intervals": [interval]}
    file = tmp_path / "i.json"
    for one in (
        whole | {"start": wrong},
        whole | {"start": {"test_start": wrong}},
        whole | {"intervals": wrong},
        whole | {"intervals": [wrong]},
        whole | {"intervals": [interval | {"streams": wrong}]},
        whole | {"intervals": [interval | {"streams": [wrong]}]},
        whole | {"intervals": [interval | {"sum": wrong}]},
    ):
        file.write_text(json.dumps(one))
        try:
            assert next(iter(measured_file.read(file).series.values())) == [1.0]
        except SpecError as error:
            assert "without a rate of any interval" in str(error)


def test_both_directions_of_iperf3_are_read(tmp_path):
    interval = {"sum": {"bits_per_second": 9e6}, "sum_bidir_reverse": {"bits_per_second": 45e6}}
    file = tmp_path / "i.json"
    file.write_text(json.dumps({"start": {"test_start": {"bidir": 1}}, "intervals": [interval]}))
    assert measured_file.read(file).series == {"TCP upload": [9.0], "TCP download": [45.0]}
