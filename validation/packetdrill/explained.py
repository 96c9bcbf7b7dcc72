"""Differences with a known cause: the script's name, without the kernel's `tcp_`, and the cause."""

from __future__ import annotations

_HYSTART = (
    "written for kernels whose HyStart began its rounds only at 16 segments; since 6.14, and in "
    "6.12.117, slow start ends at 36 as here (bictcp_hystart_reset in tcp_cubic.c)"
)

EXPLAINED: dict[str, str] = {
    "accecn_delivered_falseoverflow_detect.pkt": "the script sets "
    "net.ipv4.tcp_ecn_option to 0 in the middle of a connection; no host here changes a sysctl",
    "rfc5961_ack-out-of-window.pkt": "an acknowledgement older than a window draws no challenge "
    "(RFC 5961 section 5.2): no path here forges one",
    "cubic-bulk-166k.pkt": _HYSTART,
    "cubic-bulk-166k-idle-restart.pkt": _HYSTART,
    "cwnd-moderation-ecn-enter-cwr-no-moderation-700.pkt": "written for PRR as it was before an "
    "acknowledgement that advances let one more segment go: 3 + min(4, 1 + 1) is 5 in "
    "tcp_cwnd_reduction of 6.12 and 7.3, as here",
    "fr-4pkt-fack-last-mss.pkt": "written for a kernel of 250 Hz: a quarter of the round trip, "
    "25 ms, two ticks more and the next tick; timers are exact here",
    "invalid_ack.pkt": "written for kernels before 7.x, which drop what acknowledges unsent data "
    "in silence; the kernel's own version of this script expects an answer, and passes",
}
