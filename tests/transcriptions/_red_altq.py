"""RED of ALTQ (FreeBSD `sys/net/altq/altq_red.c`): whole numbers with 12 binary places.

The average is kept multiplied by 1/w_q = 2^shift. Spacing is p_b/(2 - c p_b).
"""

from .base import PASS, Draws, Verdict, drop, signal

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
