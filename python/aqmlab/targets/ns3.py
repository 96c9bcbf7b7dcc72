"""ns-3: attributes of its queue discs (read in ns-3-dev after release 3.36; not run here)."""

from __future__ import annotations

from collections.abc import Sequence

from .plan import DEVICE, Lane
from .words import LINE, Entry, Given, Kind, Row, number

PROFILE = "ns3"
"""The profile of aqmlab that models ns-3's implementation."""

RELEASE = "as read in ns-3-dev after release 3.36"
GENERAL = (
    "a queue disc works only while the device's own queue is short: set its MaxSize to 1p, or "
    "BQL keeps it short",
    "ns-3's packets in a queue disc have no link header yet, as ours with header_bytes = 0",
)
REMEDY = ""


def _value(of: str, text: str) -> str:
    return f"{of}Value({text})"


def _whole(value: float, _: Given) -> str:
    return _value("Uinteger", str(round(value)))


def _inner(text: str) -> str:
    return text.partition("(")[2].rstrip(")").strip('"')


def _quoted(of: str, unit: str, scale: float) -> Kind:
    return Kind(
        lambda value, _: _value(of, f'"{number(value * scale)}{unit}"'),
        lambda text, _: float(_inner(text).removesuffix(unit)) / scale,
    )


REAL = Kind(lambda value, _: _value("Double", number(value)), lambda text, _: float(_inner(text)))
WHOLE = Kind(_whole, lambda text, _: int(_inner(text)))
SWITCH = Kind(
    lambda value, _: _value("Boolean", str(value).lower()), lambda text, _: _inner(text) == "true"
)
TIME = Kind(
    lambda value, _: _value("Time", f'"{number(value * 1e3)}ms"'),
    lambda text, _: float(_inner(text).removesuffix("ms")) / 1e3,
)
STRING_TIME = _quoted("String", "ms", 1e3)
PACKETS = _quoted("QueueSize", "p", 1)
BYTES = _quoted("QueueSize", "B", 1)
RATE = _quoted("DataRate", "bps", 1)
INVERSE = Kind(
    lambda value, _: _value("Double", number(1 / value)), lambda text, _: 1 / float(_inner(text))
)
ESTIMATOR = Kind(
    lambda value, _: _value("Boolean", "true" if value == "rate" else "false"),
    lambda text, _: "rate" if _inner(text) == "true" else "timestamp",
)


def _in_unit(given: Given) -> float:
    """The factor from packets to ns-3's thresholds, which are in the unit of MaxSize."""
    return given.get("mean_packet_bytes", 500) if given.get("queue_in_bytes") else 1


THRESHOLD = Kind(
    lambda value, given: _value("Double", number(value * _in_unit(given))),
    lambda text, given: float(_inner(text)) / _in_unit(given),
)
IDLE_RATE = Kind(
    lambda value, given: _value(
        "DataRate", f'"{number(8 * given["mean_packet_bytes"] / value)}bps"'
    ),
    lambda text, given: 8 * given["mean_packet_bytes"] / float(_inner(text).removesuffix("bps")),
)

RATE_UNLESS_NS3 = Kind(
    # The profile `ns3` keeps ns-3's default of 1.5 Mb/s, which a script gets that does not set it.
    lambda value, given: "" if given.get("profile") == PROFILE else RATE.write(value, given),
    RATE.read,
)
_SIZE = (Row("limit_bytes", "MaxSize", BYTES), Row("limit", "MaxSize", PACKETS))
_RED = (
    *_SIZE,
    Row("min_th", "MinTh", THRESHOLD),
    Row("max_th", "MaxTh", THRESHOLD),
    Row("w_q", "QW", REAL),
    Row("max_p", "LInterm", INVERSE),
    Row("gentle", "Gentle", SWITCH),
    Row("mean_packet_bytes", "MeanPktSize", WHOLE),
    Row("ecn", "UseEcn", SWITCH),
)
_RED_ONLY = (
    Row("wait", "Wait", SWITCH),
    Row("harddrop", "UseHardDrop", SWITCH),
    Row("ns1_compat", "Ns1Compat", SWITCH),
    Row("idle_packet_time", "LinkBandwidth", IDLE_RATE),
    Row(LINE, "LinkBandwidth", RATE_UNLESS_NS3),
    Row("byte_probability", always=lambda given: bool(given.get("queue_in_bytes"))),
    Row("use_mark_p", always=False),
    Row("nodrop", always=False),
    Row("queue_in_bytes", always=lambda given: "limit_bytes" in given, note="MaxSize's unit"),
)
_BANDWIDTH = (
    "LinkBandwidth is 1.5 Mb/s unless it is set, whatever the line: the average then ages too "
    "slowly while a faster line idles"
)
_CODEL = (
    Row("ce_threshold", "CeThreshold", TIME),
    Row("ecn", "UseEcn", SWITCH),
)
_BYPASS = Row("bypass", always=False)
_CODEL_ALONE = (
    *_SIZE,
    Row("target", "Target", STRING_TIME),
    Row("interval", "Interval", STRING_TIME),
    *_CODEL,
)
_PIE = (
    Row("target", "QueueDelayReference", TIME),
    Row("t_update", "Tupdate", TIME),
    Row("alpha", "A", REAL),
    Row("beta", "B", REAL),
    Row("max_burst", "MaxBurstAllowance", TIME),
    Row("mean_packet_bytes", "MeanPktSize", WHOLE),
    Row("cap_drop", "UseCapDropAdjustment", SWITCH),
    Row("derandomise", "UseDerandomization", SWITCH),
    Row("mark_ecnth", "MarkEcnThreshold", REAL),
    Row("ecn", "UseEcn", SWITCH),
)
_BURST = "MaxBurstAllowance is 15 ms in ns-3's code, 150 ms in RFC 8033: write it"

