"""FQ-PIE: Linux `sch_fq_pie.c`: the hashed queues of RFC 8290, each with a PIE of RFC 8033.

Signals are given at arrival; a full buffer refuses the arrival (ns-3: drops from the queue with
most bytes). One timer updates all queues.
"""

from __future__ import annotations

import math

from .base import MARKABLE, Packet, Parameters, grid, ns
from .fq_codel import Queue, TwoLists
from .pie import Controller


class FqPie(TwoLists):
    def setup(self, parameters: Parameters) -> None:
        linux = parameters.choice("profile", "rfc8033") == "linux"
        self.hashing(parameters, 1514)
        self.limit = parameters.get("limit", 10_240)
        self.limit_bytes = parameters.get("limit_bytes", math.inf)
        self.from_fattest = parameters.choice("overload", "arrival") == "fattest"
        self.ecn = parameters.flag("ecn")
        self.moves_to_empty_list = not linux
        self.pies = [Controller(parameters, self.draws) for _ in self.queues]
        self.due = ns(0.5) if linux else self.pies[0].t_update

    def enqueue(self, packet: Packet, now: int) -> None:
        queue = self.classify(packet)
        pie = self.pies[queue.index]
        full = self.total() >= self.limit or self.bytes() + packet.bytes > self.limit_bytes
        if full and not self.from_fattest:
            pie.accu = 0.0
            return self.dropped(packet, "overflow")
        verdict = pie.judge(queue.bytes)
        if verdict:
            kind, why = verdict
            if kind == "drop" or not self.ecn or packet.ecn not in MARKABLE:
                pie.accu = 0.0
                return self.dropped(packet, why)
            self.marked(packet, why)
        self.append(queue, packet)
        if self.total() > self.limit or self.bytes() > self.limit_bytes:
            self.drop_from_fattest(64)
        return None

    def serve(self, queue: Queue, now: int) -> Packet | None:
        packet = queue.pop()
        if packet:
            self.pies[queue.index].departed(packet, queue.bytes, now)
        return packet

    def tick(self, now: int) -> None:
        for queue, pie in zip(self.queues, self.pies, strict=True):
            pie.update(queue.bytes, self.rate)
        self.due = now + self.pies[0].t_update

    def state(self) -> dict[str, float]:
        most = max(pie.p for pie in self.pies)
        return {"new_flows": len(self.new), "old_flows": len(self.old), "max_p": most}


CASES = [
    *grid(
        {"limit": 60, "max_burst": "10 ms", "target": "2 ms", "flows": 4},
        profile=["rfc8033", "linux"],
        overload=["arrival", "fattest"],
        ecn=[False, True],
    ),
    *grid(
        {"limit_bytes": 40000, "max_burst": "0 s", "alpha": 2, "beta": 20},
        profile=["rfc8033", "linux"],
        flows=[1, 64],
    ),
    *grid(
        {"limit": 400, "max_burst": "0 s", "target": "1 ms", "alpha": 3, "ecn": True, "flows": 3},
        profile=["rfc8033", "linux"],
        trial=[{"load": 1.5, "packets": 4000}],
    ),
    {},
]
