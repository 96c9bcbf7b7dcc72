"""RED of ALTQ (FreeBSD `sys/net/altq/altq_red.c`): whole numbers with 12 binary places.

The average is kept multiplied by 1/w_q = 2^shift. Spacing is p_b/(2 - c p_b). `RealAltqRed` is the
same program in real numbers, which adaptive RED has underneath, with ns-2's byte mode.
"""

from collections.abc import Callable

from ._red_paper import slope
from .base import PASS, Draws, Verdict, drop, packets_in, signal

FP = 12


def power(w_inverse: int, n: int) -> int:
    """(1 - w)^n with 12 binary places (`pow_w`)."""
    table = [((w_inverse - 1) << FP) // w_inverse]
    while len(table) < 32:
        table.append(table[-1] ** 2 >> FP)
    if n >= 1 << table.index(0):
        return 0
    value = 1 << FP
    for i in range(32):
        if n >> i & 1:
            value = value * table[i] >> FP
    return value


class AltqRed:
    def __init__(self, draws: Draws, low: float, high: float, w: float, max_p: float, *,
                 packet_us: int) -> None:  # fmt: skip
        self.draws, self.packet_us = draws, packet_us
        self.shift = round(1 / w).bit_length() - 1
        self.low, self.high = (int(th * 2 ** (self.shift + FP)) for th in (low, high))
        self.fp_probd = int(2 * (high - low) / max_p * 2**FP)
        self.avg, self.count, self.old = 0, 0, False
        self.last: int | None = None

    def arrive(self, size: int, q: int, now: int) -> Verdict:
        self.age(now)
        self.avg += (q << FP) - (self.avg >> self.shift)
        self.count += 1
        return self.decide(q)

    def age(self, now: int) -> None:
        if self.last is None:
            return
        idle_us, self.last = (now - self.last) // 1000, None
        n = idle_us // self.packet_us - 1
        if idle_us > 60_000_000:
            self.avg = 0
        elif n > 0:
            self.avg = (self.avg >> FP) * power(1 << self.shift, n)

    def decide(self, q: int) -> Verdict:
        if self.avg < self.low or q <= 1:
            self.old = False
            return PASS
        if self.avg >= self.high:
            return drop("forced")
        if not self.old:
            self.count, self.old = 1, True
            return PASS
        length = (self.avg - self.low) >> self.shift
        d = self.fp_probd - self.count * length
        if d <= 0 or self.draws.below(d) < length:
            return signal("early")
        return PASS

    def idle(self, now: int) -> None:
        self.last = now

    def signalled(self) -> None:
        self.count = 0

    def lost(self, why: str) -> None:
        self.count = 0

    def state(self) -> dict[str, float]:
        p_b = 2 * ((self.avg - self.low) >> self.shift) / self.fp_probd
        p_b = 0 if self.avg < self.low else p_b if self.avg < self.high else 1
        return {"avg": self.avg / 2 ** (self.shift + FP), "p_b": p_b, "count": self.count}


class RealAltqRed:
    adapt: Callable[[float, int], None] | None = None

    def __init__(self, draws: Draws, low: float, high: float, w: float, max_p: float, *,
                 gentle: bool, hard: bool, s: float, mean: float,
                 in_bytes: bool) -> None:  # fmt: skip
        self.draws, self.w, self.max_p, self.s, self.mean = draws, w, max_p, s, mean
        self.in_bytes, self.unit = in_bytes, mean if in_bytes else 1.0
        self.low, self.high, self.gentle, self.hard = (
            low * self.unit,
            high * self.unit,
            gentle,
            hard,
        )
        self.avg, self.count, self.count_bytes, self.old = 0.0, 0, 0, False
        self.last: int | None = None

    def arrive(self, size: int, packets: int, waiting: int, now: int) -> Verdict:
        """`packets` wait, `waiting` bytes of them."""
        if self.last is not None:
            n = packets_in(now - self.last, self.s) - 1
            self.avg *= 0 if now - self.last > 60 * 10**9 else (1 - self.w) ** max(n, 0)
            self.last = None
        q = waiting if self.in_bytes else packets
        self.avg = self.avg * (1 - self.w) + self.w * q
        if self.adapt:
            self.adapt(self.avg, now)
        self.count += 1
        self.count_bytes += size
        if self.avg < self.low or packets <= 1:
            self.old = False
            return PASS
        if self.avg >= self.high * (2 if self.gentle else 1):
            return drop("forced") if self.hard else signal("forced")
        if not self.old:
            self.count, self.count_bytes, self.old = 1, size, True
            return PASS
        return self.test(size)

    def p_b(self) -> float:
        return min(slope(self.avg, self.low, self.high, self.max_p, self.gentle), 1.0)

    def test(self, size: int) -> Verdict:
        p_b = self.p_b()
        c = self.count_bytes // self.mean if self.in_bytes else self.count
        p_a = min(p_b / (2 - c * p_b), 1.0) if c * p_b < 2 else 1.0
        if self.in_bytes and p_a < 1:
            p_a = p_a * size / self.mean
        if self.draws.uniform() >= p_a:
            return PASS
        self.count = self.count_bytes = 0
        return signal("early")

    def idle(self, now: int) -> None:
        self.last = now

    def lost(self, why: str) -> None:
        self.count = self.count_bytes = 0

    def state(self) -> dict[str, float]:
        return {"avg": self.avg / self.unit, "p_b": self.p_b(), "count": self.count}
