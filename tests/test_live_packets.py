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
