"""The base class of congestion controls in Python: `aqmlab.CongestionControl`.

    import aqmlab

    class Halving(aqmlab.CongestionControl):
        \"\"\"One segment per round trip more, half at congestion.\"\"\"

        beta = aqmlab.parameter(0.5, "what congestion leaves", least=0.1, most=0.9)

        def on_ack(self, window, ack):
            if ack.may_grow:
                window.cwnd += window.mss * ack.acked / window.cwnd

        def on_loss(self, window):
            window.ssthresh = max(self.beta * window.cwnd, 2 * window.mss)

docs/how-to/own-control.md is the tutorial.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

METHODS = ("on_open", "on_ack", "on_loss", "on_ecn", "on_timeout", "on_undo")
METHODS += ("on_app_limited", "on_lost")
ECN = ("classic", "dctcp", "l4s")


class CongestionControl:
    """The base class of a user's own congestion control. The class's docstring is its summary.

    A class must have `on_ack(self, window, ack)`, called for every acknowledgement, which sets
    `window.cwnd` (in bytes; a fraction is cut off) and, if needed, `window.ssthresh` and
    `window.pacing_rate` (bit/s). `on_loss(self, window)` is called once for each recovery, `on_ecn`
    once per window of data with marks, `on_timeout` when the retransmission timer expires: they set
    `window.ssthresh`, to which the transport reduces the window; a class with `own_window = True`
    sets `window.cwnd` itself.

    Optional methods are `on_open(self, window)` (the handshake is complete), `on_undo(self,
    window)` (the last reduction was spurious: cwnd and ssthresh are restored),
    `on_app_limited(self, window, idle_s)` (a segment is sent after a time without data from the
    application) and `on_lost(self, window, lost)` (each lost segment).

    Each connection has an object. In `__init__(self)` the parameters are set already; a ValueError
    there refuses them. The time is `window.now_s`: runs of a control that uses another clock, or
    random numbers, are not repeatable."""

    name: ClassVar[str] = ""
    """Name of the control; by default the class's name in snake case."""
    source: ClassVar[str] = ""
    """Source of the algorithm, such as a paper."""
    gauges: Sequence[str] = ()
    """Names of attributes that are recorded as the control's state."""
    own_window: ClassVar[bool] = False
    """Whether the control sets the window at all times, also during the response to a loss or
    mark."""
    own_marks: ClassVar[bool] = False
    """Whether the control handles `ack.marked` itself; `on_ecn` is then not called."""
    paced: ClassVar[bool] = False
    """Whether segments are paced even if the end system does not pace."""
    rates: ClassVar[bool] = False
    """Whether the control reads the delivery rate, and the data about the sending of a segment in
    `on_lost`."""
    ecn: ClassVar[str] = "classic"
    """The kind of ECN: classic (RFC 3168), dctcp (RFC 8257) or l4s (RFC 9331)."""

    def on_ack(self, window: Any, ack: Any) -> None:
        """Called for every acknowledgement."""
        raise NotImplementedError

    def on_loss(self, window: Any) -> None:
        """Called when losses were found: halves the window, but leaves at least two segments."""
        window.ssthresh = max(window.cwnd // 2, 2 * window.mss)

    def on_ecn(self, window: Any) -> None:
        """Called when marks were reported: handled as losses, unless a class overrides this."""
        self.on_loss(window)

    def on_timeout(self, window: Any) -> None:
        """Called when the retransmission timer expired: handled as a loss, unless a class overrides
        this."""
        self.on_loss(window)
