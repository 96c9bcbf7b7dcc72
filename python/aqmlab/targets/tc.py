"""Linux, `tc`: a row for each parameter (iproute2 6.1 to 7, Linux 6.12; read and run)."""

from __future__ import annotations

from dataclasses import replace

from . import tc_lines
from .plan import DEVICE, Lane
from .tc_lines import arrange as arrange
from .tc_lines import undone as undone
from .tc_lines import unsaid as unsaid
from .tc_words import (
    BURST,
    BYTES,
    COUNT,
    EWMA,
    FOUR_TIMES,
    IDLE_RATE,
    MASK,
    MILLISECONDS,
    PACKETS_AS_BYTES,
    PERCENT,
    RATE,
    REAL,
    SELECTOR,
    TIME,
    WHOLE_PERCENT,
    WHOLE_SECONDS,
    in_units,
)
from .words import LINE, Entry, Row, choice, flag, scaled

RELEASE = "iproute2 6.1, Linux 6.12"
DEVICE_MTU = "the device's largest packet with its Ethernet header"
ALWAYS_OFF = "it has no such switch"

GENERAL = (
    "tc counts packets with 14 bytes of Ethernet header: measure with header_bytes = 14 on links",
    "a queue works where packets wait: if a modem or a slower link comes after this device, shape "
    "to a little less than its rate first",
    "offloads (GSO, GRO) make one packet of up to 64 KB of many: a limit in packets then holds "
    "more, a quantum less (ethtool -K DEV gso off gro off; cake splits them by itself)",
    "whether a queue marks is its ecn; whether senders ask for it is theirs: net.ipv4.tcp_ecn = 1, "
    "and net.ipv4.tcp_ecn_fallback gives it up where a handshake with ECN gets no answer",
    "a driver's ring lies behind the queue: without byte queue limits it hides packets from it",
)
"""Pitfalls of all disciplines; the first one is about aqmlab."""

_RED_IDLE = (
    "under TBF or HTB its average never ages while idle: those ask a child only while it holds "
    "packets, so it never learns that it is empty; put RED at the root of the device that is slow"
)
_RED_BURST = (
    "tc takes no w_q: burst chooses w_q, a power of two, with min and avpkt; without burst it is "
    "much larger than RED's usual 0.002"
)
_RED_SHOW = "tc prints w_q (ewma) and probability only with -d, and avpkt never"

_AVERAGE = (
    Row("w_q", "burst", BURST, note="a power of two, chosen through burst", only="write"),
    Row("w_q", "ewma", EWMA, only="read"),
    Row("w_q", "burst", BURST, only="read"),
    Row("max_p", "probability", REAL),
)
_RED = (
    Row("mean_packet_bytes", "avpkt", BYTES),
    Row("limit_bytes", "limit", BYTES),
    Row("limit", "limit", PACKETS_AS_BYTES, only="write"),
    Row("min_th", "min", PACKETS_AS_BYTES),
    Row("max_th", "max", PACKETS_AS_BYTES),
    *_AVERAGE,
    Row("ecn", kind=flag("ecn")),
    Row("gentle", always=False),
)
_RED_ONLY = (
    Row("harddrop", kind=flag("harddrop")),
    Row("nodrop", kind=flag("nodrop")),
    Row("idle_packet_time", "bandwidth", IDLE_RATE),
    Row(LINE, "bandwidth", RATE, only="write"),
    Row("wait", always=False),
    Row("queue_in_bytes", always=True),
    Row("byte_probability", always=False),
    Row("use_mark_p", always=False),
    Row("ns1_compat", always=False),
)
_CODEL = (
    Row("limit", "limit", COUNT),
    Row("target", "target", TIME),
    Row("interval", "interval", TIME),
    Row("ce_threshold", "ce_threshold", TIME),
    Row("ecn", kind=flag("ecn", "noecn")),
    Row("mtu", always=1514, note=DEVICE_MTU),
)
_BYPASS = Row("bypass", always=False, note="below a shaper; at a device's root the kernel has it")
_PIE = (
    Row("limit", "limit", COUNT),
    Row("target", "target", TIME),
    Row("t_update", "tupdate", TIME),
    Row("alpha", "alpha", scaled(16), note="sixteenths"),
    Row("beta", "beta", scaled(16), note="sixteenths"),
    Row("ecn", kind=flag("ecn", "noecn")),
    Row("max_burst", always=0.15),
    Row("cap_drop", always=True),
    Row("derandomise", always=True),
    Row("limit_bytes", note="the limit is in packets"),
)

