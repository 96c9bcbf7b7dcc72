"""The end that a script plays with: `tcp::Endpoint` behind the lines of the example `drill`."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from validation.packetdrill.reasons import NotRunError
from validation.packetdrill.settings import Parameters

PROGRAM = Path("target/release/examples/drill")


@dataclass(frozen=True)
class Sent:
    """A segment that the end sent."""

    at: float
    seq: int
    length: int
    flags: str
    """As in scripts: `SFPEWA.`, W for CWR, A for AE."""
    ack: int
    ecn: str
    stamps: tuple[int, int] | None
    sack: tuple[tuple[int, int], ...]
    accecn: tuple[tuple[str, int], ...] | None


_FLAGS = str.maketrans({"A": ".", "C": "W", "W": "A", "T": "", ".": ""})
_ECN = {"-": "noecn", "0": "ect0", "1": "ect1", "c": "ce"}
_FIELDS = {"0": ("e0b", "ceb", "e1b"), "1": ("e1b", "ceb", "e0b")}
_STATES = {
    "Established": 1, "SynSent": 2, "SynReceived": 3, "FinWait1": 4, "FinWait2": 5, "TimeWait": 6,
    "Closed": 7, "Failed": 7, "CloseWait": 8, "LastAck": 9, "Listen": 10, "Closing": 11,
}  # fmt: skip
_CA_STATES = {"Open": 0, "Cwr": 2, "Recovery": 3, "Loss": 4}


class End:
    """One end; what it sent waits in `sent`."""

    def __init__(self, profile: str, parameters: Parameters, program: Path = PROGRAM) -> None:
        self._process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.sent: list[Sent] = []
        settings = (f"{name}={_text(value)}" for name, value in parameters.items())
        self._call("end 0", profile, *settings)

    def __enter__(self) -> End:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def call(self, name: str, at: float, *arguments: object) -> str:
        """Makes a call at a time in seconds; returns the answer's line, if there is one."""
        return self._call(f"{name} {round(at * 1e9)}", *arguments)

    def _call(self, *words: object) -> str:
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(" ".join(map(str, words)) + "\n")
        process.stdin.flush()
        answer = ""
        for line in process.stdout:
            word, _, rest = line.strip().partition(" ")
            if word == "done":
                return answer
            if word == "sends":
                self.sent.append(_sent(rest))
            elif word == "refused":
                raise NotRunError("refused", rest)
            else:
                answer = rest
        raise RuntimeError(f"{words} ended the program")

    def numbers(self, at: float) -> dict[str, int]:
        """What `TCP_INFO` shows, by the kernel's names."""
        line = self.call("info", at)
        found = dict(re.findall(r"(\w+): (\w+)", line))
        counted = re.findall(r"(received|delivered)_bytes: \[(\d+), (\d+), (\d+)\]", line)
        known = ("snd_cwnd", "unacked", "sacked", "lost", "retrans", "reordering", "snd_mss",
                 "delivered_ce", "received_ce")  # fmt: skip
        numbers = {f"tcpi_{name}": int(found[name]) for name in known}
        state = _CA_STATES[found["ca_state"]]
        disorder = state == 0 and numbers["tcpi_sacked"] > 0
        options = ("timestamps", 1), ("sack_agreed", 2), ("ecn", 8)
        return numbers | {
            "tcpi_snd_ssthresh": min(int(found["snd_ssthresh"]), 0x7FFFFFFF),
            "tcpi_rtt": int(found["rtt_us"]),
            "tcpi_ca_state": 1 if disorder else state,
            "tcpi_state": _STATES[line.rpartition(" ")[2]],
            "tcpi_options": 4 | sum(bit for name, bit in options if found[name] == "true"),
            **{
                f"tcpi_{role}_{kind}_bytes": int(count)
                for role, *counts in counted
                for kind, count in zip(("e0", "ce", "e1"), counts, strict=True)
            },
        }


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _sent(line: str) -> Sent:
    at, seq, length, flags, ack, ecn, stamp, echo, sack, accecn = line.split()
    stamps = (int(stamp), int(echo)) if "T" in flags else None
    blocks = tuple(
        tuple(int(n) for n in block.split(":")) for block in sack.split(",") if ":" in block
    )
    option = None
    if accecn != "-":
        order, _, counters = accecn.partition(":")
        option = tuple(zip(_FIELDS[order], map(int, counters.split(",")), strict=False))
    return Sent(
        int(at) / 1e9,
        int(seq),
        int(length),
        flags.translate(_FLAGS),
        int(ack),
        _ECN[ecn],
        stamps,
        tuple((a, b) for a, b in blocks),
        option,
    )
