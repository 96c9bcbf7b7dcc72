"""Disciplines in the words of real systems, and back."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from aqmlab import targets
from aqmlab.advise import commands as advised
from aqmlab.advise import situation
from aqmlab.advise.candidates import Candidate
from aqmlab.cli import reference, translations
from aqmlab.errors import SpecError
from aqmlab.simulator import engine
from aqmlab.targets import (
    from_tc,
    plan,
    red_average,
    scenario,
    tc,
    tc_lines,
    tc_words,
    translation,
)
from aqmlab.targets.words import LINE as LINES_RATE
from aqmlab.targets.words import Entry, fields

RECORD = json.loads((Path(__file__).parent / "golden" / "tc.json").read_text("utf-8"))
"""What a real tc and kernel said (`python -m validation.linux.commands`)."""
LINE = "10 Mbit/s"
pytestmark = pytest.mark.usefixtures("real_core")


def described(aqm: str, settings: str | list[str] = "", rate: str = LINE) -> dict[str, Any]:
    """A discipline with its effective values."""
    words = settings if isinstance(settings, list) else [s for s in settings.split("; ") if s]
    return reference.described(aqm, words, rate)


def commands(target: str, aqm: str, settings: str = "", rate: str = LINE) -> targets.Commands:
    """A discipline in a target's words."""
    return translations.of_entry(described(aqm, settings, rate), [target])[0]


def lines(commands: targets.Commands) -> str:
    """All that is typed."""
    return "\n".join(line for _, block in commands.blocks for line in block)


def words(aqm: str, settings: str | list[str]) -> str:
    """What tc is told, without the device."""
    entry = described(aqm, settings)
    queue = targets.queue(aqm, entry["effective"], set(entry["written"]), LINE)
    found = translation.entry_for(tc.ENTRIES, "tc", queue, "")
    return " ".join([found.name, *translation.spoken(found, queue)])


def effective(queue: dict[str, Any]) -> dict[str, Any]:
    """What a queue means, completed."""
    link = {"rate": LINE, "forward": queue}
    traffic = [{"app": "bulk", "flows": 1}]
    made = engine.check({"duration": "1 s", "link": [link], "traffic": traffic})
    return made["link"][0]["forward"]


@pytest.mark.parametrize("row", RECORD, ids=[row["words"].split()[0] for row in RECORD])
def test_parameters_come_back_from_what_a_real_tc_printed(row):
    assert words(row["aqm"], row["settings"]) == row["words"], (
        "the words have changed: record them anew by python -m validation.linux.commands"
    )
    assert row["complaint"] == ""
    (seen,) = from_tc.seen(row["shown"])
    queue, remarks = from_tc.parameters(seen.kind, seen.words)
    ours = {"aqm": row["aqm"], **described(row["aqm"], row["settings"])["effective"]}
    back = effective(queue)
    # tc counts increments of SFB in parts of 65,535, the kernel in 65,536.
    assert back == pytest.approx(ours) if row["aqm"] == "sfb" else back == ours
    assert remarks == []


@pytest.mark.parametrize("row", RECORD, ids=[row["words"].split()[0] for row in RECORD])
def test_a_command_is_read_as_what_it_prints(row):
    command = f"tc qdisc replace dev eth0 root {row['words']}"
    (requested,) = from_tc.seen(command)
    queue, _ = from_tc.parameters(requested.kind, requested.words, printed=False)
    (seen,) = from_tc.seen(row["shown"])
    queue.pop("idle_packet_time", None)  # a command tells it, by bandwidth; the output does not
    assert effective(queue) == pytest.approx(
        effective(from_tc.parameters(seen.kind, seen.words)[0])
    )


def test_every_discipline_of_tc_but_the_newest_was_recorded():
    assert {entry.name for entry in tc.ENTRIES} - {row["words"].split()[0] for row in RECORD} == {
        "dualpi2",
        "cake_mq",
    }


