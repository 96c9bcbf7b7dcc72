"""What `aqmlab advise` prints is typed: into a real tc here, and on record into a real kernel."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from validation.linux import sqm, typed

from aqmlab import targets
from aqmlab.advise import commands, situation
from aqmlab.advise.candidates import Candidate
from aqmlab.errors import SpecError
from aqmlab.targets import tc_words

PACKED = Path(__file__).parent / "golden" / "typed.json.gz"
RECORD = json.loads(gzip.decompress(PACKED.read_bytes()))
"""What a real tc and Linux 6.12 made of the lines (`python -m validation.linux.typed`)."""
DEVICE = typed.DEVICE
IFB = f"ifb4{DEVICE}"
ADVISED = {IFB: 45e6, DEVICE: 9.5e6}
"""bit/s: 90 % of 50 Mbit/s down and 95 % of 10 Mbit/s up."""
FRAMES = {
    # Bytes that cake adds to an IP packet, and HTB to what the device counts.
    "cable": ("overhead 18 mpu 64", "overhead 4 mpu 64"),
    "dsl": ("ptm overhead 30", "overhead 30"),
    "adsl": ("atm overhead 40", "linklayer atm overhead 40"),
    "fibre": ("overhead 23 mpu 69", "overhead 9 mpu 69"),
}
pytestmark = pytest.mark.usefixtures("real_core")
ROWS = pytest.mark.parametrize(
    "row", RECORD, ids=[f"{row['access']}-{row['aqm']}-{row['system']}" for row in RECORD]
)


def rates(shown: dict) -> dict[str, float]:
    """The rate of each device's shaper, of what tc prints of it."""
    found = {}
    for device, text in shown["qdisc"].items():
        bandwidth = re.search(r"cake .* bandwidth (\w+)", text)
        leaf = re.search(r"leaf \S+ prio 0 rate (\w+) ceil \1 ", shown["class"][device])
        (word,) = [match[1] for match in (bandwidth, leaf) if match]
        found[device] = tc_words.read_rate(word, {})
    return found


def test_every_kind_of_line_discipline_and_system_was_typed():
    assert [(row["access"], row["aqm"], row["system"]) for row in RECORD] == typed.cases()


@ROWS
def test_a_real_kernel_shapes_both_directions_at_the_advised_rates(row):
    case = row["access"], row["aqm"], row["system"]
    assert typed.typed(*case) == row["lines"], (
        "the lines have changed: record them anew by python -m validation.linux.typed"
    )
    assert row["complaint"] == "", "typed twice"
    assert rates(row["shown"]) == ADVISED
    assert f"mirred (Egress Redirect to device {IFB}) stolen" in row["shown"]["filter"]
    assert row["shown"]["filter"].count("mirred") == 1 or row["system"] == "openwrt"
    cake, htb = FRAMES[row["access"]]
    name = {"droptail": "pfifo"}.get(row["aqm"], row["aqm"])
    for text in row["shown"]["qdisc"].values():
        assert f"qdisc {name} " in text
        assert (cake if row["aqm"] == "cake" else htb) in text


SIZES = {"cable": 1518, "dsl": 1554, "adsl": 1749, "fibre": 1523}
"""Bytes on the line of an IP packet of 1,500: DOCSIS; PPPoE in PTM; 33 cells of ATM; GPON."""
ON_PPP = 14
"""Bytes that the veth pair of the measurement has and the PPP device of the advice has not."""


def of_line(row: dict) -> int:
    """Bytes that the shaper counts of a packet of 1,500 in the measurement."""
    if row["access"] == "dsl" and row["aqm"] != "cake":
        return 1500 + 30 + ON_PPP  # HTB knows no PTM
    return SIZES[row["access"]]


@pytest.mark.parametrize(
    "row",
    [row for row in RECORD if row["passed"]],
    ids=lambda row: f"{row['access']}-{row['aqm']}-{row['system']}",
)
def test_as_much_passes_a_real_kernel_as_the_line_could_carry(row):
    """IP packets at the advised rate, less their frames; streams filled both queues."""
    for device, rate in ADVISED.items():
        expected = rate * 1500 / of_line(row)
        # cake of downloads counts what it drops as sent, of a stream that does not slow down.
        least = 0.96 if row["aqm"] == "cake" and device == IFB else 0.99
        assert least * expected < row["passed"][device] < 1.003 * expected, device


def test_the_named_disciplines_were_measured():
    measured = {(row["access"], row["aqm"], row["system"]) for row in RECORD if row["passed"]}
    assert measured == {case for case in typed.cases() if case[1] in typed.MEASURED}


@pytest.mark.parametrize("system", typed.SYSTEMS)
def test_cake_shares_among_the_hosts_of_the_house_behind_their_router(system):
    (row,) = (r for r in RECORD if (r["access"], r["aqm"], r["system"]) == ("dsl", "cake", system))
    down, up = row["shown"]["qdisc"][IFB], row["shown"]["qdisc"][DEVICE]
    assert re.search("dual-dsthost nat (no)?wash ingress ", down)
    assert "dual-srchost nat nowash no-ack-filter" in up
    options = sqm.section(typed.printed("dsl", "cake", "openwrt"))
    assert "nat" in options["eqdisc_opts"].split(), "piece_of_cake.qos has it for downloads alone"


