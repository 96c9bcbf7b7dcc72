"""RED-PD: Mahajan, Floyd and Wetherall, ICNP 2001; ns-2.35 `queue/red-pd.cc` and
`tcl/ex/red-pd/monitoring.tcl` (do_detect, do_reward).

Flows that RED's own drops show to be fast, in K of the last N lists, are monitored: a pre-filter
drops their packets with a probability that grows while RED still hits them.
"""

from __future__ import annotations

import math
from collections import deque

from ._red_ns import NsRed
from ._red_paper import PaperRed
from .base import Fifo, Packet, Parameters, Verdict, drop, grid, ns

GATE = 0.001  # the rate of drops above which probabilities are raised
REWARD_AFTER = 1_000_000  # ns behind an interval's end


class Flow:
    """What is known of a flow: ns-2's flow monitor and `mon_flow_hist_`."""

    P = 0.0  # 0: not monitored
    arrived = lost = filtered = 0  # bytes in this interval; `lost` to RED
    count = 0
    changed = -math.inf  # when P was, ns
    unresponsive = False

    def __init__(self) -> None:
        self.history: deque[tuple[float, float]] = deque(maxlen=5)  # arrival and loss rates

    def hit(self, u: float) -> bool:
        """modify_p without wait."""
        return u < (self.P / (1 - self.count * self.P) if self.count * self.P < 1 else 1.0)

    def judge_response(self) -> None:
        """A flow that sends more than sqrt(p1/p2) of its rate under the higher loss is bad."""
        good = bad = 0
        for rate1, p1 in self.history:
            for rate2, p2 in self.history:
                if 0.1 * p2 < p1 < p2:
                    worse = rate2 / rate1 > math.sqrt(p1 / p2)
                    good, bad = good + (not worse), bad + worse
        enough = 3 if good == 0 else 4 * good
        if bad >= enough:
            self.unresponsive = True

    def punish(self, r: float, u: float, elapsed: int, now: int, test: bool) -> None:
        """What RED drops of the flow is r, its share of the usable drop rate u."""
        if not self.P:
            self.P = min(r, 2 * u, 0.5)
        else:
            if test:
                self.judge_response()
            times = 3 if self.unresponsive else 2
            raised = self.P * times if r > self.P else self.P + r * (times - 1)
            self.P = raised if raised <= 1 else 1 - (1 - self.P) / times
        losses = (self.lost + self.filtered) / self.arrived
        self.history.append((self.arrived / elapsed * 1e9, losses))
        self.changed = now

    def reward(self, now: int) -> None:
        stop, high, divisor = (0.0025, 0.075, 1.5) if self.unresponsive else (0.005, 0.1, 2)
        if stop >= self.P:
            self.P, self.count, self.unresponsive = 0.0, 0, False
            self.history.clear()
        else:
            self.P = self.P / divisor if high >= self.P else self.P - 0.05
        self.changed = now