def test_the_tables_name_fields_that_there_are():
    for name, table in targets.TARGETS.values():
        for entry in table.ENTRIES:
            known = {field["name"] for field in fields(entry.aqm)}
            named = {row.ours for row in entry.rows} | set(entry.implies)
            assert named - known <= {LINES_RATE}, (name, entry.name)


@pytest.mark.parametrize("target", ["tc", "ns3"])
def test_of_the_profile_that_is_the_target_every_field_has_a_row(target):
    """Or is implied by the name."""
    _, table = targets.TARGETS[target]
    left = {
        f"{entry.name}.{field}"
        for entry in table.ENTRIES
        for field in described(entry.aqm, _own(entry))["effective"]
        if field not in {"profile", *entry.implies, *(row.ours for row in entry.rows)}
    }
    assert left == set()


def _own(entry: Entry) -> str:
    return f"profile={entry.profile}" if entry.profile else ""


def test_a_field_that_was_written_is_never_passed_over():
    assert commands("freebsd", "red", "harddrop=false").lost[-1] == (
        "harddrop = false cannot be said in FreeBSD"
    )


@pytest.mark.parametrize("minimum", [5, 15, 30, 60])
@pytest.mark.parametrize("n", range(2, 12))
def test_burst_makes_tc_choose_the_weight_that_is_wanted(minimum, n):
    assert red_average.exponent(red_average.burst(2.0**-n, minimum), minimum) == n


def test_a_burst_that_tc_refuses_is_refused():
    with pytest.raises(SpecError, match="burst 2 is too small"):
        scenario.of_output(
            "tc qdisc add dev eth0 root red limit 60000 min 5000 max 15000 avpkt 1000 burst 2", LINE
        )


def test_what_tc_cannot_say_is_told():
    lost = " ".join(commands("tc", "red").lost)
    assert "profile fj93 is another implementation" in lost
    assert "w_q = 0.002 becomes 0.00195312 in tc" in lost
    assert "queue_in_bytes = false cannot be said" in lost
    assert commands("tc", "red", "profile=linux").lost == []
    lost = commands("tc", "cake", "interval=50 ms").lost
    assert lost == ["target = 0.005 cannot be said: tc has always 0.0025 (a twentieth of rtt)"]


def test_several_queues_of_a_device_are_cake_mq():
    several = commands("tc", "cake", "rate=18 Mbit/s; tx_queues=2")
    assert "root cake_mq bandwidth 18mbit" in lines(several)
    (lost,) = several.lost
    assert lost.startswith("tx_queues = 2 cannot be said") and "ethtool -l DEV" in lost
    assert commands("tc", "cake", "rate=18 Mbit/s").lost == []


def test_what_to_know_is_told():
    known = " ".join(commands("tc", "red").pitfalls)
    for word in ("never ages while idle", "burst", "14 bytes of Ethernet", "tcp_ecn_fallback"):
        assert word in known
    assert "since 5.7" in " ".join(commands("tc", "ared", "profile=linux").pitfalls)


def test_a_target_without_the_discipline_says_what_it_has():
    with pytest.raises(SpecError, match="IOS has no codel: it has droptail, red, wred"):
        commands("cisco", "codel")


def test_openwrt_is_told_by_uci():
    shown = lines(commands("openwrt", "cake", "rate=18 Mbit/s; framing=ptm; overhead=30"))
    assert "uci set sqm.line.upload='18000'" in shown
    assert "sqm.line.linklayer='ethernet'" in shown
    assert "sqm.line.overhead='30'" in shown
    # SQM's linklayer has no PTM: cake gets its own word.
    assert "eqdisc_opts='diffserv3 triple-isolate no-ack-filter rtt 100ms nat ptm'" in shown
    red = lines(commands("openwrt", "red"))
    assert "opkg install tc-full kmod-ifb kmod-sched-red" in red
    assert "apk add tc-full kmod-ifb kmod-sched-red" in red


