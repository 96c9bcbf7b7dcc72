"""What people paste of `tc` and of OpenWrt's SQM, read as the queues of a line."""

from __future__ import annotations

import cProfile
import pstats
from typing import Any

import pytest

from aqmlab.errors import SpecError
from aqmlab.simulator import engine
from aqmlab.targets import scenario, tc_words

pytestmark = pytest.mark.usefixtures("real_core")
RATE = "10 Mbit/s"
CAKES = """qdisc fq_codel 0: dev eth0 root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms
qdisc cake 800a: dev pppoe-wan root refcnt 2 bandwidth 9545Kbit diffserv3 dual-srchost nonat \
nowash no-ack-filter split-gso rtt 100ms noatm overhead 44
qdisc cake 800b: dev ifb4pppoe-wan root refcnt 2 bandwidth 46246Kbit diffserv3 dual-dsthost nonat \
nowash no-ack-filter split-gso rtt 100ms noatm overhead 44
"""
HTB = """qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 4 ver 3.17
 linklayer atm overhead 44 mtu 2047 tsize 512
qdisc fq_codel 110: dev eth0 parent 1:10 limit 1001p flows 1024 quantum 300 target 17.7ms
"""


def of(text: str, rate: str | None = None, device: str | None = None) -> tuple[dict, list[str]]:
    """The link that is read, and the remarks."""
    made, remarks = scenario.of_output(text, rate, device)
    assert engine.check(made)
    return made["link"][0], remarks


def queue(command: str) -> dict[str, Any]:
    """The queue of a command for eth0."""
    return of(f"tc qdisc replace dev eth0 root {command}", RATE)[0]["forward"]


def test_what_shapes_goes_before_what_idles_and_with_its_ifb():
    link, remarks = of(CAKES)
    assert (link["rate"], link["reverse_rate"]) == ("46246000 bit/s", "9545000 bit/s")
    assert link["forward"]["isolation"] == "dual-dsthost"
    assert remarks == ["passed over: eth0 (fq_codel); --dev takes another"]
    link, remarks = of(CAKES, RATE, "eth0")
    assert link["forward"]["aqm"] == "fq_codel"
    assert "reverse" not in link
    assert remarks == []
    with pytest.raises(SpecError, match="eth7 has no queue here: eth0, pppoe-wan, ifb4pppoe-wan"):
        of(CAKES, None, "eth7")


def test_an_ifb_of_no_name_goes_with_the_only_device_that_shapes():
    text = CAKES.replace("ifb4pppoe-wan", "ifb0")
    link, remarks = of(text)
    assert link["rate"] == "46246000 bit/s"
    assert "ifb0 is taken as the downloads of pppoe-wan" in remarks


def test_a_name_that_is_cut_is_its_device_s():
    # 15 letters: ifb4 and eleven of the device.
    text = CAKES.replace("pppoe-wan", "pppoe-wan_fibre", 1).replace("pppoe-wan ", "pppoe-wan_f ")
    assert "reverse" in of(text)[0]


def test_a_size_table_frames_the_line():
    link, _ = of(HTB, "5 Mbit/s")
    # 14 bytes of Ethernet and 44 in cells: pppoa-vcmux has 10 of them.
    assert (link["framing"], link["framing_bytes"], link["header_bytes"]) == ("pppoa-vcmux", 48, 14)
    link, _ = of(HTB.replace("linklayer atm overhead 44", "linklayer ethernet overhead -4"), RATE)
    assert (link["framing"], link["framing_bytes"]) == ("none", 10)
    command = (
        "tc qdisc add dev pppoe-wan root handle 1: stab overhead 22 linklayer atm htb default 1\n"
        "tc class add dev pppoe-wan parent 1: classid 1:1 htb rate 5mbit\n"
        "tc qdisc add dev pppoe-wan parent 1:1 fq_codel"
    )
    link, _ = of(command)
    assert (link["framing_bytes"], link["rate"]) == (12, "5000000 bit/s")
    assert "header_bytes" not in link


def test_a_class_has_the_rate_of_its_queue():
    classes = """class htb 1:10 parent 1:1 leaf 110: prio 0 rate 900Kbit ceil 950Kbit burst 1599b
class htb 1:1 root rate 900Kbit ceil 940Kbit burst 1599b cburst 1599b"""
    assert of(HTB + classes)[0]["rate"] == "940000 bit/s", "the least of what is above"
    with pytest.raises(SpecError, match="has no rate: give the line's with --rate"):
        of(HTB)


