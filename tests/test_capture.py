"""`--pcap`: what Wireshark makes of it. Tests with tshark are skipped where it is not installed."""

import shutil
import struct
import subprocess
from pathlib import Path

import polars as pl
import pytest
from test_cli import refused

import aqmlab
from aqmlab.errors import AqmlabError, SpecError
from aqmlab.experiment.experiment import load
from aqmlab.pipeline.study import Study
from aqmlab.simulator.capture import Capture

pytestmark = pytest.mark.usefixtures("real_core")

tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")

PORTS = ["bottleneck.forward", "bottleneck.reverse"]
AGAIN = " || ".join(
    f"tcp.analysis.{name}"
    for name in (
        "retransmission",
        "fast_retransmission",
        "spurious_retransmission",
        # What is sent again soon after something newer was, and a single byte sent again.
        "out_of_order",
        "keep_alive",
    )
)


def congested(tcp, **changes):
    red = {"aqm": "red", "min_th": 5, "max_th": 15, "limit": 30, "ecn": True}
    link = {"rate": "4 Mbit/s", "reverse_rate": "1 Mbit/s", "forward": red}
    return {
        "duration": "15 s",
        "network": {"rtt": "60 ms"},
        "link": [{**link, "reverse": {"aqm": "droptail", "limit": 15}}],
        "traffic": [
            {"app": "web", "users": 800, "start": "stationary", "tcp": tcp},
            {"app": "bulk", "flows": 2, "tcp": tcp},
            {"app": "cbr", "users": 1},
        ],
        "record": {"trace": True, "queues": PORTS},
        **changes,
    }


def captured(scenario, path, at="departure"):
    return Study(load(scenario)).carry_out(capture=Capture(path, (), at))


def wireshark(path, kept):
    """The numbers of the packets that tshark's display filter keeps, checksums looked at."""
    look = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]
    command = ["tshark", "-r", str(path), *look, "-Y", kept, "-T", "fields", "-e", "frame.number"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return [int(number) for number in answer.stdout.split()]


def numbers_sent_again(path):
    """Places (from 1) of segments with payload that begin below a number that crossed before."""
    content, place, at = path.read_bytes(), 0, 24
    next_of, again = {}, []
    while at < len(content):
        stored = struct.unpack_from("<I", content, at + 8)[0]
        packet = content[at + 16 : at + 16 + stored]
        at, place = at + 16 + stored, place + 1
        if packet[9] != 6:
            continue
        total, flow = struct.unpack_from(">H", packet, 2)[0], packet[12:24]
        payload = total - 20 - (packet[32] >> 4) * 4
        (seq,) = struct.unpack_from(">I", packet, 24)
        syn, fin = packet[33] >> 1 & 1, packet[33] & 1
        end = seq + payload + syn + fin
        if syn and flow not in next_of:
            next_of[flow] = end
        ahead = (next_of.setdefault(flow, seq) - seq) % 2**32
        below = 0 < ahead < 2**31
        if payload and below:
            again.append(place)
        if (end - next_of[flow]) % 2**32 < 2**31:
            next_of[flow] = end % 2**32
    return again


PROFILES = [
    {"profile": "plain"},
    {"profile": "plain", "recovery": "sack", "timestamps": True, "ecn": True, "window": 200_000},
    {"profile": "freebsd-2.2.8"},
    {"profile": "ns2", "ecn": True},
    {"profile": "linux"},
    {"profile": "linux", "congestion": "prague", "ecn": True},
]


@tshark
@pytest.mark.parametrize("tcp", PROFILES, ids=lambda tcp: f"{tcp['profile']}-{len(tcp)}")
def test_wireshark_counts_the_retransmissions_that_we_count(tcp, tmp_path):
    path = tmp_path / "sent.pcap"
    result = captured(congested(tcp), path, "arrival")
    arrivals = result.table("trace").filter(pl.col("event") == 0)
    again = arrivals.filter((pl.col("kind") == 3) & (pl.col("again") == 1))
    assert len(again) > 100
    assert len(wireshark(path, f"tcp.len > 0 && ({AGAIN})")) == len(again)
    syns = arrivals.filter((pl.col("kind") == 1) & (pl.col("again") == 1))
    assert len(wireshark(path, f"tcp.flags.syn == 1 && ({AGAIN})")) == len(syns) > 10


@tshark
@pytest.mark.parametrize("tcp", PROFILES, ids=lambda tcp: f"{tcp['profile']}-{len(tcp)}")
def test_wireshark_finds_nothing_wrong_with_what_crossed(tcp, tmp_path):
    path = tmp_path / "crossed.pcap"
    result = captured(congested(tcp), path)
    ports = [result.summary["ports"][port] for port in PORTS]
    assert len(wireshark(path, "ip")) == sum(port["departures"] for port in ports)
    assert wireshark(path, "_ws.malformed || ip.checksum.status == 0") == []
    assert wireshark(path, "tcp.analysis.ack_lost_segment || tcp.analysis.zero_window") == []
    assert wireshark(path, f"tcp.len > 0 && ({AGAIN})") == numbers_sent_again(path)
    marked = len(wireshark(path, "ip.dsfield.ecn == 3"))
    marks = sum(port["marks"] for port in ports)
    assert marks - 31 <= marked <= marks
    assert (marks > 50) == tcp.get("ecn", False)
    # Accurate ECN counts in three bits, of which RFC 3168 knows two.
    assert bool(wireshark(path, "tcp.flags & 0x100")) == (tcp.get("congestion") == "prague")


@tshark
def test_wireshark_agrees_with_the_checksums_of_whole_packets(tmp_path):
    path = tmp_path / "crossed.pcap"
    captured(congested({"profile": "plain", "recovery": "sack", "timestamps": True}), path)
    good = wireshark(path, "tcp.checksum.status == 1 || udp.checksum.status == 1")
    assert set(good) >= set(wireshark(path, "tcp && tcp.len == 0"))
    assert wireshark(path, "tcp.checksum.status == 0 || udp.checksum.status == 0") == []


def test_several_runs_have_a_file_each(tmp_path):
    scenario = congested("plain", duration="2 s")
    sweep = {"link.0.forward.limit": [10, 20]}
    experiment = load({"scenario": scenario, "sweep": sweep}, seeds=2)
    Study(experiment).carry_out(capture=Capture(tmp_path / "out.pcap"))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"out.v{v}.s{s}.pcap" for v in (0, 1) for s in (1, 2)]
    aqmlab.run(scenario, seeds=2, pcap=tmp_path / "same.pcap")
    files = [tmp_path / name for name in ("same.s1.pcap", "same.s2.pcap")]
    assert files[0].read_bytes() != files[1].read_bytes()


