"""PI: Hollot, Misra, Towsley and Gong, INFOCOM 2001; the law is in `_pi`. ns-2.35 `queue/pi.cc`."""

from ._pi import PiLaw, limits
from .base import PASS, Fifo, Packet, Parameters, Verdict, grid, signal


class Pi(Fifo):
    limit_first = True

    def setup(self, p: Parameters) -> None:
        self.ecn, self.by_size = p.flag("ecn"), p.flag("byte_probability")
        self.spares = p.flag("spare_short_queue")
        self.limit, self.limit_bytes = limits(p, 200)
        self.law = PiLaw(p, self.rate)
        self.due = self.law.period

    def tick(self, now: int) -> None:
        self.law.update(len(self.queue), self.bytes)
        self.due = now + self.law.period

    def judge(self, packet: Packet, now: int) -> Verdict:
        p = self.law.p * (packet.bytes / self.law.mean if self.by_size else 1)
        hit = self.draws.uniform() < p
        return PASS if not hit or (self.spares and len(self.queue) <= 1) else signal("early")

    def state(self) -> dict[str, float]:
        return {"p": self.law.p}


FAST = {"q_ref": 3, "a": 0.03, "b": 0.025, "T": "3 ms"}
CASES = [
    {"trial": {"load": 2}},
    *grid({**FAST, "spare_short_queue": True}, ecn=[False, True]),
    *grid(FAST, ecn=[False, True], queue_in_bytes=[False, True], byte_probability=[False, True],
          limit=[6, 200]),
    *grid({**FAST, "mean_packet_bytes": 900, "queue_in_bytes": True}, limit_bytes=[9000, 90000]),
    {**FAST, "limit": 8, "limit_bytes": 7000},
    {"q_ref": 2, "n_min": 5, "r_max": "20 ms", "trial": {"load": 1.5}},
]  # fmt: skip
