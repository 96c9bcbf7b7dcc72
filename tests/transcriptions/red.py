"""RED: Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993, and five implementations of it.

The judges are in `_red_paper`, `_red_ns`, `_red_altq` and `_red_linux`; here are their settings
and limits, and who hears of which drop.
"""

import math

from ._red_altq import AltqRed
from ._red_linux import LinuxRed, wlog_for
from ._red_ns import NsRed
from ._red_paper import PaperRed
from .base import Fifo, Packet, Parameters, Verdict, grid

# min_th, max_th, w_q, max_p: Järvinen et al., Harsh RED, Table I.
PRESETS = {
    "edge-red": (3, 9, 0.002, 0.1),
    "edge-hred": (3, 40, 0.2, 0.65),
    "hspa-red": (5, 20, 0.002, 0.1),
    "hspa-hred": (3, 50, 0.02, 0.65),
}


class Red(Fifo):
    looks_again = True
    overhang = False

    def setup(self, p: Parameters) -> None:
        preset = PRESETS.get(p.choice("preset", ""))
        self.profile = p.choice("profile", "ns2-fixed" if preset else "fj93")
        self.ecn = p.flag("ecn")
        self.in_bytes = p.flag("queue_in_bytes", self.profile in ("ns2", "linux"))
        if self.profile == "ns3":
            self.in_bytes = p.flag("queue_in_bytes", p.given("limit_bytes"))
        if preset:
            self.ns2(p, *preset, limit=6 * preset[1])
        else:
            getattr(self, self.profile.replace("-fixed", ""))(p)

    def fj93(self, p: Parameters) -> None:
        self.room(p, 60, bytes_too=True)
        mean = p.get("mean_packet_bytes", 1000)
        unit = mean if self.in_bytes else 1.0
        largest = p.get("max_packet_bytes", 1500)
        self.red = PaperRed(
            self.draws, p.get("min_th", 5) * unit, p.get("max_th", 15) * unit,
            p.get("w_q", 0.002), p.get("max_p", 0.02), gentle=p.flag("gentle"),
            hard=p.flag("harddrop", True), s=p.get("idle_packet_time", self.packet_seconds(mean)),
            unit=unit, largest=largest if p.flag("byte_probability") else None,
        )  # fmt: skip

    def ns2(self, p: Parameters, low: float = 0, high: float = 0, w: float = 0,
            max_p: float = 0.1, limit: float = 50) -> None:  # fmt: skip
        fixed = self.profile == "ns2-fixed"
        mean = p.get("mean_packet_bytes", 500)
        s = p.get("idle_packet_time", self.packet_seconds(mean))
        capacity = 1 / self.packet_seconds(mean)
        low = p.get("min_th", low or max(5, 0.005 * capacity / 2))
        memory = 10 * max(0.1, 3 / capacity) * capacity
        use_mark_p = not fixed and p.flag("use_mark_p", True)
        self.red = NsRed(
            self.draws, low, p.get("max_th", high or 3 * low),
            p.get("w_q", w or 1 - math.exp(-1 / memory)), p.get("max_p", max_p),
            gentle=p.flag("gentle", not fixed), hard=True, s=s, wait=p.flag("wait", True),
            mean=mean, in_bytes=self.in_bytes, scaled=p.flag("byte_probability", True),
            mark_p=p.get("mark_p", 0.1) if use_mark_p else None, fixed=fixed,
            forgets=() if p.flag("ns1_compat") else ("forced", "overflow"),
        )  # fmt: skip
        self.room(p, limit, mean if self.in_bytes or fixed else None)
        self.overhang = not fixed

    def ns3(self, p: Parameters) -> None:
        mean = p.get("mean_packet_bytes", 500)
        self.red = NsRed(
            self.draws, p.get("min_th", 5), p.get("max_th", 15), p.get("w_q", 0.002),
            p.get("max_p", 0.02), gentle=p.flag("gentle", True), hard=p.flag("harddrop", True),
            s=p.get("idle_packet_time", mean * 8 / 1.5e6), wait=p.flag("wait", True), mean=mean,
            in_bytes=self.in_bytes, scaled=p.flag("byte_probability", self.in_bytes),
            forgets=("forced",) if p.flag("ns1_compat") else (),
        )  # fmt: skip
        self.room(p, 25, mean if self.in_bytes else None)

    def altq(self, p: Parameters) -> None:
        us = 800.0
        if p.given("mean_packet_bytes"):
            us = self.packet_seconds(p.get("mean_packet_bytes")) * 1e6
        us = p.get("idle_packet_time", us / 1e6) * 1e6
        per_s = 1_000_000 // round(us)
        w = 1 / 64 if per_s < 50 else 1 / 128 if per_s < 300 else 1 / 512
        high = p.get("max_th", 15)
        self.red = AltqRed(
            self.draws, p.get("min_th", 5), high, p.get("w_q", w), p.get("max_p", 0.1),
            packet_us=round(us),
        )  # fmt: skip
        self.limit = max(p.get("limit", 60), high)

    def linux(self, p: Parameters) -> None:
        self.nodrop = p.flag("nodrop")
        mean = p.get("mean_packet_bytes", 1000)
        self.room(p, 60, mean)
        high = 3 * p.get("min_th") if p.given("min_th") else self.limit_bytes / mean / 4
        high = p.get("max_th", high)
        low = p.get("min_th", high / 3)
        wlog = round(-math.log2(p.get("w_q"))) if p.given("w_q") else wlog_for(low, high)
        self.red = LinuxRed(
            self.draws, low, high, wlog, p.get("max_p", 0.02), mean=mean,
            packet_us=p.get("idle_packet_time", self.packet_seconds(mean)) * 1e6,
            hard=p.flag("harddrop"),
        )  # fmt: skip

    def room(self, p: Parameters, limit: float, mean: float | None = None,
             bytes_too: bool = False) -> None:  # fmt: skip
        """The limit: in packets, unless `mean` turns it into bytes or `limit_bytes` is written."""
        if p.given("limit_bytes"):
            self.limit_bytes = p.get("limit_bytes")
            self.limit = p.get("limit", 60) if bytes_too and p.given("limit") else math.inf
        elif mean:
            self.limit_bytes = p.get("limit", limit) * mean
        else:
            self.limit = p.get("limit", limit)

    def fits(self, packet: Packet) -> bool:
        if self.overhang:  # ns-2: some space must be left, and the tail may hang over it
            return len(self.queue) < self.limit and self.bytes < self.limit_bytes
        return super().fits(packet)

    def judge(self, packet: Packet, now: int) -> Verdict:
        q = self.bytes if self.in_bytes else len(self.queue)
        return self.red.arrive(packet.bytes, q, now)

    def signalled(self, marked: bool) -> None:
        if isinstance(self.red, AltqRed):
            self.red.signalled()

    def lost(self, why: str) -> None:
        self.red.lost(why)

    def idle(self, now: int) -> None:
        self.red.idle(now)

    def state(self) -> dict[str, float]:
        return self.red.state()