def test_sqm_gets_the_rate_of_the_direction_that_a_queue_is_of(aqmlab_command, tmp_path):
    file = tmp_path / "home.toml"
    link = 'link = [{ access = "fibre", forward = "cake", reverse = "fq_codel" }]'
    file.write_text(f'duration = "1 s"\n{link}\ntraffic = [{{ app = "bulk", flows = 1 }}]\n')
    down = aqmlab_command("describe", f"{file}:link.0.forward", "--openwrt").stdout
    assert "sqm.line.download='250000'" in down
    assert "sqm.line.upload='0'" in down
    up = aqmlab_command("describe", f"{file}:link.0.reverse", "--openwrt").stdout
    assert "sqm.line.download='0'" in up
    assert "sqm.line.upload='100000'" in up
    assert "download='18000'" in lines(commands("openwrt", "cake", "rate=18 Mbit/s; ingress=true"))


def test_freebsd_is_told_by_ipfw():
    assert "type fq_codel target 5ms interval 100ms ecn" in lines(commands("freebsd", "fq_codel"))
    assert "bw 10Mbit/s queue 60 red 0.002/5/15/0.02" in lines(commands("freebsd", "red"))
    assert " gred " in lines(commands("freebsd", "red", "profile=ns3"))
    long, short = (lines(commands("freebsd", "codel", f"limit={n}")) for n in (1000, 60))
    assert "sysctl net.inet.ip.dummynet.pipe_slot_limit=1000\nipfw pipe 1 config" in long
    assert "pipe_slot_limit" not in short
    loaded = "kenv net.inet.ip.fw.default_to_accept=1 kldload -n ipfw dummynet "
    loaded += "sysctl net.inet.ip.fw.one_pass=0"
    assert loaded in " ".join(lines(commands("freebsd", "fq_codel")).split())


@pytest.mark.parametrize(("aqm", "queues"), [("fq_codel", "ipfw queue delete 1 2; "), ("pie", "")])
def test_what_freebsd_types_is_taken_back_whole(aqm, queues):
    home = situation.of_words("50/10mbit", "dsl", "household", None)
    printed = advised.to_type(home, Candidate(aqm, {"aqm": aqm}), "freebsd", "em0")
    undo = next(s for s in printed["pitfalls"] if s.startswith("to undo it: "))
    assert undo.startswith(f"to undo it: ipfw delete 10 20; {queues}ipfw pipe delete 1 2;")
    made = [line for block in printed["blocks"] for line in block["lines"]]
    assert bool(queues) == any(line.startswith("ipfw queue 1 config") for line in made)
    # /etc/rc.firewall has its own rules from 50 on, which must stay.
    numbers = [int(line.split()[2]) for line in made if line.startswith("ipfw add")]
    assert numbers == [10, 20]


def test_a_setting_is_named_in_the_words_of_the_system():
    home = situation.of_words("50/10mbit", "dsl", "household", None)
    cake = advised.direction(home, Candidate("cake", {"aqm": "cake"}))
    assert targets.typed("tc", cake, "interval", 0.05) == "rtt 50ms (interval)"
    assert targets.typed("tc", cake, "target", 0.0025) is None, "a twentieth of rtt, always"
    assert targets.typed("tc", cake, "tx_queues", 2) is None
    linux = {"aqm": "fq_codel", "profile": "linux"}
    fq_codel = advised.direction(home, Candidate("fq_codel", linux))
    assert targets.typed("tc", fq_codel, "target", 0.0025) == "target 2.5ms"


def test_cisco_is_told_by_a_policy_map():
    shown = lines(commands("cisco", "red", "w_q=0.001953125; max_p=0.1; ecn=true"))
    assert "random-detect precedence 7 5 15 10" in shown
    assert "exponential-weighting-constant 9" in shown
    assert "random-detect ecn" in shown
    wred = lines(commands("cisco", "wred", "limit=40"))
    assert "precedence 0 20 40 10" in wred
    assert "precedence 7 35 40 10" in wred  # 20 + 7 * 20/9, rounded down