class RedPd(Fifo):
    looks_again = True
    unseen = False

    def setup(self, p: Parameters) -> None:
        self.K, self.N = int(p.get("K", 3)), int(p.get("N", 5))
        self.R = p.get("R", 0.04)
        self.max_listed = int(p.get("max_listed", 50))
        self.unresponsive_test = p.flag("unresponsive_test", True)
        self.noidle = p.flag("noidle")
        self.ecn = p.flag("ecn")
        self.limit = p.get("limit", 100)
        self.min_th, high = p.get("min_th", 10), p.get("max_th", 33)
        w, max_p = p.get("w_q", 0.002), p.get("max_p", 0.1)
        gentle, mean = p.flag("gentle", True), p.get("mean_packet_bytes", 1000)
        s = self.packet_seconds(mean)
        if p.choice("inner", "ns2") == "ns2":
            self.red: NsRed | PaperRed = NsRed(
                self.draws, self.min_th, high, w, max_p, gentle=gentle, hard=True, s=s, wait=True,
                mean=mean, forgets=("forced", "overflow"),
            )  # fmt: skip
        else:
            self.red = PaperRed(
                self.draws, self.min_th, high, w, max_p, gentle=gentle, hard=True, s=s
            )
        self.lists: deque[dict[Flow, int]] = deque(maxlen=self.N)
        self.intervals: deque[int] = deque(maxlen=5)  # up to the one that runs
        self.flows: dict[int, Flow] = {}
        self.places: list[int] = []
        self.free: list[int] = []
        self.ambient: float | None = None
        self.arrived = self.dropped_bytes = self.began = 0
        self.detect_at = self.due = ns(10 * self.R)
        self.shown = {"monitored": 0, "p_f": 0.0}

    # At arrivals: RedPDQueue::enque.

    def judge(self, packet: Packet, now: int) -> Verdict:
        self.size, q = packet.bytes, len(self.queue)
        self.flow = flow = self.find(packet.flow)
        flow.arrived += self.size
        self.filtered = False
        if flow.P:
            hit, crowded = flow.hit(self.draws.uniform()), q > 1
            allowed = crowded and self.red.avg >= self.min_th
            if flow.unresponsive:
                allowed = crowded or not self.noidle
            if hit and allowed:
                self.filtered = True
                self.unseen = (
                    self.resting
                )  # RED does not hear of it, nor its idle clock (ns-2: does)
                flow.count = 0
                flow.filtered += self.size
                return drop("early")
            flow.count += 1
        self.arrived += self.size
        return self.red.arrive(self.size, q, now)

    def find(self, number: int) -> Flow:
        """The simulator's table, by whose order flows that lost equally much are listed: a new
        flow takes the place that was given up last."""
        if number not in self.flows:
            self.flows[number] = Flow()
            if self.free:
                self.places[self.free.pop()] = number
            else:
                self.places.append(number)
        return self.flows[number]

    def forget(self, now: int) -> None:
        for place, number in enumerate(self.places):
            flow = self.flows.get(number)
            recent = flow and now - flow.changed < ns(40 * self.R + 0.4)
            listed = any(flow in entries for entries in self.lists)
            if flow and not (flow.arrived or flow.P or recent or listed):
                del self.flows[number]
                self.places[place] = -1
                self.free.append(place)

    def signalled(self, marked: bool) -> None:
        if marked:
            self.note_drop()

    def lost(self, why: str) -> None:
        if not self.filtered:
            self.note_drop()
            self.red.lost(why)

    def note_drop(self) -> None:
        """Whatever RED or the buffer drops, and what RED marks."""
        self.dropped_bytes += self.size
        self.flow.lost += self.size

    def idle(self, now: int) -> None:
        if not self.unseen:
            self.red.idle(now)
        self.unseen = False

    # At the end of an interval, and 1 ms later.

    def tick(self, now: int) -> None:
        if now == self.detect_at:
            self.detect(now)
            self.due = now + REWARD_AFTER
        else:
            self.reward(now)
            self.due = self.detect_at
        monitored = [flow.P for flow in self.flows.values() if flow.P]
        self.shown = {"monitored": len(monitored), "p_f": max(monitored, default=0.0)}

    def rested(self, flow: Flow, intervals: int, now: int) -> bool:
        """minLastChange."""
        pause = sum(list(self.intervals)[-intervals:])
        return now - flow.changed >= max(pause, ns(0.4))

    def detect(self, now: int) -> None:
        rate = self.dropped_bytes / self.arrived if self.arrived else 0.0
        self.ambient = rate if self.ambient is None else 0.5 * rate + 0.5 * self.ambient
        held = [self.flows[number] for number in self.places if number in self.flows]
        listed = [(flow, flow.lost) for flow in held if flow.lost]
        listed.sort(key=lambda entry: -entry[1])
        self.lists.append(dict(listed[: self.max_listed]))
        if rate > GATE:
            self.punish(min(rate, self.ambient), now)
        p = self.ambient
        length = self.K / self.N * self.R / math.sqrt(1.5 * p) if p > 0 else 10 * self.R
        self.intervals.append(ns(min(max(length, 2 * self.R), 10 * self.R)))
        self.detect_at = now + self.intervals[-1]
        self.forget(now)
        for flow in self.flows.values():
            flow.arrived = flow.lost = flow.filtered = 0
        self.arrived, self.dropped_bytes, self.began = 0, 0, now

    def punish(self, u: float, now: int) -> None:
        regular: dict[Flow, int] = {}
        for flow in self.flows.values():
            drops = [entries[flow] for entries in self.lists if flow in entries]
            if len(drops) >= self.K:
                regular[flow] = sum(drops)
        for flow, drops in regular.items():
            if self.rested(flow, 4, now) and flow.lost + flow.filtered:
                r = u * drops / (sum(regular.values()) / len(regular))
                flow.punish(r, u, now - self.began, now, self.unresponsive_test)

    def reward(self, now: int) -> None:
        for flow in self.flows.values():
            intervals = 5 if flow.unresponsive else 3
            irregular = not any(flow in entries for entries in self.lists)
            if flow.P and irregular and self.rested(flow, intervals, now):
                flow.reward(now)

    def state(self) -> dict[str, float]:
        return self.red.state() | {"ambient": self.ambient or 0.0} | self.shown


BUSY = {"R": "1 ms", "min_th": 2, "max_th": 6, "w_q": 1 / 16, "limit": 30}
LONG = {"packets": 4000}
CASES = [
    {},
    *grid(BUSY, inner=["ns2", "fj93"], gentle=[True, False], ecn=[True, False], trial=[LONG]),
    *grid(BUSY, noidle=[True, False], K=[1, 2], N=[3], max_p=[0.02], trial=[LONG]),
    *grid({**BUSY, "R": "10 ms"}, inner=["ns2", "fj93"], noidle=[True, False], K=[1], N=[2],
          trial=[{"packets": 3000, "flows": 3, "load": 2.5, "line_bits_per_s": 1_000_000}]),
    *grid(BUSY, unresponsive_test=[True, False], max_listed=[2], limit=[8]),
    # The line idles while arrivals are dropped, closer together than packets of the idle clock.
    *grid({"min_th": 2, "max_th": 4, "w_q": 0.01, "gentle": False, "trial": {"load": 8}},
          inner=["fj93", "ns2"]),
]  # fmt: skip
