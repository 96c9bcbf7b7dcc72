"""RIO: Clark and Fang, IEEE/ACM ToN 6(4), 1998; ns-2.35 `queue/rio.cc`; ALTQ `altq_rio.c`.

The paper's and ns-2's are in `_rio`. ALTQ has three drop precedences: state i counts the packets
of precedence i and lower, and an arrival moves the averages and counts from its own state on.
"""

from ._red_altq import FP, AltqRed, power
from ._rio import InOut
from .base import Draws, Fifo, Packet, Parameters, Verdict, grid


class InOutRio(InOut):
    def setup(self, p: Parameters) -> None:
        self.ns2 = p.choice("profile", "paper") == "ns2"
        self.in_classes, self.classes = int(p.get("in_classes", 1)), int(p.get("classes", 2))
        self.setup_rio(p)

    def is_in(self, packet: Packet) -> bool:
        return packet.flow % self.classes < self.in_classes


class AltqRio(Fifo):
    def setup(self, p: Parameters) -> None:
        p.choice("profile", "altq")
        self.classes, self.limit = int(p.get("classes", 3)), p.get("limit", 60)
        self.lows, self.mediums = int(p.get("in_classes", 1)), int(p.get("medium_classes", 1))
        us = 800
        if p.given("mean_packet_bytes"):
            us = round(self.packet_seconds(p.get("mean_packet_bytes")) * 1e6)
        self.states = [
            AltqRed(
                self.draws, p.get(f"{name}_min_th", low), p.get(f"{name}_max_th", high),
                p.get("w_q", 1 / 512), p.get(f"{name}_max_p", 0.1), packet_us=us,
            )
            for name, low, high in [("in", 35, 45), ("medium", 20, 30), ("out", 5, 15)]
        ]  # fmt: skip
        self.lengths = [0, 0, 0]
        self.precedence = 0  # of the arrival

    def precedence_of(self, packet: Packet) -> int:
        c = packet.flow % self.classes
        return 0 if c < self.lows else 1 if c < self.lows + self.mediums else 2

    def judge(self, packet: Packet, now: int) -> Verdict:
        d = self.precedence = self.precedence_of(packet)
        for state, length in zip(self.states[d:], self.lengths[d:], strict=True):
            if state.last is not None:
                idle_us, state.last = (now - state.last) // 1000, None
                if idle_us > 60_000_000:
                    state.avg = 0
                elif n := idle_us // state.packet_us:  # RED: one less
                    state.avg = (state.avg >> FP) * power(1 << state.shift, n)
            state.avg += (length << FP) - (state.avg >> state.shift)
            state.count += 1
        return self.states[d].decide(self.lengths[d])

    def lost(self, why: str) -> None:
        for state in self.states[self.precedence :]:
            state.count = 0

    def accept(self, packet: Packet) -> None:
        for i in range(self.precedence, 3):
            self.lengths[i] += 1
        super().accept(packet)

    def dequeue(self, now: int) -> Packet | None:
        packet = super().dequeue(now)
        if packet is not None:
            for i in range(self.precedence_of(packet), 3):
                self.lengths[i] -= 1
                if self.lengths[i] == 0:
                    self.states[i].last = now
        return packet

    def state(self) -> dict[str, float]:
        names = ("avg_low", "avg_medium", "avg_high")
        return {
            name: state.avg / 2 ** (state.shift + FP)
            for name, state in zip(names, self.states, strict=True)
        }


def Rio(p: Parameters, rate: int, draws: Draws) -> Fifo:  # noqa: N802
    altq = p.choice("profile", "paper") == "altq"
    return (AltqRio if altq else InOutRio)(p, rate, draws)


LOW = {"in_min_th": 2, "in_max_th": 5, "in_max_p": 0.2, "out_min_th": 1, "out_max_th": 6,
       "out_max_p": 0.4, "w_q": 1 / 8}  # fmt: skip
CASES = [
    *grid({"trial": {"load": 1.4}}, profile=["paper", "ns2", "altq"]),
    *grid(LOW, profile=["paper", "ns2"], ecn=[False, True], limit=[7, 50], classes=[2, 5]),
    *grid({**LOW, "classes": 4, "in_classes": 2, "ecn": True}, profile=["paper", "ns2"],
          mean_packet_bytes=[250]),
    *grid({**LOW, "medium_min_th": 2, "medium_max_th": 4, "medium_max_p": 0.5}, profile=["altq"],
          limit=[7, 60], classes=[3, 7], medium_classes=[0, 2]),
    {**LOW, "profile": "altq", "mean_packet_bytes": 250, "in_classes": 0, "medium_classes": 2},
]  # fmt: skip