def test_ns3_is_told_its_attributes():
    shown = lines(commands("ns3", "red", "profile=ns3"))
    assert '"ns3::RedQueueDisc"' in shown
    assert '"LInterm", DoubleValue(50)' in shown
    assert '"MaxSize", QueueSizeValue("25p")' in shown
    assert commands("ns3", "red", "profile=ns3").lost == []


def test_describe_with_profile_ns3_names_the_attributes(aqmlab_command):
    shown = aqmlab_command("describe", "red", "profile=ns3", COLUMNS="200").stdout
    assert "in ns-3" in shown
    assert "LInterm" in shown


def test_a_profile_that_is_a_target_s_own_implementation_names_the_target():
    assert targets.of_profile("ns3") == "ns3"
    # That of many kernels and that of a paper are no one target's.
    assert targets.of_profile("linux") is None and targets.of_profile(None) is None
    tables = [table for _, table in targets.TARGETS.values() if hasattr(table, "PROFILE")]
    assert all(
        entry.profile in (None, table.PROFILE) for table in tables for entry in table.ENTRIES
    )


OUTPUT = """qdisc noqueue 0: dev lo root refcnt 2
qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 9Mbit besteffort dual-srchost nat nowash \
ack-filter split-gso rtt 100ms ptm overhead 30
 Sent 9000 bytes 90 pkt (dropped 10, overlimits 0 requeues 0)
qdisc ingress ffff: dev eth0 parent ffff:fff1 ----------------
qdisc cake 8002: dev ifb4eth0 root refcnt 2 bandwidth 45Mbit besteffort dual-dsthost nat nowash \
ingress no-ack-filter split-gso rtt 100ms ptm overhead 30
"""


def test_a_router_with_sqm_becomes_a_scenario_of_both_directions():
    made, remarks = scenario.of_output(OUTPUT, None)
    (link,) = made["link"]
    assert (link["rate"], link["reverse_rate"]) == ("45000000 bit/s", "9000000 bit/s")
    assert link["forward"]["ingress"] is True
    assert link["reverse"]["ack_filter"] == "filter"
    # With overhead cake counts what is written, not the device's header.
    assert "header_bytes" not in link
    assert "eth0: it dropped 10.00% of 100 packets" in remarks
    assert not any("nat" in remark for remark in remarks)  # hosts are known here as they are
    assert 'aqm = "cake"' in scenario.text(made, remarks)


def test_a_queue_under_a_shaper_asks_for_its_rate_and_warns_of_red():
    text = (
        "qdisc tbf 1: dev eth0 root refcnt 2 rate 8Mbit burst 15Kb lat 50ms\n"
        "qdisc red 2: dev eth0 parent 1:1 limit 60000b min 5000b max 15000b ewma 9 "
        "probability 0.1 Scell_log 13\n"
    )
    made, remarks = scenario.of_output(text, None)
    assert made["link"][0]["rate"] == "8000000 bit/s"
    assert made["link"][0]["forward"]["w_q"] == 2**-9
    assert made["link"][0]["header_bytes"] == 14
    assert any("never ages while idle" in remark for remark in remarks)
    with pytest.raises(SpecError, match="has no rate: give the line's with --rate"):
        scenario.of_output("qdisc fq_codel 0: dev eth0 root refcnt 2 limit 10240p", None)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nothing here", "give what `tc -s -d qdisc show` prints"),
        ("qdisc netem 1: dev eth0 root refcnt 2 limit 1000", "no counterpart of tc's netem"),
        ("qdisc noqueue 0: dev lo root refcnt 2", "no device has a queue"),
        ("qdisc codel 1: dev eth0 root limit manyp", "no number that tc prints"),
    ],
)
def test_output_that_cannot_be_read_is_told_in_a_sentence(text, sentence):
    with pytest.raises(SpecError, match=re.escape(sentence)):
        scenario.of_output(text, LINE)


@pytest.mark.parametrize(
    ("text", "value"), [("17600Kbit", 17.6e6), ("1234567bit", 1234567), ("10mbit", 10e6)]
)
def test_rates_are_read(text, value):
    assert tc_words.read_rate(text, {}) == value


