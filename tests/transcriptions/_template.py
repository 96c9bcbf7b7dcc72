"""Template: author, year, section.

Use the published pseudocode's own names, and write what is below from the paper without looking at
the Rust file.
"""

from ._pi import limits
from .base import PASS, Fifo, Packet, Parameters, Verdict, grid, signal


class Template(Fifo):
    def setup(self, p: Parameters) -> None:
        self.ecn = p.flag("ecn")
        self.limit, self.limit_bytes = limits(p, 100)
        self.threshold, self.p = p.get("threshold", 10), p.get("p", 0.1)

    def judge(self, packet: Packet, now: int) -> Verdict:
        if len(self.queue) < self.threshold:
            return PASS
        return signal("early") if self.draws.uniform() < self.p else PASS


CASES = [
    {"trial": {"load": 2}},
    *grid({"threshold": 3}, ecn=[False, True], p=[0.05, 0.5], limit=[6, 60]),
    {"p": 0.2, "limit_bytes": 9000},
]
