"""Weighted RED: Cisco IOS documentation; averaging as in May, Bolot, Diot and Lyles, IWQoS 1999.

One average for all classes, thresholds for each. When the average is updated, whether it ages
while the line idles and whether signals are spaced is not documented by Cisco: switches.
"""

import math

from .base import PASS, Fifo, Packet, Parameters, Verdict, drop, grid, ns, packets_in, signal


class Wred(Fifo):
    def setup(self, p: Parameters) -> None:
        self.ecn, self.limit = p.flag("ecn"), p.get("limit", 40)
        self.classes, self.first = int(p.get("classes", 1)), int(p.get("first_class", 0))
        self.w = 2.0 ** -p.get("n", 9)
        high = p.get("max_th", min(self.limit, 4096))
        low = p.get("min_th", high / 2)
        spacing = p.choice("spacing", "even")
        self.profiles = []
        for i in range(9):
            spaced = {
                "even": math.floor(low + i * (high - low) / 9),
                "sixteenths": low + i * high / 16,
                "same": low,
            }[spacing]
            own_high = p.get(f"max_th_{i}", high)
            self.profiles.append(
                (
                    p.get(f"min_th_{i}", spaced if p.given("min_th") else min(spaced, own_high)),
                    own_high,
                    1 / p.get(f"mpd_{i}", p.get("mpd", 10)),
                )
            )
        self.packet_time = self.packet_seconds(p.get("mean_packet_bytes", 1000))
        self.timed = p.choice("update", "arrival") == "timer"
        self.decays, self.uniformise = p.flag("idle_decay", True), p.flag("uniformise")
        self.period = ns(p.get("period", self.packet_time))
        self.due = self.period if self.timed else None
        self.avg, self.counts = 0.0, [-1] * 9
        self.idle_start: float | None = None  # idle, and aged up to here
        self.aged_to: float | None = None

    def sample(self) -> None:
        self.avg = self.avg * (1 - self.w) + len(self.queue) * self.w

    def tick(self, now: int) -> None:
        self.sample()
        self.due = now + self.period

    def judge(self, packet: Packet, now: int) -> Verdict:
        if not self.timed:
            self.aged_to = None
            if self.decays and self.idle_start is not None:
                m = packets_in(now - self.idle_start, self.packet_time)
                self.avg *= (1 - self.w) ** m
                self.aged_to = self.idle_start + m * self.packet_time * 1e9
            else:
                self.sample()
            self.idle_start = None
        i = self.first + packet.flow % self.classes
        low, high, max_p = self.profiles[i]
        if self.avg < low:
            self.counts[i] = -1
            return PASS
        if self.avg > high:
            self.counts[i] = 0
            return drop("forced")
        p = max_p * (self.avg - low) / (high - low) if high > low else max_p
        if self.uniformise:
            self.counts[i] += 1
            c = self.counts[i]
            p = p / (1 - c * p) if c * p < 1 else 1.0
        if self.draws.uniform() < p:
            self.counts[i] = 0
            return signal("early")
        return PASS

    def lost(self, why: str) -> None:
        self.idle_start = self.aged_to  # a line that was idle stays so

    def idle(self, now: int) -> None:
        self.idle_start = now

    def state(self) -> dict[str, float]:
        return {"avg": self.avg}


BUSY = {"max_th": 8, "n": 3, "mpd": 4, "ecn": True}
CASES = [
    {},
    *grid(BUSY, classes=[1, 4, 9], spacing=["even", "sixteenths", "same"]),
    *grid(BUSY, classes=[3], first_class=[0, 5], uniformise=[False, True], limit=[5, 40]),
    *grid(BUSY, update=["timer"], uniformise=[False, True]),
    {**BUSY, "update": "timer", "period": "3 ms"},
    {**BUSY, "update": "timer", "period": "20 us", "n": 1, "max_th": 3, "trial": {"packets": 300}},
    {**BUSY, "idle_decay": False, "min_th": 2, "mean_packet_bytes": 300},
    {**BUSY, "classes": 4, "min_th_0": 1, "max_th_0": 3, "mpd_0": 2, "min_th_1": 5, "max_th_1": 5,
     "mpd_2": 1, "max_th_3": 12},
    {**BUSY, "classes": 2, "max_th_0": 3},
    {**BUSY, "ecn": False, "mean_packet_bytes": 250},
    # The line idles while arrivals are dropped, closer together than packets of the idle clock.
    *grid({"max_th": 4, "n": 7, "trial": {"load": 8}}, mean_packet_bytes=[1000, 3000]),
]  # fmt: skip
