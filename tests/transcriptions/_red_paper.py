"""RED as published: Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993, figure 2.

With the later gentle slope between max_th and 2 max_th (S. Floyd's note, 2000). Everything is in
the queue's unit: packets, or bytes with thresholds multiplied by `unit`.

An arrival that is dropped does not end the idle time, nor does the paper set q_time anew for it.
What the average has not aged by yet, less than one packet, is left for the next arrival.
"""

from .base import PASS, Draws, Fifo, Packet, Verdict, drop, packets_in, signal


def slope(avg: float, low: float, high: float, max_p: float, gentle: bool) -> float:
    """p_b, the probability before spacing; gentle reaches 1 at twice `high`."""
    if avg < low:
        return 0.0
    if avg < high:
        return max_p * (avg - low) / (high - low)
    if gentle and avg < 2 * high:
        return max_p + (1 - max_p) * (avg - high) / high
    return 1.0


class PaperRed:
    adapt = None  # called with the new average and the time, before the decision

    def __init__(self, draws: Draws, low: float, high: float, w: float, max_p: float, *,
                 gentle: bool, hard: bool, s: float, unit: float = 1, largest: float | None = None,
                 ) -> None:  # fmt: skip
        self.draws, self.low, self.high, self.w, self.max_p = draws, low, high, w, max_p
        self.gentle, self.hard, self.s, self.unit, self.largest = gentle, hard, s, unit, largest
        self.avg, self.count = 0.0, -1
        self.q_time: float | None = None  # idle, and aged up to here
        self.aged_to: float | None = None  # the same, of the idle time that the arrival met

    def arrive(self, size: int, q: float, now: int) -> Verdict:
        self.aged_to = None
        if self.q_time is None:
            self.avg = (1 - self.w) * self.avg + self.w * q
        else:
            m = packets_in(now - self.q_time, self.s)
            self.avg *= (1 - self.w) ** m
            self.aged_to, self.q_time = self.q_time + m * self.s * 1e9, None
        if self.adapt:
            self.adapt(self.avg, now)
        if self.avg < self.low:
            self.count = -1
            return PASS
        if self.avg >= self.high * (2 if self.gentle else 1):
            self.count = 0
            return drop("forced") if self.hard else signal("forced")
        self.count += 1
        p_b = self.p_b()
        if self.largest:
            p_b *= size / self.largest
        p_a = p_b / (1 - self.count * p_b) if self.count * p_b < 1 else 1.0
        if self.draws.uniform() < p_a:
            self.count = 0
            return signal("early")
        return PASS

    def p_b(self) -> float:
        return slope(self.avg, self.low, self.high, self.max_p, self.gentle)

    def idle(self, now: int) -> None:
        if self.q_time is None:
            self.q_time = now

    def lost(self, why: str) -> None:
        """The line stays idle, if it was. The paper's count ignores what the buffer refuses."""
        self.q_time = self.aged_to

    def state(self) -> dict[str, float]:
        return {"avg": self.avg / self.unit, "p_b": self.p_b(), "count": self.count}


class RedFifo(Fifo):
    """A plain queue behind one of RED's judges, `self.red`."""

    looks_again = True

    red: "PaperRed"

    def judge(self, packet: Packet, now: int) -> Verdict:
        return self.red.arrive(packet.bytes, len(self.queue), now)

    def lost(self, why: str) -> None:
        self.red.lost(why)

    def idle(self, now: int) -> None:
        self.red.idle(now)

    def state(self) -> dict[str, float]:
        return self.red.state()
