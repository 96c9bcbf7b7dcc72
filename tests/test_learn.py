"""`aqmlab learn`: captures to models, scenarios and pages."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import captures
import numpy as np
import pytest
from captures import ACK, REQUEST, packet, pcap
from test_cli import refused

from aqmlab import learn
from aqmlab.learn import model, scenario
from aqmlab.runs.progress import Progress

pytestmark = pytest.mark.usefixtures("real_core")
EPOCHS = [[10_000, 100, 5_000, 1000], [200_000, 60, 0, 70]]


@pytest.fixture
def capture(tmp_path) -> Path:
    path = tmp_path / "day.pcap"
    path.write_bytes(captures.request())
    return path


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_model_a_scenario_and_a_page(capture, aqmlab_command):
    answer = aqmlab_command("learn", capture, "--figures")
    assert answer.returncode == 0, answer.stderr
    assert "1 seen, 1 with payload" in answer.stdout
    names = ["day.traffic.jsonl", "day.replay.toml", "day.html"]
    assert [Path(line).name for line in answer.stdout.split()[-3:]] == names
    header, connection = lines(capture.with_name(names[0]))
    assert (header["format"], header["version"]) == ("aqmlab traffic model", 2)
    assert (header["connections"], header["bytes"]) == (1, [160, 1070])
    assert connection["epochs"] == EPOCHS
    assert connection["rtt_us"] == [1_000, 40_000]
    replay = tomllib.loads(capture.with_name(names[1]).read_text())
    assert replay["traffic"] == [{"app": "replay", "model": "day.traffic.jsonl"}]
    page = capture.with_name(names[2]).read_text()
    assert "<svg" in page and not re.search(r'(src|href)="(?!#)', page)


def test_json_is_one_document(capture, aqmlab_command):
    answer = aqmlab_command("learn", capture, "--json", "--out", "here.jsonl")
    document = json.loads(answer.stdout)
    assert document["model"] == "here.jsonl"
    assert document["scenario"] == "here.replay.toml"
    assert document["page"] is None
    assert document["seen"]["connections"]["kept"] == 1


def test_neither_addresses_nor_ports_nor_dates_are_in_what_is_written(capture):
    answer = learn.learn(capture, figures=True)
    assert answer.page is not None and answer.scenario is not None
    for path in (answer.model, answer.scenario, answer.page):
        text = path.read_text()
        for secret in (captures.CLIENT, captures.SERVER, "47123", "16000000"):
            assert secret not in text, f"{secret} is in {path.name}"


def test_connections_stand_in_order_of_their_starts(tmp_path):
    # The first one lasts longer than the second.
    first = [(said[0] * 10, packet(said, 40_000)) for said in REQUEST]
    second = [(500 + said[0], packet(said, 40_001)) for said in REQUEST]
    path = tmp_path / "two.pcap"
    path.write_bytes(pcap(sorted(first + second)))
    answer = learn.learn(path)
    header, *connections = lines(answer.model)
    assert [c["at_us"] for c in connections] == [0, 500_000]
    assert header["distributions"]["gap_us"]["mean"] == 500_000


def test_the_same_capture_gives_the_same_bytes(capture, tmp_path):
    texts = [learn.learn(capture, out=tmp_path / f"{n}.jsonl").model.read_bytes() for n in (1, 2)]
    assert texts[0] == texts[1]


def test_a_compressed_capture_even_cut_off(tmp_path):
    packed = gzip.compress(captures.request())
    for name, content in (("whole", packed), ("part", packed[:-12])):
        path = tmp_path / f"{name}.pcap.gz"
        path.write_bytes(content)
        answer = learn.learn(path)
        assert answer.model.name == f"{name}.traffic.jsonl"
        assert lines(answer.model)[1]["epochs"][0] == EPOCHS[0]


def test_networks_of_one_side_give_groups_for_both_directions(tmp_path):
    other = [
        (1000 + s[0], packet((s[0], "<" if s[1] == ">" else ">", *s[2:]), 80, 40_001))
        for s in REQUEST
    ]
    path = tmp_path / "both.pcap"
    path.write_bytes(pcap([(s[0], packet(s)) for s in REQUEST] + other))
    answer = learn.learn(path, inside=["10.0.0.0/8"])
    assert [c["side"] for c in lines(answer.model)[1:]] == [0, 1]
    assert answer.scenario is not None
    groups = tomllib.loads(answer.scenario.read_text())["traffic"]
    assert [(g["openers"], g["side"]) for g in groups] == [("0", "clients"), ("1", "servers")]


def test_the_rate_of_the_scenario():
    header = {
        "bytes": [1_000, 10_000_000],
        "duration_us": 10_000_000,
        "connections": 5,
        "seen": {"sides": [{"connections": 0, "bytes": [0, 0]}] * 2},
    }
    assert scenario.link_rate(header) == 10.0  # 8 Mbit/s are 80 % of it
    assert scenario.packets(10.0) == 83
    both = {**header, "connections": 2, "seen": {"sides": [
        {"connections": 1, "bytes": [100, 6_000_000]},
        {"connections": 1, "bytes": [4_000_000, 100]},
    ]}}  # fmt: skip
    assert scenario.link_rate(both) == 10.0


def test_quantiles_of_a_histogram():
    one = model.quantiles({"n": 4, "mean": 2.5, "buckets": [[1, 1, 1], [2, 2, 2], [5, 5, 1]]})
    at = dict(zip(one["p"], one["x"], strict=True))
    assert (at[0.0], at[0.25], at[0.5], at[0.75], at[0.76], at[1.0]) == (1, 1, 2, 2, 5, 5)
    assert np.all(np.diff(one["p"]) > 0) and np.all(np.diff(one["x"]) >= 0)


def test_progress_counts_bytes(capture):
    class Kept(Progress):
        said: list = []  # noqa: RUF012

        def _show(self) -> None:
            self.said.append((self.done_s, self.total_s))

    progress = Kept()
    learn.learn(capture, progress=progress)
    size = capture.stat().st_size
    assert progress.said[-1] == (size, size)
    assert progress.of_bytes


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["first header", "give a complete capture"]),
        (b"just text, no capture", ["not a capture", "tcpdump"]),
        (b"\x28\xb5\x2f\xfd1234", ["compressed", "zstd -d"]),
        (b"\x1f\x8bnonsense and more of it", ["its compressed bytes are damaged: copy it again"]),
    ],
)
def test_what_is_no_capture_is_one_sentence(tmp_path, aqmlab_command, content, words):
    path = tmp_path / "x.pcap"
    path.write_bytes(content)
    refused(aqmlab_command("learn", path), str(path), *words)
    assert list(tmp_path.iterdir()) == [path]


def test_mistakes_on_the_command_line(capture, aqmlab_command):
    refused(aqmlab_command("learn", "none.pcap"), "none.pcap", "no such file")
    refused(aqmlab_command("learn", capture.parent), "cannot be read")
    refused(aqmlab_command("learn", capture, "--inside", "here"), "--inside", "10.0.0.0/8")
    refused(aqmlab_command("learn", capture, "--out", capture), "the capture itself")
    refused(aqmlab_command("learn", capture, "--out", "/dev/null/x"), "cannot be written")


def test_an_empty_capture_has_a_model_and_no_scenario(tmp_path):
    path = tmp_path / "empty.pcap"
    path.write_bytes(pcap([]))
    answer = learn.learn(path, figures=True)
    assert answer.scenario is None
    assert answer.header["connections"] == 0
    assert "no packet" in answer.header["warnings"][0]
    assert answer.page is not None and "no packet" in answer.page.read_text()


def test_a_cut_capture_is_read_up_to_there(tmp_path, aqmlab_command):
    path = tmp_path / "cut.pcap"
    path.write_bytes(captures.request()[:-7])
    answer = aqmlab_command("learn", path)
    assert answer.returncode == 0
    assert "note: In this capture the file ends within a record" in answer.stdout


LOSSES = [
    *REQUEST[:4],
    (96, "<", ACK, 1, 101, 1000),
    (96.1, "<", ACK, 2001, 101, 1000),
    (96.2, "<", ACK, 3001, 101, 1000),
    (96.3, "<", ACK, 4001, 101, 1000),
    (97, ">", ACK, 101, 1001, 0),
    (97.1, ">", ACK, 101, 1001, 0),
    (97.2, ">", ACK, 101, 1001, 0),
    (97.3, ">", ACK, 101, 1001, 0),
    (97.4, "<", ACK, 1001, 101, 500),  # fast
    (97.5, "<", ACK, 1501, 101, 500),  # out of order
    (400, "<", ACK, 4001, 101, 1000),  # by a timeout
    (401, ">", ACK, 101, 5001, 0),
    (500, "<", ACK, 4001, 101, 1000),  # spurious
    (5000, ">", ACK, 100, 5001, 1),  # keep-alive
    (5040, "<", ACK, 5001, 101, 0),
]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_counts_agree_with_tshark(tmp_path):
    path = tmp_path / "losses.pcap"
    path.write_bytes(pcap((said[0], packet(said)) for said in LOSSES))
    names = ("retransmission", "out_of_order", "duplicate_ack", "keep_alive")
    fields = [word for name in names for word in ("-e", f"tcp.analysis.{name}")]
    described = subprocess.run(
        ["tshark", "-r", path, "-T", "fields", *fields], capture_output=True, text=True, check=True
    )
    rows = [(line.split("\t") + [""] * 4)[:4] for line in described.stdout.splitlines()]
    theirs = [sum(bool(row[column]) for row in rows) for column in range(4)]
    seen = learn.learn(path).header["seen"]
    ours = [seen[n] for n in ("resent", "reordered", "duplicate_acks", "keep_alives")]
    assert ours == theirs == [3, 1, 3, 1]


ECE, CWR = 0x40, 0x80


def replay_of(answer: learn.Answer) -> dict:
    """The scenario that was written."""
    assert answer.scenario is not None
    return tomllib.loads(answer.scenario.read_text())


def with_ecn(data: bytes, code_point: int) -> bytes:
    """The packet with this ECN field."""
    return data[:1] + bytes([code_point]) + data[2:]


def ecn_capture(accurate: bool = False) -> bytes:
    """The requests with ECN agreed, ECT(0) on data and one mark, which is echoed."""
    packets = []
    for n, (ms, sender, flags, seq, ack, payload) in enumerate(REQUEST):
        flags |= {0: ECE | CWR, 1: CWR if accurate else ECE, 5: ECE if not accurate else 0}.get(
            n, 0
        )
        data = packet((ms, sender, flags, seq, ack, payload), 40_000)
        if accurate:
            # AE of the SYN; a count of 5, and of 6 from the mark on.
            count = {0: (1, 0)}.get(n, (0, 0) if n < 2 else (1, ECE if n < 5 else CWR))
            data = bytearray(data)
            data[32] |= count[0]
            data[33] |= count[1]
        packets.append((ms, with_ecn(bytes(data), (3 if n == 4 else 2) if payload else 0)))
    return pcap(packets)


@pytest.mark.parametrize("kind", ["classic", "accurate"])
def test_ecn_is_read_and_replayed(tmp_path, aqmlab_command, kind):
    path = tmp_path / "ecn.pcap"
    path.write_bytes(ecn_capture(accurate=kind == "accurate"))
    answer = learn.learn(path)
    header, connection = lines(answer.model)
    assert connection["ecn"] == kind
    # Packets with ECT(1), ECT(0), CE: requests are ECT(0), the first reply is marked.
    assert connection["ect"] == [[0, 2, 0], [0, 1, 1]]
    assert connection["echoed"] == [1, 1 if kind == "accurate" else 0]
    assert header["seen"]["ecn"] == {"refused": 0, "classic": 0, "accurate": 0} | {kind: 1}
    (group,) = replay_of(answer)["traffic"]
    assert group["agreed_ecn"] == kind
    assert group["tcp"]["ecn"] is True
    ran = aqmlab_command("run", answer.scenario, "--out", tmp_path / "out", "--json")
    assert ran.returncode == 0, ran.stderr


def test_connections_with_and_without_ecn_get_a_group_each(tmp_path):
    plain = [(500 + said[0], packet(said, 40_001)) for said in REQUEST]
    path = tmp_path / "both.pcap"
    path.write_bytes(ecn_capture() + pcap(plain)[24:])
    groups = replay_of(learn.learn(path))["traffic"]
    assert [group["agreed_ecn"] for group in groups] == ["none", "classic"]
    assert ["tcp" in group for group in groups] == [False, True]


def test_a_gap_of_years_is_named_and_its_scenario_runs(tmp_path, aqmlab_command):
    years = 3 * 365.25 * 86_400_000
    first = [(said[0], packet(said, 40_000)) for said in REQUEST]
    second = [(years + said[0], packet(said, 40_001)) for said in REQUEST]
    path = tmp_path / "years.pcap"
    path.write_bytes(pcap(first + second))
    answer = learn.learn(path)
    assert any("3.0 years without any packet" in told for told in answer.header["warnings"])
    made = replay_of(answer)
    assert made["duration"] == "1 s"
    ran = aqmlab_command("run", answer.scenario, "--out", tmp_path / "out", "--json")
    assert ran.returncode == 0, ran.stderr


def test_a_day_s_capture_is_sampled_so_that_it_runs(tmp_path):
    # Two packets a minute keep it from having a gap.
    minutes = 24 * 60
    packets = [
        (60_000 * n + said[0], packet(said, 40_000 + n % 1000))
        for n in range(0, minutes, 30)
        for said in REQUEST
    ]
    path = tmp_path / "day.pcap"
    path.write_bytes(pcap(packets))
    made = replay_of(learn.learn(path))
    assert made["record"] == {"queue_every": "85 ms"}


def test_holes_and_copies_are_named(tmp_path):
    # The first kilobyte of the reply in two halves, of which the first was not captured.
    missing = [
        said if said[3:] != (1, 101, 1000) else (said[0], "<", ACK, 501, 101, 500)
        for said in REQUEST
    ]
    path = tmp_path / "holes.pcap"
    path.write_bytes(pcap([(said[0], packet(said)) for said in missing]))
    answer = learn.learn(path)
    assert answer.header["seen"]["missed_bytes"] == 500
    assert any(
        "at least 500 bytes were sent but not captured" in t for t in answer.header["warnings"]
    )

    def numbered(n: int, data: bytes) -> bytes:
        return data[:4] + bytes([1, n]) + data[6:]

    twice = [
        (said[0] + late, numbered(n, packet(said)))
        for n, said in enumerate(REQUEST)
        for late in (0, 0.1)
    ]
    path.write_bytes(pcap(twice))
    answer = learn.learn(path)
    assert answer.header["seen"]["copies"] == len(REQUEST)
    assert answer.header["seen"]["resent"] == 0
    assert any("came twice within a millisecond" in told for told in answer.header["warnings"])
    _, connection = lines(answer.model)
    assert connection["epochs"] == EPOCHS
