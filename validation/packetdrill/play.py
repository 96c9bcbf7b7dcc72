"""Plays a script to an end, and holds what the end sends against what the script expects."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from validation.packetdrill import asserts
from validation.packetdrill.end import PROGRAM, End, Sent
from validation.packetdrill.reasons import NotRunError
from validation.packetdrill.script import Call, Event, Packet, Script, read
from validation.packetdrill.settings import IGNORED_CALLS, parameters

TOLERANCE_S = 0.004
TOLERANCE_SHARE = 0.125
"""Packetdrill's own defaults: how far a segment may be from the time that the script names, in
seconds and in shares of the time since the event before; the larger counts."""

FINS = {"close", "shutdown"}
WRITES = {"write": 2, "send": 2, "sendto": 2}


@dataclass(frozen=True)
class Result:
    """The result of playing a script."""

    outcome: str
    """The outcome: `passed`, `failed` or `not run`."""
    word: str = ""
    """For `failed`, what differs; for `not run`, the word of `reasons.py`."""
    detail: str = ""
    pushes: int = 0
    """Segments that pass but for PSH, which depends on how the host cuts what it hands down."""


class _DifferenceError(Exception):
    def __init__(self, word: str, detail: str) -> None:
        super().__init__(f"{word}: {detail}")
        self.word, self.detail = word, detail


def play(path: Path, profile: str = "linux", program: Path = PROGRAM) -> Result:
    """Plays the script in a file."""
    return play_text(path.read_text(encoding="utf-8", errors="replace"), profile, program)


def play_text(text: str, profile: str = "linux", program: Path = PROGRAM) -> Result:
    """Plays a script of packetdrill against an end system of aqmlab."""
    try:
        script = read(text)
        _refuse(script)
        settings = parameters(script)
        with End(profile, settings, program) as end:
            player = _Player(end, script)
            for event in script.events:
                player.play(event)
            return Result("passed", pushes=player.pushes)
    except NotRunError as why:
        return Result("not run", why.word, why.detail)
    except _DifferenceError as why:
        return Result("failed", why.word, why.detail)


def _refuse(script: Script) -> None:
    """Raises NotRunError for what shows before anything is played."""
    packets = [
        (event.line, event.what) for event in script.events if isinstance(event.what, Packet)
    ]
    for index, (line, packet) in enumerate(packets):
        last = all(not later.outbound for _, later in packets[index:])
        if "R" in packet.flags and not (last and not packet.outbound):
            raise NotRunError("reset", f"line {line}")
        if "S" in packet.flags and packet.length:
            raise NotRunError("other option", f"line {line}: data on the SYN")
        if not packet.outbound and packet.window == 0 and "R" not in packet.flags and not last:
            raise NotRunError("zero window", f"line {line}")
        if packet.outbound and packet.window is not None and "S" not in packet.flags:
            raise NotRunError("receive window", f"line {line}")
    syns = [packet for _, packet in packets if "S" in packet.flags and "." not in packet.flags]
    if len({packet.outbound for packet in syns}) > 1:
        raise NotRunError("simultaneous open")
    if not syns:
        raise NotRunError("unknown form", "no SYN")


@dataclass
class _Player:
    end: End
    script: Script
    now: float = 0.0
    pushes: int = 0
    _base: tuple[int, int] | None = None
    _scales: dict[bool, int | None] = field(default_factory=dict)
    _sockets: dict[str, str] = field(default_factory=dict)
    _opened: int = 0
    _closed: bool = False

    def play(self, event: Event) -> None:
        """Does what happens at a line."""
        previous = self.now
        if event.at is not None:
            self.now = self.now + event.at if event.relative else max(event.at, 0.0)
        match event.what:
            case Packet(outbound=True) as packet:
                self._expect(event, packet, previous)
            case Packet() as packet:
                self._inject(packet)
            case Call() as call:
                self._make(call)
            case str() as command if event.kind == "shell":
                if "limit 0" in command:
                    raise NotRunError("shell", "a queue that takes nothing")
            case str() as code if event.kind == "code":
                failed = asserts.failures(code, self.end.numbers(self.now))
                if failed:
                    raise _DifferenceError("TCP_INFO", f"line {event.line}: {failed[0]}")
            case _:
                pass

    def _make(self, call: Call) -> None:
        name, arguments = call.name, call.arguments
        if name == "socket":
            self._opened += 1
            if self._opened > 1:
                raise NotRunError("several connections")
        elif name == "listen":
            self._sockets[arguments[0]] = "listens"
        elif name == "connect":
            self.end.call("connect", self.now)
        elif name in WRITES:
            self._write(call)
        elif name in FINS:
            self._end(call)
        elif name not in IGNORED_CALLS and name not in ("accept", "setsockopt"):
            raise NotRunError("system call", name)

    def _write(self, call: Call) -> None:
        wanted, flags = call.arguments[2], call.arguments[3] if len(call.arguments) > 3 else "0"
        if flags not in ("0", "MSG_NOSIGNAL", "MSG_DONTWAIT"):
            raise NotRunError("system call", f"{call.name} with {flags}")
        if call.result.split()[:1] != [wanted]:
            raise NotRunError("short write", call.result)
        self.end.call("write", self.now, wanted)

    def _end(self, call: Call) -> None:
        listener = self._sockets.get(call.arguments[0]) == "listens"
        reads_only = call.name == "shutdown" and call.arguments[1] == "SHUT_RD"
        if not listener and not reads_only and not self._closed and call.result.startswith("0"):
            self._closed = True
            self.end.call("close", self.now)

    def _inject(self, packet: Packet) -> None:
        if "R" in packet.flags:
            return
        window = packet.window or 0
        if "S" in packet.flags:
            self._scales[False] = packet.scale
        elif self._scales.get(False) is not None and self._scales.get(True) is not None:
            window <<= self._scales[False] or 0
        flags = packet.flags.replace("P", "").translate(
            str.maketrans({".": "A", "W": "C", "A": "W"})
        )
        stamp, echo = packet.stamps or (0, 0)
        if packet.stamps and self._base:
            echo = echo - self._base[0] + self._base[1] if echo else 0
        ack = packet.ack or 0
        ecn = {"ect0": "0", "ect1": "1", "ce": "c"}.get(packet.ecn or "", "-")
        flags = flags + ("T" if packet.stamps else "") or "-"
        options = _blocks(packet, ack), _counters(packet)
        numbers = packet.seq, packet.length, flags, ack, ecn, stamp, echo
        self.end.call("segment", self.now, *numbers, *options, window)

    def _expect(self, event: Event, packet: Packet, previous: float) -> None:
        if "S" in packet.flags:
            self._scales[True] = packet.scale if packet.options else 0
        first, got = self._next(event), 0
        start = first.at
        while True:
            self._check(
                event, replace(packet, seq=packet.seq + got, length=packet.length - got), first
            )
            got += first.length
            if got >= packet.length:
                break
            first = self._next(event)
        self._check_time(event, start, previous)
        if ("P" in packet.flags) != ("P" in first.flags):
            self.pushes += 1

    def _next(self, event: Event) -> Sent:
        if not self.end.sent:
            late = event.until or 0.0
            limit = 300.0 if event.at is None else late + self._tolerance(event.at)
            self.end.call("until", self.now + limit)
        if not self.end.sent:
            raise _DifferenceError("nothing sent", f"line {event.line}")
        return self.end.sent.pop(0)

    def _tolerance(self, since: float) -> float:
        usual = float(self.script.options.get("tolerance_usecs", 0)) / 1e6 or TOLERANCE_S
        return max(usual, TOLERANCE_SHARE * since)

    def _check_time(self, event: Event, at: float, previous: float) -> None:
        early, late = self.now, self.now
        # What follows is relative to when the segment came, which is not waited for.
        self.now = max(at, previous)
        if event.at is None:
            return
        if event.until is not None:
            late = previous + event.until if event.relative else event.until
        tolerance = self._tolerance(early - previous)
        if not early - tolerance <= at <= late + tolerance:
            detail = f"line {event.line}: at {at:.6f} s, expected {early:.6f} s"
            raise _DifferenceError("time", detail)

    def _check(self, event: Event, packet: Packet, sent: Sent) -> None:
        def hold(word: str, expected: object, found: object) -> None:
            if expected != found:
                where = f"(sent {sent.seq}+{sent.length})"
                detail = f"line {event.line}: {found}, expected {expected} {where}"
                raise _DifferenceError(word, detail)

        hold("range", packet.seq, sent.seq)
        if sent.length > packet.length:
            hold("range", packet.length, sent.length)
        whole = sent.length == packet.length
        wanted = set(packet.flags) - {"P", "-"} - (set() if whole else {"F"})
        hold("flags", "".join(sorted(wanted)), "".join(sorted(set(sent.flags) - {"P"})))
        if packet.ack is not None:
            hold("acknowledgement", packet.ack, sent.ack)
        if packet.ecn == "ect01":
            hold("ECN field", True, sent.ecn in ("ect0", "ect1"))
        elif packet.ecn:
            hold("ECN field", packet.ecn, sent.ecn)
        if not packet.options:
            return
        if "S" not in packet.flags:
            hold("SACK", packet.sack, sent.sack)
        hold("AccECN option", packet.accecn, sent.accecn)
        hold("timestamps", packet.stamps is not None, sent.stamps is not None)
        if packet.stamps and sent.stamps:
            self._base = self._base or (packet.stamps[0], sent.stamps[0])
            if "." in packet.flags:
                hold("timestamps", packet.stamps[1], sent.stamps[1])


def _blocks(packet: Packet, ack: int) -> str:
    if "S" in packet.flags:
        return "+" if packet.sack_permitted else "-"
    blocks = list(packet.sack)
    if not blocks:
        return "-"
    twice = blocks[0][0] < ack or any(
        other[0] <= blocks[0][0] and blocks[0][1] <= other[1] for other in blocks[1:]
    )
    first = [f"d{blocks[0][0]}:{blocks[0][1]}"] if twice else []
    rest = [f"{a}:{b}" for a, b in blocks[len(first) :][: 3 - len(first)]]
    return ",".join(first + rest)


def _counters(packet: Packet) -> str:
    if not packet.accecn:
        return "-"
    order = "1" if packet.accecn[0][0] == "e1b" else "0"
    return f"{order}:{','.join(str(count) for _, count in packet.accecn)}"
