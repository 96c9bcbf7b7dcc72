"""The runner of packetdrill's scripts: what it reads, what it refuses, what it finds different."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from validation.packetdrill import __main__ as command
from validation.packetdrill import asserts, play, settings
from validation.packetdrill.end import PROGRAM, End, Sent
from validation.packetdrill.explained import EXPLAINED
from validation.packetdrill.reasons import REASONS, NotRunError
from validation.packetdrill.script import Call, Packet, read
from validation.packetdrill.topics import topic

ROOT = Path(__file__).parent.parent
OWN = sorted((ROOT / "tests" / "packetdrill").glob("*.pkt"))
RECORD = ROOT / "tests" / "golden" / "packetdrill.json"

OPEN = """
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 listen(3, 1) = 0
  +.1 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,nop,nop,wscale 7>
   +0 > S. 0:0(0) ack 1 <...>
  +.1 < . 1:1(0) ack 1 win 500
"""


def test_a_line_of_each_form_is_read():
    script = read(
        """
        --tolerance_usecs=20000
        /* a comment
           of two lines */
        `./defaults.sh
        sysctl -q net.ipv4.tcp_ecn=1`   // and one of a line
          +0~+.1 > [ect0] P.5 1:2001(2000) ack 1 <nop,nop,sack 5:6 7:8>
        0.1...0.2 write(4, ..., 1000) = 1000
           * < [ce] EW. 1:1(0) ack 7 win 9 <mss 1000,ECN e0b 1 ceb 2,TS val 3 ecr 4,wscale 7>
        +.002 %{ assert tcpi_lost == 1, tcpi_lost }%
        """
    )
    shell, out, call, incoming, code = script.events
    assert script.options == {"tolerance_usecs": "20000"}
    assert (shell.kind, shell.line, code.kind, code.at) == ("shell", 5, "code", 0.002)
    assert (out.at, out.until, out.relative) == (0, 0.1, True)
    assert out.what == Packet(True, "P.AE", 1, 2000, 1, None, "ect0", ((5, 6), (7, 8)))
    assert (call.at, call.until, call.relative) == (0.1, 0.2, False)
    assert call.what == Call("write", ("4", "...", "1000"), "1000")
    assert isinstance(incoming.what, Packet)
    assert (incoming.at, incoming.what.ecn, incoming.what.flags) == (None, "ce", "EW.")
    assert incoming.what.accecn == (("e0b", 1), ("ceb", 2))
    assert (incoming.what.stamps, incoming.what.mss, incoming.what.scale) == ((3, 4), 1000, 7)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("+0 > . 1:1(0) ack 1 <FO 1234>", "other option"),
        ("+0 < S 0:0(0) win 1000 <mss>", "other option"),
        ("+0 < icmp unreachable [1:2(1)]", "other protocol"),
        ("+0 < . 1:2(1) ack 1 win 5 urg 2", "urgent data"),
        ("+0 so it goes", "unknown form"),
        ("+0 > R. 1:1(0) ack 1", "reset"),
        ("+0 < . 1:1(0) ack 1 win 0\n+0 > . 1:1(0) ack 1", "zero window"),
        ("+0 > . 1:1(0) ack 1 win 5", "receive window"),
        ("`rm -rf /`", "shell"),
        ("`sysctl -q net.ipv4.tcp_mtu_probing=2`", "sysctl"),
        ("+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0", "socket option"),
        ("--ip_version=ipv6", "IPv6"),
    ],
)
def test_what_cannot_be_played_says_why(line, word):
    result = play.play_text(OPEN + line + "\n")
    assert (result.outcome, result.word) == ("not run", word)
    assert result.word in REASONS


def test_asserts_are_evaluated_and_no_code_is_run():
    numbers = {"tcpi_lost": 2, "tcpi_ca_state": 3}
    assert asserts.failures("assert tcpi_ca_state == TCP_CA_Recovery, 1", numbers) == []
    assert asserts.failures("assert 1 <= tcpi_lost <= 2 and not tcpi_lost == 3\n", numbers) == []
    failed = asserts.failures("assert tcpi_lost == 1, tcpi_lost", numbers)
    assert failed == ["tcpi_lost == 1, tcpi_lost is 2"]
    for code, word in [
        ("assert tcpi_probes == 1", "TCP_INFO"),
        ("assert open('x')", "code"),
        ("x = 1", "code"),
        ("assert (", "code"),
    ]:
        with pytest.raises(NotRunError) as why:
            asserts.failures(code, numbers)
        assert why.value.word == word


def test_settings_of_a_script_become_those_of_the_profile():
    def made(text):
        return settings.parameters(read(text + OPEN))

    assert made("")["mss"] == 1000
    assert made("--mss=536\n")["mss"] == 536
    assert made("`sysctl -q net.ipv4.tcp_sack=0`")["recovery"] == "newreno"
    assert made("`sysctl -q net.ipv4.tcp_ecn=0`")["ecn"] is False
    given = made("`sysctl -q net.ipv4.tcp_ecn=3\nsysctl -q net.ipv4.tcp_ecn_option=0`")
    assert (given["ecn_feedback"], given["accecn_option"]) == ("accurate", False)
    assert made("")["tso_autosize"]
    for queue, paced in [
        ("fq", True),
        ("fq limit 100", True),
        ("fq_codel", False),
        ("pfifo", False),
    ]:
        assert made(f"`tc qdisc replace dev tun0 root {queue}`").get("pacing", False) is paced
    opens = "+0 connect(3, ..., ...) = 0\n"
    assert settings.parameters(read("`sysctl net.ipv4.tcp_ecn=2`" + opens))["ecn"] is False


class FakeEnd:
    """Sends what it was given, a list a call."""

    def __init__(self, *answers):
        self.answers, self.sent, self.calls = list(answers), [], []

    def call(self, name, at, *arguments):
        self.calls.append((name, *arguments))
        if name != "until" and self.answers:
            self.sent += [replace(sent, at=at + sent.at) for sent in self.answers.pop(0)]
        return ""


def sent(seq, length, flags, late=0.0, **fields):
    usual = {"ack": 1, "ecn": "noecn", "stamps": None, "sack": (), "accecn": None}
    return Sent(late, seq, length, flags, **(usual | fields))


def outcome(*answers, line="+0 > P. 1:2001(2000) ack 1\n"):
    script = read(OPEN + "+0 write(4, ..., 2000) = 2000\n" + line)
    end = FakeEnd([sent(0, 0, "S.")], [], *answers)
    player = play._Player(cast(End, end), script)
    try:
        for event in script.events:
            player.play(event)
    except play._DifferenceError as why:
        return why.word
    # Scaled, but not on the SYN.
    windows = [call[-1] for call in end.calls if call[0] == "segment"]
    assert windows == [65535, 500 << 7]
    return f"passed {player.pushes}"


def test_a_burst_may_come_in_pieces_and_every_difference_has_its_word():
    first, second = sent(1, 1000, "."), sent(1001, 1000, "P.")
    assert outcome([first, second]) == "passed 0"
    assert outcome([first, replace(second, flags=".")]) == "passed 1"
    assert outcome([first]) == "nothing sent"
    assert outcome([first, replace(second, seq=2001)]) == "range"
    assert outcome([first, replace(second, length=1001)]) == "range"
    assert outcome([replace(first, flags="E."), second]) == "flags"
    assert outcome([replace(first, ack=2), second]) == "acknowledgement"
    assert outcome([replace(first, sack=((5, 6),)), second]) == "SACK"
    assert outcome([replace(first, accecn=(("e0b", 1),)), second]) == "AccECN option"
    assert outcome([replace(first, stamps=(1, 2)), second]) == "timestamps"
    assert outcome([replace(first, at=0.0039), second]) == "passed 0"
    assert outcome([replace(first, at=0.0041), second]) == "time"
    ecn = "+0 > [ect0] P. 1:2001(2000) ack 1\n"
    assert outcome([first, second], line=ecn) == "ECN field"


@pytest.mark.skipif(not (ROOT / PROGRAM).exists(), reason="the end is not built")
@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_own_scripts_pass(path):
    assert play.play(path, program=ROOT / PROGRAM).outcome == "passed"


def test_topics_are_by_name():
    assert topic(Path("net/tcp_accecn_ecn3.pkt")) == "accurate ECN"
    assert topic(Path("cubic/cubic-bulk-166k.pkt")) == "CUBIC and HyStart"
    assert topic(Path("fastopen/cwnd.pkt")) == "other"


def test_the_page_shows_the_record_and_nothing_in_it_failed():
    record = command.read_record(RECORD)
    page = (ROOT / "docs" / "validation" / "kernel-tests.md").read_text()
    for rows in record.values():
        assert command.table(rows) in page
        assert not [row for row in rows if row["outcome"] == "failed"]
        explained = {row["script"] for row in rows if row["outcome"] == "explained"}
        assert all(Path(name).name.removeprefix("tcp_") in EXPLAINED for name in explained)
