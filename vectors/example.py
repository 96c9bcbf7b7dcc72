"""Holds an implementation of RED (Floyd and Jacobson 1993) against `red.json.gz`. No packages.

Replace the class by yours, or read the calls in your own language: the loop is all there is.
"""

import gzip
import json
from math import isclose
from pathlib import Path


class Red:
    """RED in packets, with a limit in packets and no ECN."""

    def __init__(self, min_th, max_th, w_q, max_p, limit, mean_packet_bytes, line_bits_per_s):
        self.min_th, self.max_th, self.w_q, self.max_p = min_th, max_th, w_q, max_p
        self.limit, self.packet_ns = limit, mean_packet_bytes * 8e9 / line_bits_per_s
        self.waiting, self.avg, self.count, self.idle_since = [], 0.0, -1, 0

    def enqueue(self, packet, now, draw):
        """The packet's fate; `draw()` gives the next uniform number."""
        if self.idle_since is None:
            self.avg += self.w_q * (len(self.waiting) - self.avg)
        else:
            self.avg *= (1 - self.w_q) ** ((now - self.idle_since) // self.packet_ns)
        why = self.judge(draw) or ("overflow" if len(self.waiting) >= self.limit else None)
        if why:  # a packet dropped at an idle line lets the idle time begin again
            self.idle_since = now if self.idle_since is not None else None
            return [["dropped", packet["id"], why]]
        self.idle_since = None
        self.waiting.append(packet)
        return [["queued", packet["id"]]]

    def judge(self, draw):
        """Why the arrival is dropped, if it is."""
        if self.avg < self.min_th:
            self.count = -1
            return None
        if self.avg >= self.max_th:
            self.count = 0
            return "forced"
        self.count += 1
        p_b = self.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th)
        passed = self.count * p_b
        if draw() < (p_b / (1 - passed) if passed < 1 else 1):
            self.count = 0
            return "early"
        return None

    def dequeue(self, now):
        """The packet to transmit; without one the line rests from `now` on."""
        if self.waiting:
            return self.waiting.pop(0)
        self.idle_since = now
        return None


def check(case):
    """Asserts that every answer is the listed one."""
    queue = Red(**case["parameters"], line_bits_per_s=case["line_bits_per_s"])
    state = case["state"]
    for call in case["calls"]:
        draws, events, sent = iter(call.get("draws", [])), [], None
        if call["call"] == "enqueue":
            events = queue.enqueue(call["packet"], call["at_ns"], draws.__next__)
        else:
            sent = queue.dequeue(call["at_ns"])
        assert events == call.get("events", []), (events, call)
        assert (sent and sent["id"]) == (call.get("sent") and call["sent"]["id"]), (sent, call)
        assert next(draws, None) is None, ("takes fewer random numbers", call)
        state = {**state, **call.get("state", {})}
        assert isclose(queue.avg, state["avg"], rel_tol=1e-9), (queue.avg, state, call)
        assert queue.count == state["count"], (queue.count, state, call)


if __name__ == "__main__":
    with gzip.open(Path(__file__).with_name("red.json.gz"), "rt", encoding="utf-8") as file:
        vectors = json.load(file)
    mine = {"min_th", "max_th", "w_q", "max_p", "limit", "mean_packet_bytes"}
    cases = [case for case in vectors["cases"] if set(case["parameters"]) == mine]
    for case in cases:
        check(case)
        print(f"{case['title']}: {len(case['calls'])} calls agree")
    assert cases, "no case has just these parameters"