def test_the_command_makes_a_scenario_that_runs(aqmlab_command, tmp_path):
    file = tmp_path / "mine.toml"
    output = "qdisc fq_codel 0: dev eth0 root refcnt 2 limit 1000p flows 1024 quantum 1514 ecn"
    answer = aqmlab_command("from-tc", output, "--rate", "5 Mbit/s", "--out", file)
    assert answer.returncode == 0, answer.stderr
    shown = aqmlab_command("describe", f"{file}:link.0.forward", "--tc", "--json").stdout
    document = json.loads(shown)
    assert any("fq_codel limit 1000" in line for line in document["tc"]["blocks"][0]["lines"])
    assert engine.check(tomllib.loads(file.read_text("utf-8")))


def _in_namespace(command: str) -> subprocess.CompletedProcess[str]:
    requested = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", command]
    return subprocess.run(requested, capture_output=True, text=True, check=False, timeout=30)


def test_a_real_tc_takes_the_words():
    """Its grammar here, whatever the kernel has; the kernel's answer is in the record."""
    if not shutil.which("tc") or not shutil.which("unshare"):
        pytest.skip("no tc here (Debian package iproute2)")
    if _in_namespace("true").returncode:
        pytest.skip("no network namespace of one's own is allowed here")
    tried = "\n".join(
        f"echo '## {row['words']}'; tc qdisc replace dev lo root {row['words']} 2>&1"
        for row in RECORD
    )
    refused = [
        block.splitlines()[0]
        for block in _in_namespace(tried).stdout.split("## ")
        if re.search(r"What is|Illegal|missing|failed to calculate", block)
    ]
    assert refused == []


def test_neither_a_file_nor_output_is_one_sentence(aqmlab_command):
    answer = aqmlab_command("from-tc", "hello")
    assert answer.returncode == 2
    assert answer.stderr.strip() == (
        "aqmlab: hello: neither a file nor what tc prints, which begins with qdisc"
    )


def test_gred_is_a_fifo_until_it_has_a_virtual_queue():
    def read(line: str) -> tuple[dict[str, object], list[str]]:
        (one,) = from_tc.seen(line)
        return from_tc.parameters(one.kind, one.words, printed=line.startswith("qdisc"))

    # gred_init: a device's txqueuelen of its largest packets; gred_enqueue: then no RED.
    bare, remarks = read("tc qdisc add dev eth0 root gred setup vqs 10 default 1")
    assert bare == {"aqm": "droptail", "limit_bytes": 1_514_000}
    assert "no virtual queue" in remarks[0]
    limited, _ = read("qdisc gred 1: root refcnt 2 vqs 10 default 1 limit 1000b")
    assert limited == {"aqm": "droptail", "limit_bytes": 1000}
    one, remarks = read(
        "tc qdisc change dev eth0 root gred limit 60KB min 15K max 45K burst 20 avpkt 1500 "
        "bandwidth 10Mbit DP 1 probability 0.1"
    )
    assert (one["aqm"], one["virtual_queues"], one["limit"]) == ("gred", 1, 40)
    assert (one["min_th"], one["max_th"], one["max_p"]) == (10.24, 30.72, 0.1)
    assert not remarks
    with pytest.raises(SpecError, match="several virtual queues"):
        read("qdisc gred 1: root vqs 2 default 0 vq 0 prio 1 limit 9b vq 1 prio 2 limit 9b")


def test_the_device_at_the_far_end_of_a_line_keeps_its_placeholder():
    entry = next(one for one in tc.ENTRIES if one.name == "fq_codel")
    lane = plan.Lane(plan.DOWN, entry, [], LINE, {}, shaped=False, framing=plan.Framing())
    ((title, block),) = tc_lines.arrange([lane], "eth0")
    assert block == ["tc qdisc replace dev FARDEV root fq_codel"]
    assert "eth0" not in title
