"""Flow queues in turn, whose heads are signalled the likelier the longer they have waited."""

from collections import deque

import aqmlab


class Found(aqmlab.Discipline):
    """Flow queues in turn, new ones first; a head that has waited for more than `low` is signalled
    with a probability that rises over `span`."""

    low = aqmlab.parameter("3 ms", "wait up to which nothing is signalled")
    span = aqmlab.parameter(
        "12 ms", "further wait over which the probability rises to one", least="1 ms"
    )
    power = aqmlab.parameter(2.0, "bend of the rise", above=0.0, most=8.0)
    quantum = aqmlab.parameter(1514, "bytes of a flow in its turn", unit="bytes", least=64)
    room = aqmlab.parameter(1000, "packets of all flows", unit="packets", least=2)

    def __init__(self):
        self.flows, self.credit = {}, {}
        self.fresh, self.old = deque(), deque()
        self.count = 0

    def enqueue(self, packet, queue):
        """A packet joins its flow; if there is no room, the longest queue loses its head."""
        flow = packet.flow
        waiting = self.flows.setdefault(flow, deque())
        if not waiting and flow not in self.fresh and flow not in self.old:
            self.fresh.append(flow)
            self.credit[flow] = self.quantum
        waiting.append(packet)
        self.count += 1
        if self.count > self.room:
            longest = max(self.flows.values(), key=len)
            queue.drop(longest.popleft(), "overflow")
            self.count -= 1

    def dequeue(self, queue):
        """The next head in turn that is not dropped."""
        while self.fresh or self.old:
            turn = self.fresh or self.old
            flow = turn[0]
            waiting = self.flows[flow]
            if self.credit[flow] <= 0:
                self.credit[flow] += self.quantum
                self.old.append(turn.popleft())
            elif not waiting:
                turn.popleft()
                if turn is self.fresh and self.old:
                    self.old.append(flow)
            else:
                packet = waiting.popleft()
                self.count -= 1
                late = (queue.now_s - packet.arrived_s - self.low) / self.span
                if late > 0 and waiting and queue.uniform() < min(late, 1.0) ** self.power:
                    if not packet.ecn_capable:
                        queue.drop(packet, "early")
                        continue
                    queue.mark(packet)
                self.credit[flow] -= packet.bytes
                return packet
        return None
