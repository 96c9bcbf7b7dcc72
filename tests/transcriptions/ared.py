"""Adaptive RED: Floyd, Gummadi and Shenker, ICSI technical report, 2001, sections 4 and 5.

Profiles: the report (`floyd`, on the RED of 1993), ns-2.35 `queue/red.cc` (`initialize_params`,
`updateMaxP`), ns-3, ALTQ's RED in real numbers, and Linux (`red_adaptative_algo`, on a timer).
"""

import math

from ._red_altq import RealAltqRed
from ._red_linux import LinuxRed, wlog_for
from ._red_ns import NsRed
from ._red_paper import PaperRed
from .base import Fifo, Packet, Parameters, Verdict, drop, grid, ns, signal

ONE_PERCENT = (2**32 + 50) // 100


class Ared(Fifo):
    looks_again = True

    def setup(self, p: Parameters) -> None:
        self.profile = p.choice("profile", "floyd")
        self.ecn = p.flag("ecn")
        if self.profile == "linux":
            self.setup_linux(p)
        else:
            self.setup_others(p)

    def setup_others(self, p: Parameters) -> None:
        ns23 = self.profile in ("ns2", "ns3")
        mean = p.get("mean_packet_bytes", 500 if ns23 else 1000)
        capacity = self.rate / 8 / mean
        low = p.get("min_th", max(5, p.get("target_delay", 0.005) * capacity / 2))
        high = p.get("max_th", 3 * low)
        rule = p.choice("automatic_w_q", "ten-rtt" if self.profile == "ns2" else "second")
        memory = {
            "second": capacity,
            "ten-rtt": 10 * max(0.1, 3 / capacity) * capacity,
            "tenth-second": capacity / 10,
        }[rule]
        w = p.get("w_q", 1 - math.exp(-1 / memory))
        max_p = p.get("max_p", 0.02 if self.profile == "ns3" else 0.1)
        default = {"floyd": 0.01, "altq": 0.01, "ns2": min(0.01, 80000 / self.rate),
                   "ns3": min(0.01, 0.1 * self.packet_seconds(mean))}  # fmt: skip
        self.bottom = p.get("bottom", default[self.profile])
        self.top, self.alpha, self.beta = (
            p.get("top", 0.5),
            p.get("alpha", 0.01),
            p.get("beta", 0.9),
        )
        self.interval = ns(p.get("interval", 0.5))
        self.last_set: int | None = None
        self.bytewise = p.choice("units", "byte" if self.profile == "ns2" else "packet") == "byte"
        # Nothing: as the random test of ns-2 and ns-3 has it, marks below the certain drops.
        self.above = p.choice("ecn_above_max", "" if ns23 else "drop")
        use_mark_p = self.profile == "ns2" and p.flag("use_mark_p", not self.above)
        gentle = p.flag("gentle", True)
        unit = mean if self.bytewise else 1.0
        self.low, self.high = low * unit, high * unit
        s = self.packet_seconds(mean)
        if ns23:
            self.red = NsRed(
                self.draws, low, high, w, max_p, gentle=gentle, hard=not self.above, s=s, wait=True,
                mean=mean, in_bytes=self.bytewise, scaled=self.bytewise,
                mark_p=0.1 if use_mark_p else None,
                forgets=("forced", "overflow") if self.profile == "ns2" else (),
            )  # fmt: skip
            self.red.gentle_max_p = max_p
        elif self.profile == "altq":
            self.red = RealAltqRed(
                self.draws, low, high, w, max_p, gentle=gentle, hard=False, s=s, mean=mean,
                in_bytes=self.bytewise,
            )  # fmt: skip
        else:
            largest = p.get("max_packet_bytes", 1500)
            self.red = PaperRed(
                self.draws, self.low, self.high, w, max_p, gentle=gentle, hard=False, s=s,
                unit=unit, largest=largest if self.bytewise else None,
            )  # fmt: skip
        self.red.adapt = self.adapt
        limit = p.get("limit", {"ns2": 50, "ns3": 25}.get(self.profile, max(4 * high, 60)))
        if self.bytewise:
            self.limit_bytes = p.get("limit_bytes", limit * mean)
        else:
            self.limit = limit

    def adapt(self, avg: float, now: int) -> None:
        if self.last_set is None:
            self.last_set = now
        if now <= self.last_set + self.interval:
            return
        part, red = 0.4 * (self.high - self.low), self.red
        if avg < self.low + part and red.max_p > self.bottom:
            red.max_p *= self.beta
            self.last_set = now
        elif avg > self.high - part and red.max_p < self.top:
            red.max_p += min(self.alpha, 0.25 * red.max_p)
            self.last_set = now

    def setup_linux(self, p: Parameters) -> None:
        mean = p.get("mean_packet_bytes", 1000)
        self.limit_bytes = p.get("limit_bytes", p.get("limit", 60) * mean)
        quarter = self.limit_bytes / mean / 4
        high = p.get("max_th", 3 * p.get("min_th") if p.given("min_th") else quarter)
        low = p.get("min_th", high / 3)
        wlog = round(-math.log2(p.get("w_q"))) if p.given("w_q") else wlog_for(low, high)
        self.red = LinuxRed(
            self.draws, low, high, wlog, p.get("max_p", 0.02), mean=mean,
            packet_us=self.packet_seconds(mean) * 1e6,
        )  # fmt: skip
        self.low, self.high = self.red.low << wlog, self.red.high << wlog
        self.above = p.choice("ecn_above_max", "mark_always")
        self.bytewise = True
        self.due = ns(0.5)

    def tick(self, now: int) -> None:
        red = self.red
        assert isinstance(red, LinuxRed)
        avg = (red.avg if red.idle_start is None else red.aged(now)) >> red.wlog
        fifth = (red.high - red.low) // 5
        if avg > red.low + 3 * fifth and red.max_p <= 50 * ONE_PERCENT:
            red.max_p += min(ONE_PERCENT, red.max_p // 4)
        elif avg < red.low + 2 * fifth and red.max_p >= ONE_PERCENT:
            red.max_p = red.max_p // 10 * 9
        delta = red.high - red.low
        red.per_byte = max((red.max_p + delta // 2) // delta, 1)
        self.due = now + ns(0.5)

    def judge(self, packet: Packet, now: int) -> Verdict:
        if isinstance(self.red, RealAltqRed):
            verdict = self.red.arrive(packet.bytes, len(self.queue), self.bytes, now)
        else:
            q = self.bytes if self.bytewise else len(self.queue)
            verdict = self.red.arrive(packet.bytes, q, now)
        if verdict is None or not self.above or self.red.avg < self.high:
            return verdict
        # The guideline of 2001 drops ECN-capable packets above max_th; Le et al. reverse it.
        marks = self.above == "mark_always"
        marks |= self.above == "mark_in_gentle" and self.red.avg < 2 * self.high
        return signal(verdict[1]) if marks else drop(verdict[1])

    def fits(self, packet: Packet) -> bool:
        if self.profile == "ns2":
            return len(self.queue) < self.limit and self.bytes < self.limit_bytes
        return super().fits(packet)

    def lost(self, why: str) -> None:
        self.red.lost(why)

    def idle(self, now: int) -> None:
        self.red.idle(now)

    def state(self) -> dict[str, float]:
        scale = 2**32 if self.profile == "linux" else 1
        return {**self.red.state(), "max_p": self.red.max_p / scale}


BUSY = {"min_th": 2, "max_th": 6, "w_q": 1 / 16, "ecn": True}
STEPS = {**BUSY, "interval": "10 ms"}
CASES = [
    # The line idles while arrivals are dropped, closer together than packets of the idle clock.
    *grid({"min_th": 2, "max_th": 4, "w_q": 0.01, "trial": {"load": 8}}, gentle=[False, True]),
    *grid({"trial": {"load": 1.5}}, profile=["floyd", "ns2", "ns3", "altq", "linux"]),
    *grid(STEPS, profile=["altq"], units=["packet", "byte"],
          ecn_above_max=["drop", "mark_in_gentle", "mark_always"]),
    *grid(STEPS, profile=["altq"], units=["packet", "byte"], gentle=[False]),
    *grid({"profile": "altq", "min_th": 2, "max_th": 4, "w_q": 0.01, "trial": {"load": 8}},
          gentle=[False, True], units=["packet", "byte"]),
    *grid(STEPS, units=["packet", "byte"], gentle=[True],
          ecn_above_max=["drop", "mark_in_gentle", "mark_always"]),
    *grid(STEPS, units=["packet", "byte"], gentle=[False], ecn_above_max=["drop", "mark_always"]),
    *grid(STEPS, profile=["ns2", "ns3"], units=["packet", "byte"],
          ecn_above_max=["drop", "mark_in_gentle", "mark_always"]),
    *grid(STEPS, profile=["ns2"], use_mark_p=[False, True], units=["packet", "byte"]),
    *grid({"interval": "20 ms", "alpha": 0.02, "beta": 0.5, "trial": {"load": 1.2}},
          profile=["floyd", "ns3"], automatic_w_q=["second", "ten-rtt", "tenth-second"],
          target_delay=["2 ms", "20 ms"]),
    *grid({**BUSY, "trial": {"load": 1.5}}, profile=["linux"],
          ecn_above_max=["drop", "mark_always"], limit=[9, 60]),
]  # fmt: skip
