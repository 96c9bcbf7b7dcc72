"""Why a script is not played: a word and what it means."""

from __future__ import annotations

REASONS = {
    "unknown form": "the line is of a form that is not read",
    "other protocol": "ICMP, UDP or a tunnel: only TCP segments travel here",
    "other option": "an option of TCP that no end system here has (Fast Open, MD5, AO)",
    "urgent data": "no program here writes urgent data",
    "reset": "a script's resets are not played; an end sends one for a forgotten handshake",
    "zero window": "no window closes here, since programs read at once; nothing probes one",
    "receive window": "the window that a segment announces is checked, and none is carried here",
    "system call": "a call that programs of the simulator do not have",
    "socket option": "an option of the socket without counterpart here",
    "short write": "the send buffer has no limit here",
    "sysctl": "a setting of the kernel without counterpart here",
    "shell": "a command of the shell without counterpart here",
    "TCP_INFO": "the number asserted is not kept here",
    "code": "Python code other than asserts of numbers",
    "several connections": "one connection is played at a time",
    "simultaneous open": "an end that has sent a SYN accepts none",
    "IPv6": "headers of 40 B are those of IPv4",
    "device": "a setting of the script's device without counterpart here",
    "refused": "the profile refuses this combination of settings",
}


class NotRunError(Exception):
    """A script that is not played."""

    def __init__(self, word: str, detail: str = "") -> None:
        """`word` is one of REASONS."""
        assert word in REASONS, word
        super().__init__(f"{word}: {detail}" if detail else word)
        self.word = word
        self.detail = detail