def test_a_finished_run_is_run_again_for_its_capture(tmp_path):
    scenario, out = congested("plain", duration="2 s"), tmp_path / "results"
    first = aqmlab.run(scenario, out=out)
    again = aqmlab.run(scenario, out=out, pcap=tmp_path / "out.pcap")
    assert (tmp_path / "out.pcap").stat().st_size > 10_000
    assert again.summary["fingerprint"] == first.summary["fingerprint"]
    assert aqmlab.run(scenario, out=out).runs[0].cached


@pytest.mark.parametrize(
    ("capture", "why"),
    [
        ({"ports": ("bottleneck.forwards",)}, 'did you mean "bottleneck.forward"'),
        ({"path": Path("/dev/null/out.pcap")}, "cannot be written.*give another --pcap"),
        ({"path": Path("out.csv")}, "is a .pcap file"),
        ({"at": "middle"}, 'not at "middle"'),
    ],
)
def test_what_cannot_be_captured_is_one_sentence(capture, why, tmp_path):
    with pytest.raises((AqmlabError, SpecError), match=why):
        chosen = Capture(**{"path": tmp_path / "out.pcap", **capture})
        Study(load(congested("plain", duration="2 s"))).carry_out(capture=chosen)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_ends_the_run(tmp_path, monkeypatch):
    real = Path.open
    pieces = []

    class Full:
        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def write(self, piece):
            pieces.append(piece)
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "open", lambda path, *rest: Full(real(path, *rest)))
    with pytest.raises(AqmlabError, match=r"out\.pcap: cannot be written \(no space left"):
        aqmlab.run(congested("plain"), pcap=tmp_path / "out.pcap")
    assert len(pieces) == 1
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_a_capture(aqmlab_command, toml_file):
    chosen = ["--pcap", "out.pcap", "--pcap-port", "bottleneck.reverse", "--pcap-at", "arrival"]
    assert aqmlab_command("run", toml_file, *chosen).returncode == 0
    content = (aqmlab_command.folder / "out.pcap").read_bytes()
    assert content[:4] == bytes.fromhex("4d3cb2a1") and content[24 + 16 + 12] == 10
    refused(aqmlab_command("run", toml_file, *chosen[2:]), "give --pcap with a file")
