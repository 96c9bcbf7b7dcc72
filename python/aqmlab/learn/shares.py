"""Facts about a capture as pairs of a name and a text, for a console and a page."""

from __future__ import annotations

from aqmlab.io.numbers import counted, fixed, significant
from aqmlab.simulator.forms import Connections, Seen

from .model import Header


def facts(header: Header) -> list[tuple[str, str]]:
    """The facts about a capture; those with an empty text are left out."""
    seen, connections = header["seen"], header["seen"]["connections"]
    seconds = header["duration_us"] / 1e6
    lines = [
        ("packets", f"{seen['packets']:,} ({bytes_of(seen['bytes'])}) in {significant(seconds)} s"),
        ("IP bytes", _protocols(seen)),
        ("addresses", _versions(seen)),
        ("TCP connections", f"{connections['seen']:,} seen, {connections['kept']:,} with payload"),
        ("kinds", f"{connections['sequential']:,} sequential, "
                  f"{connections['concurrent']:,} concurrent"),
        ("incomplete", _incomplete(connections)),
        ("without payload", _silent(connections)),
        ("hosts", f"{seen['hosts']:,}"),
        ("payload", " to and ".join(bytes_of(n) for n in header["bytes"]) + " from the acceptors"),
        ("segments", f"{seen['segments']:,}"),
        ("retransmitted", _share(seen["resent"], seen["segments"])),
        ("out of order", _share(seen["reordered"], seen["segments"])),
        ("most open at once", f"{connections['most_open']:,}"),
    ]  # fmt: skip
    return [(name, text) for name, text in lines if text]


def medians(header: Header) -> list[tuple[str, list[str]]]:
    """A row of texts for every distribution: number of values, mean, and some quantiles."""
    rows = []
    for name, one in header["distributions"].items():
        scale = 1e-3 if one["unit"] == "us" else 1.0
        at = dict(zip(one["p"], one["x"], strict=True))
        numbers = [one["mean"]] + [at[share] for share in SHARES]
        rows.append((title(name), [f"{one['n']:,}"] + [significant(scale * x) for x in numbers]))
    return rows


SHARES = (0.1, 0.5, 0.9, 0.99)
"""The probabilities whose quantiles are shown."""
_TITLES = {
    "request_bytes": "request, bytes",
    "response_bytes": "response, bytes",
    "think_us": "think time, ms",
    "first_think_us": "time to the first request, ms",
    "delay_us": "server's delay, ms",
    "epochs": "epochs of a connection",
    "rtt_us": "least round-trip time, ms",
    "gap_us": "between starts, ms",
    "duration_us": "duration, ms",
}


def title(name: str) -> str:
    """A distribution's name for people."""
    return _TITLES[name]


def bytes_of(number: float) -> str:
    """A number of bytes with a fitting prefix."""
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{significant(number) if unit != 'B' else fixed(number, 0)} {unit}"
        number /= 1000
    return f"{significant(number)} TB"


def _protocols(seen: Seen) -> str:
    total = seen["tcp_bytes"] + seen["udp_bytes"] + seen["other_bytes"]
    if not total:
        return ""
    parts = {
        "TCP": seen["tcp_bytes"],
        "QUIC": seen["quic_bytes"],
        "other UDP": seen["udp_bytes"] - seen["quic_bytes"],
        "other": seen["other_bytes"],
    }
    return ", ".join(f"{100 * n / total:.1f} % {name}" for name, n in parts.items() if n)


def _versions(seen: Seen) -> str:
    parts = (("IPv4", seen["ipv4"]), ("IPv6", seen["ipv6"]), ("not IP", seen["not_ip"]))
    return ", ".join(f"{n:,} {name}" for name, n in parts if n)


def _incomplete(connections: Connections) -> str:
    parts = (
        ("begun before", connections["no_start"]),
        ("not ended", connections["open_at_end"]),
        ("seen in one direction", connections["one_sided"]),
        ("reset", connections["reset"]),
    )
    return ", ".join(f"{n:,} {name}" for name, n in parts if n)


def _silent(connections: Connections) -> str:
    if not connections["silent"]:
        return ""
    return (
        f"{counted(connections['silent'], 'connection')}: {connections['unanswered']:,} "
        f"unanswered, {connections['refused']:,} refused"
    )


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({100 * part / whole:.2f} %)" if whole else ""