BUSY = {"min_th": 2, "max_th": 6, "w_q": 1 / 16, "max_p": 0.1}
CASES = [
    {},
    *grid(BUSY, profile=["fj93"], gentle=[False, True], ecn=[True], harddrop=[False, True]),
    *grid(BUSY, profile=["fj93"], queue_in_bytes=[False, True], byte_probability=[True]),
    {**BUSY, "profile": "fj93", "limit": 12, "limit_bytes": 9000, "mean_packet_bytes": 700},
    {**BUSY, "profile": "fj93", "idle_packet_time": "0.3 ms", "ecn": True},
    # An average still above max_th when the queue is empty: arrivals are dropped at an idle line,
    # closer together than packets of the idle clock.
    *grid({"min_th": 2, "max_th": 4, "w_q": 0.01, "trial": {"load": 8}},
          profile=["fj93", "ns2-fixed", "ns3"], mean_packet_bytes=[1000, 3000]),
    {"profile": "linux", "min_th": 2, "max_th": 4, "w_q": 1 / 128, "trial": {"load": 8}},
    # An average that is the queue itself meets the thresholds exactly.
    *grid({**BUSY, "w_q": 1, "ecn": True}, profile=["fj93", "ns3", "altq"]),
    {**BUSY, "profile": "altq", "w_q": 1, "max_p": 1, "ecn": True},
    *grid({"trial": {"load": 1.5}, "w_q": 1 / 8}, profile=["ns2", "ns2-fixed", "altq", "linux"]),
    {"profile": "linux", "min_th": 1, "max_th": 20, "mean_packet_bytes": 40, "max_p": 1,
     "w_q": 1 / 64},
    *grid({}, profile=["ns2", "ns2-fixed", "ns3", "altq", "linux"]),
    *grid(BUSY, profile=["ns2"], use_mark_p=[False, True], gentle=[False, True], ecn=[True]),
    *grid(BUSY, profile=["ns2"], queue_in_bytes=[False], wait=[False, True], ns1_compat=[True]),
    *grid(BUSY, profile=["ns2"], byte_probability=[False], mark_p=[0.03, 0.5], ecn=[True]),
    *grid(BUSY, profile=["ns2-fixed"], queue_in_bytes=[False, True], gentle=[False, True],
          ecn=[True]),
    {**BUSY, "profile": "ns2-fixed", "ns1_compat": True, "wait": False, "limit": 9},
    *grid({"ecn": True}, preset=list(PRESETS)),
    *grid(BUSY, profile=["ns3"], gentle=[False, True], harddrop=[False, True], ecn=[True]),
    *grid(BUSY, profile=["ns3"], limit_bytes=[9000], wait=[False, True], ns1_compat=[True]),
    {**BUSY, "profile": "ns3", "queue_in_bytes": True, "limit": 9},
    *grid(BUSY, profile=["altq"], ecn=[False, True], limit=[9]),
    {**BUSY, "profile": "altq", "mean_packet_bytes": 300},
    *grid({"profile": "altq"}, idle_packet_time=["10 ms", "30 ms"]),
    *grid(BUSY, profile=["linux"], ecn=[True], harddrop=[False, True], limit=[9]),
    *grid(BUSY, profile=["linux"], ecn=[True], harddrop=[False, True], nodrop=[True]),
    *grid({"profile": "linux", "limit_bytes": 12000}, mean_packet_bytes=[300, 500]),
]  # fmt: skip