_CAKE = (
    Row("rate", "bandwidth", RATE),
    Row("autorate", kind=flag("autorate-ingress")),
    # The kernel rounds turns at random, as `whole` does; a queue with `exact` is translated as
    # well.
    Row("turns", always=lambda known: known["turns"]),
    Row(
        "tins",
        kind=choice(
            besteffort="besteffort",
            diffserv3="diffserv3",
            diffserv4="diffserv4",
            diffserv8="diffserv8",
            precedence="precedence",
        ),
    ),
    Row(
        "isolation",
        kind=choice(
            flowblind="flowblind",
            srchost="srchost",
            dsthost="dsthost",
            hosts="hosts",
            flows="flows",
            dual_srchost="dual-srchost",
            dual_dsthost="dual-dsthost",
            triple_isolate="triple-isolate",
        ),
    ),
    Row(
        "ack_filter",
        kind=choice(no="no-ack-filter", filter="ack-filter", aggressive="ack-filter-aggressive"),
    ),
    Row("interval", "rtt", TIME),
    Row("framing", kind=choice(none="noatm", atm="atm", ptm="ptm")),
    Row("overhead", "overhead", BYTES),
    Row("mpu", "mpu", BYTES),
    Row("ingress", kind=flag("ingress", "egress")),
    Row("memory_limit", "memlimit", BYTES, quiet=True),
    Row("target", always=lambda given: given["interval"] / 20, note="a twentieth of rtt"),
    Row("ecn", always=True, note=ALWAYS_OFF),
    Row("mtu", always=1514, note=DEVICE_MTU),
    Row("queues", always=1024),
)
_CAKE_PITFALLS = (
    "without overhead it counts packets as the device does (raw); with it, IP packets and "
    "what is written: pppoe-ptm, bridged-ptm, docsis, ethernet and conservative are names",
    "behind NAT give nat, or all hosts of the house are one",
    "shaping downloads needs an ifb device, ingress there, and a rate below the line's",
)