def test_the_default_class_is_taken_of_several():
    more = "qdisc pie 120: dev eth0 parent 1:11 limit 1000p\n"
    link, remarks = of(HTB.replace("qdisc fq_codel", more + "qdisc fq_codel"), RATE)
    assert link["forward"]["aqm"] == "fq_codel"
    assert "eth0: eth0 has 2 queues side by side: fq_codel 110: is taken" in remarks


@pytest.mark.parametrize(
    ("words", "framing", "overhead", "mpu"),
    [
        ("pppoe-ptm", "ptm", 30, None),
        ("pppoe-ptm ether-vlan", "ptm", 34, None),
        ("bridged-llcsnap", "atm", 32, None),
        ("conservative", "atm", 48, None),
        ("docsis", "none", 18, 64),
        ("ethernet", None, 38, 84),
        ("raw", "none", None, None),
        ("overhead 44 mpu 84 atm", "atm", 44, 84),
    ],
)
def test_cake_s_keywords_stand_for_others(words, framing, overhead, mpu):
    made = queue(f"cake bandwidth 10mbit {words}")
    assert [made.get(key) for key in ("framing", "overhead", "mpu")] == [framing, overhead, mpu]


def test_cake_s_round_trips_have_names():
    for word, interval in (("internet", "0.1 s"), ("lan", "0.001 s"), ("satellite", "1 s")):
        assert queue(f"cake {word}")["interval"] == interval
    assert queue("cake diffserv")["tins"] == "diffserv4"


@pytest.mark.parametrize(
    ("text", "value"),
    [("1M", 2**20), ("100K", 102_400), ("1500", 1500), ("32Mb", 2**25), ("8kbit", 1024)],
)
def test_sizes_are_tc_s(text, value):
    assert tc_words.BYTES.read(text, {}) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("5000", 0.005), ("5ms", 0.005), ("2secs", 2), ("70us", 7e-5), ("1.5msec", 0.0015)],
)
def test_times_are_tc_s(text, value):
    assert tc_words.TIME.read(text, {}) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [("20mbit", 2e7), ("1000000", 1e6), ("1mbps", 8e6), ("1Mibit", 2**20), ("1.5Gbit", 1.5e9)],
)
def test_rates_are_tc_s(text, value):
    assert tc_words.read_rate(text, {}) == value


def test_a_command_has_what_tc_itself_passes():
    # tc: max = limit/4, min = max/3, burst = (2 min + max)/(3 avpkt) packets.
    red = queue("red limit 120000 avpkt 1000")
    assert (red["min_th"], red["max_th"]) == (10.0, 30.0)
    assert red["w_q"] == queue("red limit 120000 avpkt 1000 min 10000 max 30000 burst 16")["w_q"]
    assert queue("red limit 120000 avpkt 1000 min 5000")["max_th"] == 15.0
    # choke's max follows the limit alone.
    assert queue("choke limit 300 bandwidth 10mbit min 30")["max_th"] == 75.0
    sfb = queue("sfb target 40")
    assert (sfb["max"], sfb["bin_size"]) == (50, 40)
    assert (sfb["d1"], sfb["d2"]) == (33 / 65_536, 3 / 65_536)


def test_a_burst_is_refused_where_tc_refuses_it():
    # min = 400,000/12 = 33,333 bytes: 20 + 1 - 33.3 packets are below one.
    with pytest.raises(SpecError, match="burst 20 is too small for these thresholds: tc refuses"):
        queue("red limit 400000 avpkt 1000 burst 20")
    assert queue("red limit 400000 avpkt 1000 burst 40")["w_q"] > 0


def test_adaptive_is_read_as_what_tc_runs():
    plain = "tc qdisc add dev eth0 root red limit 400000 avpkt 1000"
    made, remarks = of(f"{plain} adaptive", RATE)
    assert made["forward"] == of(plain, RATE)[0]["forward"]
    assert made["forward"]["aqm"] == "red"
    assert any("adapts nothing by adaptive" in remark for remark in remarks)


