"""A queue discipline of my own, to be named wherever aqmlab takes the name of one of its own."""

import aqmlab


class MyAqm(aqmlab.Discipline):
    """Signals with a probability that rises from min_th to max_th packets that wait."""

    min_th = aqmlab.parameter(10, "packets below which nothing is signalled", unit="packets")
    max_th = aqmlab.parameter(60, "packets from which max_p holds", unit="packets", least=1)
    max_p = aqmlab.parameter(0.1, "the largest probability", above=0.0, most=1.0)
    gauges = ("p",)

    def __init__(self):
        if self.min_th >= self.max_th:
            raise ValueError("min_th must be smaller than max_th")
        self.p = 0.0

    def admit(self, packet, queue):
        share = (queue.packets - self.min_th) / (self.max_th - self.min_th)
        self.p = self.max_p * min(max(share, 0.0), 1.0)
        if queue.uniform() < self.p:
            return aqmlab.SIGNAL
        return aqmlab.PASS