ENTRIES = (
    Entry(
        "droptail",
        "pfifo_head_drop",
        (Row("limit", "limit", COUNT), Row("limit_bytes", note="it counts packets")),
        profile="normative",
        implies={"from_front": True},
        fits=lambda given: bool(given.get("from_front")),
    ),
    Entry(
        "droptail",
        "bfifo",
        (Row("limit_bytes", "limit", BYTES), Row("limit", note="one limit only")),
        profile="normative",
        implies={"from_front": False},
        fits=lambda given: "limit_bytes" in given,
    ),
    Entry(
        "droptail",
        "pfifo",
        (Row("limit", "limit", COUNT),),
        profile="normative",
        implies={"from_front": False},
    ),
    Entry(
        "red",
        "red",
        (*_RED, *_RED_ONLY),
        profile="linux",
        pitfalls=(_RED_IDLE, _RED_BURST, _RED_SHOW),
    ),
    Entry(
        "ared",
        "red",
        (
            *_RED,
            Row(LINE, "bandwidth", RATE, only="write"),
            Row("ecn_above_max", always="mark_always"),
            Row("units", always="byte"),
        ),
        profile="linux",
        also=("adaptive",),
        pitfalls=(
            "adaptive is taken and printed, but adapts nothing: since 5.7 iproute2 sends it in a "
            "new attribute and the kernel starts its timer by the old one; use red, choose max_p",
            _RED_IDLE,
            _RED_BURST,
            _RED_SHOW,
        ),
    ),
    Entry(
        "choke",
        "choke",
        (
            Row("mean_packet_bytes", "avpkt", BYTES),
            Row("limit", "limit", COUNT),
            Row("min_th", "min", COUNT),
            Row("max_th", "max", COUNT),
            *_AVERAGE,
            Row(LINE, "bandwidth", RATE, only="write"),
            Row("ecn", kind=flag("ecn")),
            Row("harddrop", always=False, note="the kernel has it, tc cannot say it"),
        ),
        profile="linux",
        pitfalls=(_RED_IDLE, _RED_BURST, _RED_SHOW),
    ),
    Entry(
        "codel",
        "codel",
        (*_CODEL, Row("limit_bytes", note="the limit is in packets"), _BYPASS),
        profile="linux",
        pitfalls=("ecn is off unless written, in fq_codel on",),
    ),
    Entry(
        "fq_codel",
        "fq_codel",
        (
            *_CODEL,
            Row("ce_threshold_selector", "ce_threshold_selector", SELECTOR),
            Row("ce_threshold_mask", "ce_threshold_selector", MASK, only="read"),
            Row("flows", "flows", COUNT),
            Row("quantum", "quantum", BYTES),
            Row("limit_bytes", "memory_limit", BYTES, note="of buffers, not of packets"),
            Row("drop_batch", "drop_batch", COUNT),
            _BYPASS,
        ),
        profile="linux",
        pitfalls=(
            "memory_limit counts buffers with their overhead, twice a small packet and more",
            "below about 4 Mbit/s a target of 5 ms is less than a few packets: give about 1.5 "
            "packet times of 1,500 bytes",
        ),
    ),
    Entry(
        "pie",
        "pie",
        (
            *_PIE,
            Row("delay", kind=choice(timestamp="no_dq_rate_estimator", rate="dq_rate_estimator")),
            Row("mark_ecnth", always=0.1),
            Row("mean_packet_bytes", always=1500, note=f"{DEVICE_MTU}; two of them are spared"),
        ),
        profile="linux",
    ),
    Entry(
        "fq_pie",
        "fq_pie",
        (
            *_PIE,
            Row("flows", "flows", COUNT),
            Row("quantum", "quantum", BYTES),
            Row("mark_ecnth", "ecn_prob", PERCENT, note="a whole percentage"),
            Row("mean_packet_bytes", always=1500, note=f"{DEVICE_MTU}; two of them are spared"),
            Row("overload", always="arrival"),
        ),
        profile="linux",
        since="Linux 5.6",
        pitfalls=("memory_limit is counted but refuses nothing",),
    ),
    Entry(
        "sfb",
        "sfb",
        (
            Row("rehash_interval", "rehash", MILLISECONDS),
            Row("warmup_time", "db", MILLISECONDS),
            Row("limit", "limit", COUNT),
            Row("max", "max", COUNT),
            Row("bin_size", "target", COUNT),
            Row("d1", "increment", in_units(65535, 65536)),
            Row("d2", "decrement", in_units(65535, 65536)),
            Row("penalty_rate", "penalty_rate", COUNT),
            Row("penalty_burst", "penalty_burst", COUNT),
            Row("L", always=8),
            Row("N", always=16),
            Row("ecn", always=True, note=ALWAYS_OFF),
        ),
        profile="linux",
        pitfalls=(
            "rehash and db are milliseconds, whatever the manual says",
            "tc's own increment and decrement are half and a quarter of the kernel's: write them",
        ),
    ),
    Entry(
        "sfq",
        "sfq",
        (
            Row("limit", "limit", COUNT),
            Row("depth", "depth", COUNT),
            Row("flows", "flows", COUNT),
            Row("queues", "divisor", COUNT, note="a power of two up to 65536"),
            Row("quantum", "quantum", BYTES),
            Row("head_drop", kind=flag("headdrop")),
            Row("perturb", "perturb", WHOLE_SECONDS),
            _BYPASS,
            Row("red_mean_packet_bytes", "avpkt", BYTES),
            Row(
                "red_max_th",
                "redflowlimit",
                FOUR_TIMES,
                note="tc requires it, the kernel ignores it",
            ),
            Row("red_min_th", "min", PACKETS_AS_BYTES),
            Row("red_max_th", "max", PACKETS_AS_BYTES),
            *(replace(row, ours=f"red_{row.ours}") for row in _AVERAGE),
            Row("red_ecn", kind=flag("ecn")),
            Row("red_harddrop", kind=flag("harddrop")),
        ),
        profile="linux",
        pitfalls=(
            "one flow holds at most depth = 127 packets and there are 127 flows at a time: a limit "
            "above 127 needs depth and flows",
        ),
    ),
    Entry(
        "hhf",
        "hhf",
        (
            Row("limit", "limit", COUNT),
            Row("quantum", "quantum", BYTES),
            Row("hh_limit", "hh_limit", COUNT),
            Row("reset_timeout", "reset_timeout", TIME),
            Row("admit_bytes", "admit_bytes", BYTES),
            Row("evict_timeout", "evict_timeout", TIME),
            Row("non_hh_weight", "non_hh_weight", COUNT),
        ),
    ),
    Entry(
        "cake",
        "cake_mq",
        (*_CAKE, Row("tx_queues", note="as many as the device has: ethtool -l DEV")),
        fits=lambda given: given["tx_queues"] > 1,
        pitfalls=_CAKE_PITFALLS,
        since="Linux 7.3 at the latest",
    ),
    Entry(
        "cake",
        "cake",
        (*_CAKE, Row("tx_queues", always=1)),
        pitfalls=_CAKE_PITFALLS,
        since="Linux 4.19",
    ),
    Entry(
        "dualpi2",
        "dualpi2",
        (
            Row("limit", "limit", COUNT),
            Row("limit_bytes", "memlimit", BYTES),
            Row("target", "target", TIME),
            Row("t_update", "tupdate", TIME),
            Row("alpha", "alpha", REAL),
            Row("beta", "beta", REAL),
            Row("k", "coupling_factor", COUNT, note="a whole number"),
            Row("step", "step_thresh", TIME),
            Row("step_packets", "step_thresh", COUNT, only="write"),
            Row("min_qlen_step", "min_qlen_step", COUNT),
            Row("drop_overload", kind=flag("drop_on_overload", "overflow")),
            Row("any_ect", kind=flag("any_ect", "l4s_ect")),
            Row("drop_enqueue", kind=flag("drop_enqueue", "drop_dequeue")),
            Row("c_weight", "classic_protection", WHOLE_PERCENT),
            Row("mtu", always=1514, note=DEVICE_MTU),
            Row("min_backlog", always=3028, note="two of the device's largest packets"),
        ),
        profile="linux",
        implies={"nqb": False},
        since="Linux 6.17 and iproute2 6.17; read, not run",
        pitfalls=("it wants the senders of the scalable queue to use ECT(1): Prague, not CUBIC",),
    ),
)

REMEDY = "; RED with other curves is red, a discipline in turns is fq_codel or cake"
NATIVE = ("cake", "fq_codel")
"""Disciplines that every distribution's kernel has; the others are modules that some leave out."""


def frame(lane: Lane) -> list[tuple[str, list[str]]]:
    """The lines for a device that is the bottleneck itself, and for one before a slower device."""
    blocks = [("DEV is the slow link itself", tc_lines.at_root(DEVICE, lane.discipline))]
    if lane.entry.aqm == "cake":
        return blocks
    title = f"something slower comes after DEV: shape to {lane.line}"
    return [*blocks, (title, tc_lines.shaped(DEVICE, lane.discipline, lane.line))]
