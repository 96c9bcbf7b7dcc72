import aqmlab


class MyCc(aqmlab.CongestionControl):
    """Additive increase of one segment per round trip, the share beta at congestion."""

    beta = aqmlab.parameter(
        0.5, "the share of the window that congestion leaves", least=0.1, most=0.9
    )
    gauges = ("count",)

    def __init__(self):
        self.count = 0  # segments acknowledged and not yet turned into one of the window

    def on_ack(self, window, ack):
        if not ack.may_grow:
            return
        segments = ack.segments
        if window.cwnd < window.ssthresh:  # slow start: a segment for each acknowledged
            room = -(-(window.ssthresh - window.cwnd) // window.mss)
            used = min(room, segments)
            window.cwnd = min(window.cwnd + used * window.mss, window.ssthresh)
            segments -= used
        if segments > 0:
            self.avoid(window, segments)

    def avoid(self, window, segments):
        """Congestion avoidance: a segment for every window acknowledged."""
        whole = window.cwnd // window.mss
        if self.count >= whole:
            self.count = 0
            window.cwnd += window.mss
        self.count += segments
        if self.count >= whole:
            more, self.count = divmod(self.count, whole)
            window.cwnd += more * window.mss

    def on_loss(self, window):
        self.count = 0
        window.ssthresh = max(int(window.cwnd // window.mss * self.beta), 2) * window.mss