def test_who_marks_from_where_on_has_a_selector():
    made = queue("fq_codel ce_threshold 1ms ce_threshold_selector 0x1/0x3")
    assert (made["ce_threshold_selector"], made["ce_threshold_mask"]) == (1, 3)


def test_dualpi2_takes_any_ect_and_says_what_drops_on_arrival():
    link, remarks = of("tc qdisc add dev eth0 root dualpi2 any_ect drop_enqueue", RATE)
    assert link["forward"]["any_ect"] is True
    assert link["forward"]["drop_enqueue"] and not any(
        "drop_enqueue" in remark for remark in remarks
    )
    assert queue("dualpi2 l4s_ect")["any_ect"] is False
    # max_rtt 120 ms: target and update 20 ms, 0.1 * 0.02/0.12^2 = 35.6/256 and 0.3/0.12, in
    # whole 1/256.
    made = queue("dualpi2 max_rtt 120ms")
    assert (made["target"], made["t_update"]) == ("0.02 s", "0.02 s")
    assert (made["alpha"], made["beta"]) == pytest.approx((35 / 256, 2.5))
    # The kernel's test of dualpi2 (tc-testing, a4c7): a threshold in packets.
    assert queue("dualpi2 step_thresh 3p")["step_packets"] == 3


def test_commands_are_read_as_a_shell_reads_them():
    text = "$ sudo tc qdisc add dev eth0 \\\n  root handle 1: \\\n  cake bandwidth 20mbit nonat"
    assert of(text)[0]["rate"] == "20000000 bit/s"
    for text in ("tc qdisc show", "tc qdisc del dev eth0 root"):
        with pytest.raises(SpecError, match="there is no line"):
            of(text, RATE)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("qdisc fq_codel 1: root limit 1e400p", "no number that tc prints"),
        ('qdisc red" 1: root', "no counterpart of tc's red"),
        ("tc qdisc add dev eth0 root red limit '6", "no size that tc prints"),
        ("it's a qdisc", "there is no line"),
        ("[1, 2", "no JSON"),
        ("qdisc red 1: dev eth0 root limit 60000b ewma 1e9", "no value that tc takes"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(text, sentence):
    with pytest.raises(SpecError, match=sentence):
        of(text, RATE)


def test_a_name_alone_is_a_discipline():
    assert of("qdisc cake", RATE)[0]["forward"]["aqm"] == "cake"


JSON = """[{"kind":"cake","handle":"8002:","dev":"eth0","root":true,"refcnt":2,"options":{
"bandwidth":2500000,"diffserv":"diffserv4","flowmode":"dual-srchost","nat":false,"wash":false,
"ingress":true,"ack-filter":"enabled","split_gso":true,"rtt":50000,"atm":"ptm","overhead":34,
"mpu":0},"bytes":1200,"packets":90,"drops":10},
{"kind":"noqueue","handle":"0:","dev":"lo","root":true,"options":{}}]"""


def test_json_of_tc_is_read():
    link, remarks = of(JSON)
    forward = link["forward"]
    assert link["rate"] == "20000000 bit/s"
    assert (forward["tins"], forward["isolation"]) == ("diffserv4", "dual-srchost")
    assert (forward["interval"], forward["ingress"], forward["ack_filter"]) == (
        "0.05 s",
        True,
        "filter",
    )
    assert (forward["framing"], forward["overhead"]) == ("ptm", 34)
    assert remarks == ["eth0: it dropped 10.00% of 100 packets"]


def test_the_queues_of_cake_mq_are_its_own():
    one = (
        "bandwidth 100Mbit besteffort nonat nowash no-ack-filter split-gso rtt 100ms raw overhead 0"
    )
    children = "".join(f"qdisc cake 0: dev eth0 parent 1:{n} {one}\n" for n in (2, 1))
    link, remarks = of(f"qdisc cake_mq 1: dev eth0 root refcnt 5 {one}\n{children}")
    assert (link["rate"], link["forward"]["tins"]) == ("100000000 bit/s", "besteffort")
    assert (link["forward"]["tx_queues"], remarks) == (2, [])
    link, remarks = of("tc qdisc add dev eth0 root cake_mq bandwidth 100Mbit besteffort")
    assert link["forward"]["tx_queues"] == 4
    assert remarks == ["eth0: how many queues the device has is not said: 4 (tx_queues)"]


SQM = """
config queue 'eth1'
\toption enabled '1'
\toption interface 'pppoe-wan'
\toption download '45000'
\toption upload '9500'
\toption qdisc 'cake'
\toption script 'layer_cake.qos'
\toption linklayer 'ethernet'
\toption overhead '44'
\toption qdisc_advanced '1'
\toption squash_dscp '0'
\toption qdisc_really_really_advanced '1'
\toption eqdisc_opts 'dual-srchost ack-filter'
\toption iqdisc_opts 'dual-dsthost'
config queue
\toption interface 'eth7'
"""


def test_the_configuration_of_sqm_has_both_directions():
    link, remarks = of(SQM)
    assert (link["rate"], link["reverse_rate"]) == ("45000000 bit/s", "9500000 bit/s")
    assert link["forward"]["ingress"] is True
    assert link["forward"]["isolation"] == "dual-dsthost"
    assert (link["reverse"]["ack_filter"], link["reverse"]["overhead"]) == ("filter", 44)
    assert link["reverse"]["tins"] == "diffserv3"
    assert remarks == ["passed over: eth7; --dev takes another"]
    with pytest.raises(SpecError, match="eth9 is none of its queues: it has pppoe-wan, eth7"):
        of(SQM, None, "eth9")


def test_what_uci_shows_of_sqm_is_read_and_zero_is_not_shaped():
    shown = "\n".join(
        f"sqm.@queue[0].{key}='{value}'"
        for key, value in {
            "interface": "eth1",
            "download": "0",
            "upload": "1800",
            "qdisc": "fq_codel",
            "script": "simplest.qos",
            "linklayer": "atm",
            "overhead": "44",
            "egress_ecn": "NOECN",
        }.items()
    )
    link, remarks = of(shown)
    assert (link["rate"], link["framing_bytes"]) == ("1800000 bit/s", 48)
    assert link["forward"]["ecn"] is False
    assert remarks == ["download = 0: this direction is not shaped and is left out"]


def test_work_grows_with_the_lines_and_no_faster():
    """50,000 lines are calls of Python in proportion: 1.5 million in all, less than a second."""
    one = (
        "qdisc fq_codel 0: dev eth{} root refcnt 2 limit 10240p\n Sent 1 bytes 1 pkt (dropped 0, o"
    )

    def calls(devices: int) -> int:
        text = "\n".join(one.format(n) for n in range(devices))
        profile = cProfile.Profile()
        profile.runcall(of, text, RATE)
        return pstats.Stats(profile).total_calls  # type: ignore[attr-defined]

    calls(10)
    few, many = calls(1_000), calls(4_000)
    assert many < 4.5 * few
    assert many / 8_000 < 40, "calls a line"


def test_a_file_s_name_may_say_qdisc(aqmlab_command, tmp_path):
    file = tmp_path / "my-qdisc-show.txt"
    file.write_text(CAKES, encoding="utf-8")
    answer = aqmlab_command("from-tc", file, "--dev", "pppoe-wan")
    assert answer.returncode == 0, answer.stderr
    assert "46246000 bit/s" in answer.stdout


def test_sfq_has_red_in_its_queues_and_a_new_hash():
    red = "redflowlimit 100000 min 8000 max 60000 probability 0.20 ecn headdrop perturb 10"
    found = queue(f"sfq {red}")
    assert (found["red_min_th"], found["red_max_th"], found["red_max_p"]) == (8.0, 60.0, 0.2)
    assert found["red_ecn"] and found["head_drop"] and found["perturb"] == "10 s"
    # tc's own threshold is a quarter of redflowlimit.
    assert queue("sfq redflowlimit 100000")["red_max_th"] == 25.0
    shown = "qdisc sfq 1: dev eth0 root refcnt 2 limit 127p quantum 1514b"
    assert not [name for name in of(shown, RATE)[0]["forward"] if "red_" in name]
    assert queue("red ecn nodrop limit 1M avpkt 1500 min 100K max 300K")["nodrop"] is True


def test_cake_s_rate_may_follow_an_estimate():
    found = queue("cake bandwidth 10Mbit autorate-ingress")
    assert (found["autorate"], found["rate"]) == (True, "10000000 bit/s")
    assert "autorate" not in queue("cake bandwidth 10Mbit")
