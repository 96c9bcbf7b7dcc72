"""Packets of live runs: their marks and flags, and where they are captured."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from typing import Any

import pytest
from live_runs import WEB

from aqmlab.simulator.capture import Capture


def test_a_capture_on_a_full_disk_ends_the_run_in_a_sentence(namespaces, tmp_path):
    """A disk of 64 KiB in a mount namespace of its own; results have room elsewhere."""
    (tmp_path / "s.toml").write_text(WEB, "utf-8")
    full = tmp_path / "full"
    drafts = tmp_path / "drafts"
    full.mkdir()
    drafts.mkdir()
    mounted = ["unshare", "-m", "sh", "-c"]
    mounted += [
        'mount -t tmpfs -o size=64k none full || exit 77; "$@"; code=$?; ls -A full; exit $code'
    ]
    words = [sys.executable, "-m", "aqmlab", "live", "s.toml", "--pcap", "full/run.pcap"]
    how: dict[str, Any] = {"cwd": tmp_path, "timeout": 120, "text": True, "capture_output": True}
    how["env"] = {**os.environ, "TMPDIR": str(drafts)}
    ended = subprocess.run([*mounted, "sh", *words, "--out", "out"], check=False, **how)
    if ended.returncode == 77:
        pytest.skip("no disk can be mounted here")
    last = ended.stderr.strip().splitlines()[-1]
    assert ended.returncode not in (0, 4), ended.stderr
    assert "the capture cannot be written (No space left on device" in last
    assert "internal error" not in last
    assert ended.stdout == ""  # `ls`: not even a draft
    assert not list((tmp_path / "out").glob("runs/*"))
    assert not list(drafts.iterdir())


def test_datagrams_are_marked_and_their_marks_are_seen(namespaces):
    """CE travels: set by the queue in a real header, read by the receiver from the kernel."""
    from aqmlab.live.run import How

    queue = {
        "aqm": "red",
        "min_th": 1,
        "max_th": 60,
        "max_p": 1,
        "w_q": 1,
        "limit": 200,
        "ecn": True,
    }
    scenario: dict[str, Any] = {
        "duration": "6 s",
        "network": {"rtt": "20 ms"},
        "link": [{"rate": "3 Mbit/s", "forward": queue, "reverse": queue}],
        "traffic": [{"app": "rtc-video", "users": 4, "ecn": True, "start_within": "100 ms"}],
    }
    summary = How()(scenario).summary
    ports = summary["ports"].values()
    seen = summary["rtc_marked_share"]
    assert sum(port["marks"] for port in ports) > 20
    assert 0 < seen < 1
    scenario["traffic"][0]["ecn"] = False
    summary = How()(scenario).summary
    assert summary["rtc_marked_share"] == 0
    assert sum(port["marks"] for port in summary["ports"].values()) == 0


FETCH = """
import socket, sys, time
for _ in range(100):
    try:
        peer = socket.create_connection(("10.128.0.3", 5001), timeout=1)
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
peer.settimeout(20)
total = 0
while piece := peer.recv(1 << 16):
    assert piece == bytes(len(piece)), "a wrong bit got through"
    total += len(piece)
assert total == 1 << 20, total
counters = {}
for file in ("snmp", "netstat"):
    rows = open(f"/proc/net/{file}").read().splitlines()
    for names, values in zip(rows[::2], rows[1::2]):
        counters |= zip([names.split()[0] + name for name in names.split()], values.split())
print(counters["Tcp:InCsumErrors"], counters["TcpExt:TCPDSACKOfoSent"], file=open(sys.argv[1], "w"))
print(counters["TcpExt:TCPDSACKOldSent"], file=open(sys.argv[1], "a"))
"""
SERVE = """
import socket
listener = socket.create_server(("", 5001), family=socket.AF_INET)
while True:
    peer, _ = listener.accept()
    peer.sendall(bytes(1 << 20))
    peer.close()
"""


def test_the_kernel_drops_corrupted_packets_and_sees_copies(namespaces, tmp_path):
    """The receiver's own counters: checksums that were wrong, and segments that came twice."""
    from aqmlab.live.run import How, Program

    effects = [
        {"kind": "corrupt", "share": 0.03, "direction": "forward"},
        {"kind": "duplicate", "share": 0.05, "direction": "forward"},
    ]
    scenario: dict[str, Any] = {
        "duration": "30 s",
        "network": {"rtt": "10 ms"},
        "link": [{"rate": "20 Mbit/s", "effects": effects}],
        "traffic": [{"app": "bulk", "flows": 1, "tcp": "linux"}],
    }
    answer = tmp_path / "answer"
    program = Program([sys.executable, "-c", FETCH, str(answer)], with_users=False)
    summary = How(program=program, servers=[[sys.executable, "-c", SERVE]])(scenario).summary
    assert summary["live"]["commands"][-1]["code"] == 0
    wrong, *twice = map(int, answer.read_text().split())
    corrupted = summary["effects"]["bottleneck.forward.corrupt"]["corrupted"]
    copied = summary["effects"]["bottleneck.forward.duplicate"]["copied"]
    # A corrupted packet that is copied counts twice there; what is retransmitted may come twice.
    assert corrupted > 10
    assert corrupted <= wrong <= corrupted + 10
    assert copied > 20
    assert sum(twice) > 0.5 * copied
    assert "discarded" not in summary["effects"], "the kernel discards"


def test_a_copy_of_a_datagram_counts_once(namespaces):
    """The receiver discards it by its number: as many arrive as were sent, not twice as many."""
    from aqmlab.live.run import How

    scenario: dict[str, Any] = {
        "duration": "3 s",
        "network": {"rtt": "10 ms"},
        "link": [{"rate": "20 Mbit/s", "effects": [{"kind": "duplicate", "share": 1}]}],
        "traffic": [{"name": "cbr", "app": "cbr", "flows": 2, "rate": "500 kbit/s", "packet": 500}],
    }
    scenario["traffic"][0]["start_within"] = "100 ms"
    summary = How()(scenario).summary
    stream = summary["datagrams"]["cbr"]
    assert stream["sent"] > 500
    assert summary["effects"]["bottleneck.forward.duplicate"]["copied"] > 0.9 * stream["sent"]
    assert stream["received"] <= stream["sent"]
    assert stream["lost"] < 0.02 * stream["sent"]


def test_the_end_of_a_reply_carries_the_fin(namespaces, tmp_path):
    """As simulated: the kernel sends it alone only behind a reply of full segments alone."""
    from aqmlab.live.run import How

    path = tmp_path / "web.pcap"
    How()(tomllib.loads(WEB), capture=Capture(path))
    ends = [payload for flags, payload in _segments(path.read_bytes()) if flags & 1]
    servers = [payload for payload in ends if payload is not None]
    assert len(servers) > 15
    assert sum(payload > 0 for payload in servers) > 0.9 * len(servers)


def _segments(capture: bytes):
    """TCP's flags of every packet over IPv4, and its payload if it comes from a server."""
    at = 24
    while at < len(capture):
        length = int.from_bytes(capture[at + 8 : at + 12], "little")
        packet = capture[at + 16 : at + 16 + length]
        at += 16 + length
        if packet[9] == 6:
            tcp = 4 * (packet[0] & 15)
            payload = len(packet) - tcp - 4 * (packet[tcp + 12] >> 4)
            yield packet[tcp + 13], payload if packet[13] >= 128 else None
