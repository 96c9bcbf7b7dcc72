"""Reads a script of packetdrill (its own grammar, as far as scripts of TCP use it).

A script is data: nothing of it is run. Shell commands and Python code come as text, of which
`settings.py` and `asserts.py` know a few forms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from validation.packetdrill.reasons import NotRunError


@dataclass(frozen=True)
class Packet:
    """A packet that the script sends (`<`) or expects (`>`)."""

    outbound: bool
    flags: str
    """Letters of `SFRPUEWA.` (W is CWR, A is AE); an ACE field's number is written as these."""
    seq: int
    length: int
    ack: int | None
    window: int | None
    ecn: str | None
    """`noecn`, `ect0`, `ect1`, `ce`, or nothing if it is not to be checked."""
    sack: tuple[tuple[int, int], ...] = ()
    stamps: tuple[int, int] | None = None
    mss: int | None = None
    scale: int | None = None
    sack_permitted: bool = False
    accecn: tuple[tuple[str, int], ...] | None = None
    options: bool = True
    """Whether options are to be checked (`<...>` says that they are not)."""


@dataclass(frozen=True)
class Call:
    """A system call: name, arguments as written, result."""

    name: str
    arguments: tuple[str, ...]
    result: str


@dataclass(frozen=True)
class Event:
    """What happens at a line: a packet, a call, code or a shell command."""

    line: int
    at: float | None
    """Seconds; nothing for any time (`*`)."""
    relative: bool
    until: float | None
    what: Packet | Call | str
    kind: str
    """Kind of the line: `packet`, `call`, `code` or `shell`."""


@dataclass
class Script:
    """A script of packetdrill, parsed."""

    events: list[Event] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)


_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|(?m:^[ \t]*#[^\n]*)", re.DOTALL)
_NUMBER = r"(?:\d+(?:\.(?!\.)\d*)?|\.\d+)"
_TIME = re.compile(
    rf"(?P<any>\*)|(?P<sign>\+?)\s*(?P<at>{_NUMBER})"
    rf"(?:\s*(?:~|\.\.\.)\s*(?P<end_sign>\+?)\s*(?P<until>{_NUMBER}))?"
)
_OPTION = re.compile(r"--(\w+)(?:=(\S+))?")
_CALL = re.compile(r"(\w+)\s*\(")


def read(text: str) -> Script:
    """Reads a script's text.

    Raises NotRunError with the word of what it has that cannot be played or read.
    """
    text = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    script, at = Script(), 0
    while (start := _next(text, at)) < len(text):
        if found := _OPTION.match(text, start):
            script.options[found[1]] = found[2] or ""
            at = found.end()
            continue
        event, at = _event(text, start)
        script.events.append(event)
    return script


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _event(text: str, start: int) -> tuple[Event, int]:
    line = text.count("\n", 0, start) + 1
    at, relative, until = None, True, None
    if (found := _TIME.match(text, start)) and not text.startswith("`", start):
        start = _next(text, found.end())
        if not found["any"]:
            at, relative = float(found["at"]), bool(found["sign"])
            until = float(found["until"]) if found["until"] else None
    else:
        at = 0.0
    if text.startswith("`", start):
        end = text.find("`", start + 1)
        return Event(line, 0.0, True, None, text[start + 1 : end], "shell"), end + 1
    if text.startswith("%{", start):
        end = text.find("}%", start)
        return Event(line, at, relative, until, text[start + 2 : end], "code"), end + 2
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if text[start : start + 1] in ("<", ">"):
        return Event(line, at, relative, until, _packet(text[start:end], line), "packet"), end
    if found := _CALL.match(text, start):
        call, end = _call(text, found)
        return Event(line, at, relative, until, call, "call"), end
    raise NotRunError("unknown form", f"line {line}: {text[start:end].strip()[:40]!r}")


def _call(text: str, found: re.Match[str]) -> tuple[Call, int]:
    depth, at, start, arguments = 1, found.end(), found.end(), list[str]()
    while depth and at < len(text):
        letter = text[at]
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 or (letter == "," and depth == 1):
            arguments.append(text[start:at].strip())
            start = at + 1
        at += 1
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    result = text[at:end].partition("=")[2].strip()
    return Call(found[1], tuple(arguments), result), end


_PACKET = re.compile(
    r"[<>]~?\s*(?:\((?P<round>[^)]*)\)\s*)?(?:\[(?P<square>[^\]]*)\]\s*)?(?P<flags>[A-Z.\d-]+)\s+"
    r"(?P<seq>\d+)(?::(?P<end>\d+))?\((?P<len>\d+)\)(?P<rest>[^<]*)(?:<(?P<options>[^>]*)>)?"
)


def _packet(text: str, line: int) -> Packet:
    for word in ("icmp", "udp", "gre", "mpls"):
        if re.search(rf"\b{word}\b", text):
            raise NotRunError("other protocol", f"line {line}: {word}")
    found = _PACKET.match(text)
    if not found:
        raise NotRunError("unknown form", f"line {line}: {text.strip()[:40]!r}")
    rest = dict(re.findall(r"\b(ack|win|urg)\s+(\d+)", found["rest"]))
    if "urg" in rest:
        raise NotRunError("urgent data", f"line {line}")
    ecn = re.search(r"\b(noecn|ect01|ect0|ect1|ce)\b", found["square"] or found["round"] or "")
    options = _options((found["options"] or "").strip(), line)
    return Packet(
        text[0] == ">",
        _flags(found["flags"]),
        int(found["seq"]),
        int(found["len"]),
        int(rest["ack"]) if "ack" in rest else None,
        int(rest["win"]) if "win" in rest else None,
        ecn[1] if ecn else None,
        **options,
    )


def _flags(text: str) -> str:
    count = re.search(r"\d", text)
    if count:
        ace = int(count[0])
        text = text.replace(count[0], "") + "".join(
            letter for bit, letter in ((4, "A"), (2, "W"), (1, "E")) if ace & bit
        )
    return text


def _options(text: str, line: int) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        word, _, rest = part.partition(" ")
        numbers = [int(number) for number in re.findall(r"\d+", rest)]
        if len(numbers) < {"mss": 1, "wscale": 1, "TS": 2}.get(word, 0):
            raise NotRunError("other option", f"line {line}: {word} without its number")
        if word == "...":
            given["options"] = False
        elif word == "mss":
            given["mss"] = numbers[0]
        elif word == "wscale":
            given["scale"] = numbers[0]
        elif word == "sackOK":
            given["sack_permitted"] = True
        elif word == "sack":
            given["sack"] = tuple(zip(numbers[::2], numbers[1::2], strict=True))
        elif word == "TS":
            given["stamps"] = (numbers[0], numbers[1])
        elif word == "ECN":
            pairs = re.findall(r"(e0b|e1b|ceb)\s+(\d+)", rest)
            given["accecn"] = tuple((name, int(count)) for name, count in pairs)
        elif word not in ("nop", "eol"):
            raise NotRunError("other option", f"line {line}: {word}")
    return given