ENTRIES = (
    Entry("droptail", "FifoQueueDisc", _SIZE, implies={"from_front": False}),
    Entry("red", "RedQueueDisc", (*_RED, *_RED_ONLY), profile=PROFILE, pitfalls=(_BANDWIDTH,)),
    Entry(
        "ared",
        "RedQueueDisc",
        (
            *_RED,
            Row("alpha", "Alpha", REAL),
            Row("beta", "Beta", REAL),
            Row("top", "Top", REAL),
            Row("bottom", "Bottom", REAL),
            Row("interval", "Interval", TIME),
            Row("target_delay", "TargetDelay", TIME),
            Row("units", always=lambda given: "byte" if "limit_bytes" in given else "packet"),
            Row("ecn_above_max", always="mark_in_gentle", note="UseHardDrop decides it"),
            Row(LINE, "LinkBandwidth", RATE),
        ),
        profile=PROFILE,
        also=("AdaptMaxP", "BooleanValue(true)"),
        pitfalls=(
            "ARED = true overrides thresholds and weight that are written; AdaptMaxP alone does "
            "not",
            _BANDWIDTH,
        ),
    ),
    Entry(
        "codel", "CoDelQueueDisc", (*_CODEL_ALONE, Row("mtu", "MinBytes", WHOLE), _BYPASS), PROFILE
    ),
    Entry(
        "fq_codel",
        "FqCoDelQueueDisc",
        (
            Row("limit", "MaxSize", PACKETS),
            Row("target", "Target", STRING_TIME),
            Row("interval", "Interval", STRING_TIME),
            *_CODEL,
            Row("flows", "Flows", WHOLE),
            Row("drop_batch", "DropBatchSize", WHOLE),
            Row("limit_bytes"),
            Row("quantum", always=1500, note="the device's MTU, or SetQuantum"),
            Row("mtu", always=1500),
            _BYPASS,
            Row("ce_threshold_selector", always=0, note="UseL4s is 1 with mask 3"),
            Row("ce_threshold_mask", always=0, note="UseL4s is 1 with mask 3"),
        ),
        PROFILE,
    ),
    Entry(
        "pie",
        "PieQueueDisc",
        (*_SIZE, *_PIE, Row("delay", "UseDequeueRateEstimator", ESTIMATOR)),
        pitfalls=(_BURST,),
    ),
    Entry(
        "fq_pie",
        "FqPieQueueDisc",
        (
            Row("limit", "MaxSize", PACKETS),
            *_PIE,
            Row("flows", "Flows", WHOLE),
            Row("overload", always="fattest"),
            Row("quantum", always=1500, note="the device's MTU, or SetQuantum"),
        ),
        pitfalls=(_BURST,),
    ),
    Entry(
        "cobalt",
        "CobaltQueueDisc",
        (
            *(row for row in _CODEL_ALONE if row.ours != "ce_threshold"),
            Row("p_inc", "Increment", REAL),
            Row("p_dec", "Decrement", REAL),
            Row("blue_threshold", "BlueThreshold", TIME),
            Row("mtu"),
        ),
        PROFILE,
    ),
)


NATIVE = tuple(entry.aqm for entry in ENTRIES)


def frame(lane: Lane) -> list[tuple[str, list[str]]]:
    """The lines that install a root queue disc on the line's device."""
    lines = _helper("tch", lane.entry, lane.words, "devices")
    return [(f"C++, before the addresses are assigned; a line of {lane.line}", lines)]


def arrange(lanes: Sequence[Lane], dev: str = DEVICE) -> list[tuple[str, list[str]]]:
    """The lines that install a root queue disc at each end of the link; the first device sends the
    downloads."""
    del dev
    blocks = []
    for lane in lanes:
        lines = _helper(lane.way, lane.entry, lane.words, f"devices.Get({0 if lane.down else 1})")
        title = f"C++, {lane.way}, before the addresses are assigned; a line of {lane.line}"
        blocks.append((title, lines))
    return blocks


def unsaid(lane: Lane) -> list[str]:
    """Properties of the line that a queue disc cannot express."""
    if not lane.shaped:
        return []
    return ["a queue disc is no shaper: the link itself has this rate (DataRate of the device)"]


def undone(lanes: Sequence[Lane], dev: str) -> str:
    """Empty, since the lines are the source of a program."""
    del lanes, dev
    return ""


def _helper(name: str, entry: Entry, words: list[str], devices: str) -> list[str]:
    pairs = zip(words[::2], words[1::2], strict=True)
    settings = [f'    "{word}", {value},' for word, value in pairs]
    if settings:
        settings[-1] = f"{settings[-1][:-1]});"
    head = f'{name}.SetRootQueueDisc("ns3::{entry.name}"' + ("," if settings else ");")
    return [f"TrafficControlHelper {name};", head, *settings, f"{name}.Install({devices});"]
