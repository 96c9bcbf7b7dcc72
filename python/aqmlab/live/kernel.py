"""The end systems of the running kernel, as settings of the simulator's profile `linux`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aqmlab.simulator import engine
from aqmlab.simulator.forms import Scenario, Traffic

SETTINGS = Path("/proc/sys/net/ipv4")
PROFILE = "linux"
TUN_RATIO = 0.625
"""`scaling_ratio` of full segments from a TUN device, as seen on Linux 6.18: with a receive buffer
of 11,232,169 B the window (`rcv_ssthresh` of `ss -tmi`) grew to 7,020,105 B."""
_SWITCHES = {
    "timestamps": ("tcp_timestamps", True),
    "f_rto": ("tcp_frto", True),
    "idle_restart": ("tcp_slow_start_after_idle", True),
    "ecn_fallback": ("tcp_ecn_fallback", True),
    "host_cache": ("tcp_no_metrics_save", False),
    "cache_ssthresh": ("tcp_no_ssthresh_metrics_save", False),
}
"""Fields of the profile, each with the kernel's setting and whether a non-zero setting turns the
field on."""
_COUNTS = {
    "dupack_threshold": "tcp_reordering",
    "synack_retries": "tcp_synack_retries",
    "syn_linear": "tcp_syn_linear_timeouts",
    "comp_sack_nr": "tcp_comp_sack_nr",
}
_TIMES = {
    "comp_sack_delay": "tcp_comp_sack_delay_ns",
    "comp_sack_slack": "tcp_comp_sack_slack_ns",
}
FIXED_PERCENT = 5
"""Percentage of the round-trip time for which a compressed SACK waits in kernels without
`tcp_comp_sack_rtt_percent` (`__tcp_ack_snd_check` of Linux 6.12)."""


def settings(folder: Path = SETTINGS) -> dict[str, Any]:
    """The profile with the settings of this kernel; fields without a kernel setting are left out.

    Congestion control and ECN are the scenario's; the receive window is the kernel's default, which
    grows as in the profile.
    """
    found: dict[str, Any] = {"profile": PROFILE, "scaling_ratio": TUN_RATIO}
    for field, (name, on) in _SWITCHES.items():
        value = _number(folder / name)
        if value is not None:
            found[field] = (value != 0) is on
    for field, name in _COUNTS.items():
        value = _number(folder / name)
        # A kernel before 6.5 has no linear SYN timeouts: their number is 0.
        if value is not None or field == "syn_linear":
            found[field] = value or 0
    for field, name in _TIMES.items():
        if (value := _number(folder / name)) is not None:
            found[field] = f"{value} ns"
    percent = _number(folder / "tcp_comp_sack_rtt_percent")
    found["comp_sack_rtt_percent"] = FIXED_PERCENT if percent is None else percent
    linear, retries = found["syn_linear"], _number(folder / "tcp_syn_retries")
    if retries is not None:
        # The kernel's `tcp_write_timeout` allows the linear timeouts in addition to
        # `tcp_syn_retries`.
        found["syn_retries"] = retries + linear
    if found.get("host_cache") is False:
        found.pop("cache_ssthresh", None)  # without a host cache ssthresh is not cached either
    found["recovery"] = _recovery(folder)
    return found


def _recovery(folder: Path) -> str:
    if _number(folder / "tcp_sack") == 0:
        return "newreno"
    rack = _number(folder / "tcp_recovery")
    return "rack" if rack is None or rack & 1 else "sack"


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text("ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return None


def with_kernel(scenario: Scenario, folder: Path = SETTINGS) -> Scenario:
    """A scenario whose groups all have this kernel's end systems.

    Of a group's TCP settings only congestion control and ECN are kept, unless its profile has a
    field for each of this kernel's settings: then all are kept.
    """
    kernel = settings(folder)
    datagrams = {app["name"] for app in engine.catalogue()["traffic"] if app.get("datagrams")}
    groups: list[Traffic] = [
        group if group["app"] in datagrams else {**group, "tcp": _of(group.get("tcp"), kernel)}
        for group in scenario["traffic"]
    ]
    return {**scenario, "traffic": groups}


def _of(tcp: object, kernel: Mapping[str, object]) -> dict[str, object]:
    own = dict(tcp) if isinstance(tcp, Mapping) else {"profile": tcp}
    if kernel.keys() <= _fields(own.get("profile")):
        return {**kernel, **own}
    kept = {key: own[key] for key in ("congestion", "ecn") if key in own}
    return {**kernel, **kept}


def _fields(profile: object) -> set[str]:
    """The fields that a profile of this name has; for an unknown name only `profile`."""
    listed = (entry for entry in engine.catalogue()["tcp"] if entry["name"] == profile)
    return {"profile", *(field["name"] for entry in listed for field in entry.get("fields", ()))}
