"""What a congestion control in Python is made of: `aqmlab.CongestionControl`.

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
    """A congestion control of one's own. The sentence under the class is its summary.

    It has `on_ack(self, window, ack)`, called for every acknowledgement, which sets `window.cwnd`
    (in bytes; its fraction is cut off) and, as it needs, `window.ssthresh` and
    `window.pacing_rate` (bit/s). `on_loss(self, window)` is called once for each recovery,
    `on_ecn` once per window of data with marks, `on_timeout` when the retransmission timer
    expires: they set `window.ssthresh`, to which the transport leads the window; a class with
    `own_window = True` sets `window.cwnd` itself.

    As it needs, it has `on_open(self, window)` (the handshake is over), `on_undo(self, window)`
    (the last reduction was wrong: both windows are put back), `on_app_limited(self, window,
    idle_s)` (a segment goes out after the program had nothing to send) and `on_lost(self, window,
    lost)` (each lost segment).

    Each connection has an object. `__init__(self)` finds the parameters set; a ValueError there
    refuses them. Time is `window.now_s`: a control that takes another, or random numbers, cannot
    be repeated."""

    name: ClassVar[str] = ""
    """What it is called; without one the class's name in small letters."""
    source: ClassVar[str] = ""
    """Whom it follows."""
    gauges: Sequence[str] = ()
    """Attributes that are shown as its state."""
    own_window: ClassVar[bool] = False
    """Whether it sets the window at all times, also while a loss or mark is answered."""
    own_marks: ClassVar[bool] = False
    """Whether it reads `ack.marked` itself; `on_ecn` is then not called."""
    paced: ClassVar[bool] = False
    """Whether segments are paced although the end system does not pace."""
    rates: ClassVar[bool] = False
    """Whether it reads the delivery rate, and what `on_lost` reports of the sending."""
    ecn: ClassVar[str] = "classic"
    """classic (RFC 3168), dctcp (RFC 8257) or l4s (RFC 9331)."""

    def on_ack(self, window: Any, ack: Any) -> None:
        """An acknowledgement came."""
        raise NotImplementedError

    def on_loss(self, window: Any) -> None:
        """Losses were found: half of the window is left, but at least two segments."""
        window.ssthresh = max(window.cwnd // 2, 2 * window.mss)

    def on_ecn(self, window: Any) -> None:
        """Marks were reported: they count as losses, unless a class says otherwise."""
        self.on_loss(window)

    def on_timeout(self, window: Any) -> None:
        """The retransmission timer expired: it counts as a loss, unless a class says otherwise."""
        self.on_loss(window)