@pytest.mark.parametrize("access", typed.ACCESS)
@pytest.mark.parametrize("aqm", typed.DISCIPLINES)
def test_sqm_has_one_section_with_both_rates(access, aqm):
    section = sqm.section(typed.printed(access, aqm, "openwrt"))
    assert (section["download"], section["upload"]) == ("45000", "9500")
    assert section["interface"] == DEVICE


def test_packages_are_installed_by_opkg_and_by_apk():
    lines = typed.printed("dsl", "fq_pie", "openwrt")
    assert "opkg install sqm-scripts kmod-sched-fq-pie" in lines
    assert "apk add sqm-scripts kmod-sched-fq-pie" in lines


@pytest.mark.parametrize("system", targets.TARGETS)
@pytest.mark.parametrize("place", ["router", "line"])
def test_no_device_gets_the_queues_of_both_directions(system, place):
    home = situation.of_words("50/10mbit", "dsl", "household", place)
    aqm = "droptail" if system == "cisco" else "fq_codel"
    printed = commands.to_type(home, Candidate(aqm, {"aqm": aqm}), system, "DEV")
    lines = [line for block in printed["blocks"] for line in block["lines"]]
    ways = [block["for"] for block in printed["blocks"]]
    assert any("downloads" in way for way in ways)
    assert any("uploads" in way for way in ways)
    roots = [
        line.split(" dev ")[1].split()[0]
        for line in lines
        if " root " in line and "noq" not in line
    ]
    assert len(roots) == len(set(roots)) == (2 if system == "tc" else 0)
    joined = "\n".join(lines)
    if place == "router" and system not in ("ns3", "openwrt"):
        assert {"tc": "45mbit", "freebsd": "45Mbit/s", "cisco": "45000000"}[system] in joined
        assert {"tc": "9500kbit", "freebsd": "9500Kbit/s", "cisco": "9500000"}[system] in joined


def test_a_direction_alone_leaves_the_other_as_it_is():
    scenario = {
        "duration": "10 s",
        "link": [{"rate": "2 Mbit/s"}],
        "traffic": [{"app": "bulk", "flows": 1}],
    }
    line = situation.of_scenario(scenario, "router", "line")
    one = Candidate("fq_codel", {"aqm": "fq_codel", "profile": "linux"})
    lines = [x for b in commands.to_type(line, one, "tc", "DEV")["blocks"] for x in b["lines"]]
    assert "tc class replace dev ifb4DEV parent 1: classid 1:1 htb rate 1800kbit quantum 1514" in (
        lines
    )
    assert not any(" dev DEV root" in text for text in lines)
    printed = commands.to_type(line, one, "openwrt", "DEV")["blocks"]
    section = sqm.section(text for block in printed for text in block["lines"])
    assert (section["download"], section["upload"]) == ("1800", "0")


def test_a_long_name_of_a_device_leaves_room_for_its_ifb():
    assert targets.plan.ifb("enx001122334455") == "ifb4enx00112233"


def test_a_system_without_the_queue_says_what_it_has():
    home = situation.of_words("50/10mbit", "dsl", "household", None)
    with pytest.raises(SpecError, match="IOS has no cake: it has droptail, red, wred"):
        commands.to_type(home, Candidate("cake", {"aqm": "cake"}), "cisco", "DEV")


def _in_namespace(text: str) -> subprocess.CompletedProcess[str]:
    words = ["unshare", "--user", "--map-root-user", "--net", "sh", "-ec", text]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)


_HAS = f"""ip link add {DEVICE} type veth peer name peer
ip link add name {IFB} type ifb
tc qdisc add dev {IFB} handle ffff: ingress
tc qdisc add dev {DEVICE} root handle 1: htb default 1
"""


def _shown_here(lines: list[str]) -> dict:
    """What tc prints after the lines were typed twice, in a network of this test's own."""
    shows = [
        *(f"tc -d qdisc show dev {name}" for name in (DEVICE, IFB)),
        *(f"tc class show dev {name}" for name in (DEVICE, IFB)),
    ]
    parts = "\n".join(f"echo '## '; {words}" for words in shows)
    made = f"ip link add {DEVICE} type veth peer name peer; ip link set {DEVICE} up"
    done = _in_namespace("\n".join([made, *lines, *lines, parts]))
    assert done.returncode == 0, done.stderr
    device, ifb, classes, classes_ifb = done.stdout.split("## ")[1:]
    return {
        "qdisc": {DEVICE: device, IFB: ifb},
        "class": {DEVICE: classes, IFB: classes_ifb},
    }


@pytest.mark.parametrize("system", typed.SYSTEMS)
@pytest.mark.parametrize("aqm", typed.DISCIPLINES)
def test_the_lines_are_typed_twice_into_the_tc_of_this_machine(aqm, system):
    if not shutil.which("tc") or not shutil.which("unshare"):
        pytest.skip("no tc here (Debian package iproute2)")
    if _in_namespace(_HAS).returncode:
        pytest.skip("no network namespace with veth, ifb and htb is to be had here")
    kind = {"droptail": "pfifo"}.get(aqm, aqm)
    if _in_namespace(f"ip link add name x type ifb; tc qdisc add dev x root {kind}").returncode:
        pytest.skip(f"this machine's kernel has no {kind}")
    for access in typed.ACCESS:
        assert rates(_shown_here(typed.typed(access, aqm, system))) == ADVISED, access
