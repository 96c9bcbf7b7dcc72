"""Drop-tail: no paper. Linux pfifo, bfifo and pfifo_head_drop; ns-2.35 `queue/drop-tail.cc`.

Normative (Linux): an arrival is accepted if the queue, with it, keeps within the limit.
ns-2: only if it stays below the limit, so that L - 1 packets wait at most.
"""

from .base import Fifo, Packet, Parameters, grid


class Droptail(Fifo):
    def setup(self, parameters: Parameters) -> None:
        self.limit_bytes = parameters.get("limit_bytes", float("inf"))
        self.limit = parameters.get(
            "limit", float("inf") if parameters.given("limit_bytes") else 50
        )
        self.ns2 = parameters.choice("profile", "normative") == "ns2"
        self.from_front = parameters.flag("from_front")

    def fits(self, packet: Packet) -> bool:
        packets, size = len(self.queue) + 1, self.bytes + packet.bytes
        if self.ns2:
            return packets < self.limit and size < self.limit_bytes
        return packets <= self.limit and size <= self.limit_bytes

    def overflow(self, packet: Packet, now: int) -> None:
        if not self.from_front:
            return super().overflow(packet, now)
        # The arrival is added and heads make room: ns-2 removes one, the arrival itself if it
        # is alone; by bytes, as many as it takes. What never fits is dropped alone.
        if not self.queue or packet.bytes > self.limit_bytes:
            return super().overflow(packet, now)
        self.accept(packet)
        while len(self.queue) > self.limit - self.ns2 or self.bytes > self.limit_bytes - self.ns2:
            head = self.queue.popleft()
            self.bytes -= head.bytes
            self.dropped(head, "overflow")
            if self.ns2:
                return None
        return None


CASES = [
    *grid({}, profile=["normative", "ns2"], from_front=[False, True], limit=[1, 2, 9, 50]),
    *grid({}, profile=["normative", "ns2"], from_front=[False, True], limit_bytes=[1500, 9000]),
]
NEVER = ("marked early", "dropped early")
