"""What a script sets before its connection, as parameters of profile `linux`."""

from __future__ import annotations

import re
from typing import Any

from validation.packetdrill.reasons import NotRunError
from validation.packetdrill.script import Call, Packet, Script

Parameters = dict[str, Any]

MTU = 1500
HEADERS = 40

IGNORED_SYSCTLS = {
    "tcp_wmem", "tcp_rmem", "tcp_fack", "tcp_tso_win_divisor", "tcp_notsent_lowat", "tcp_mem",
    "tcp_pacing_ss_ratio", "tcp_pacing_ca_ratio", "tcp_syncookies", "tcp_fastopen",
    "tcp_fastopen_key", "tcp_dsack", "tcp_invalid_ratelimit", "tcp_ecn_option_beacon",
    "tcp_autocorking", "tcp_min_tso_segs", "tcp_workaround_signed_windows",
}  # fmt: skip
"""Without an effect on what these scripts check, or (the window, DSACK) always on here."""

IGNORED_CALLS = {"fcntl", "bind", "read", "recv", "recvfrom", "recvmsg", "getsockopt", "print"}
"""The program reads at once; nothing that a peer sees follows from the others."""

IGNORED_OPTIONS = {
    "SO_REUSEADDR", "SO_SNDBUF", "IP_TOS", "IP_MTU_DISCOVER", "TCP_NODELAY", "SO_PRIORITY",
    "IP_FREEBIND", "TCP_QUICKACK", "SO_KEEPALIVE",
}  # fmt: skip


def parameters(script: Script) -> Parameters:
    """Parameters of the end that the script plays against; raises NotRunError for what has no
    counterpart."""
    _refuse_devices(script)
    calls = [event.what for event in script.events if isinstance(event.what, Call)]
    packets = [event.what for event in script.events if isinstance(event.what, Packet)]
    opens = any(call.name == "connect" for call in calls)
    # defaults.sh of the scripts.
    settings: Parameters = {"idle_restart": False, "host_cache": False, "syn_retries": 9}
    settings["tso_autosize"] = True  # as every Linux, whatever the device
    sysctls: dict[str, str] = {}
    for event in script.events:
        if event.kind == "shell" and isinstance(event.what, str):
            sysctls |= _sysctls(event.what)
            settings |= _routes(event.what)
            settings |= _pacing(event.what)
    for name, value in sysctls.items():
        settings |= _setting(name, value, opens)
    for call in calls:
        if call.name == "setsockopt":
            settings |= _socket_option(call)
    return settings | _segment_size(script, packets, settings)


def _refuse_devices(script: Script) -> None:
    known = {"tolerance_usecs", "mtu", "mss", "tcp_ts_tick_usecs", "ip_version", "wire_protocol",
             "send_omit_free"}  # fmt: skip
    for name, value in script.options.items():
        if name == "ip_version" and "6" in value:
            raise NotRunError("IPv6")
        if name not in known:
            raise NotRunError("device", f"--{name}")


def _segment_size(script: Script, packets: list[Packet], settings: Parameters) -> Parameters:
    own = int(script.options.get("mtu", MTU)) - HEADERS
    if "mss" in script.options:
        own = min(own, int(script.options["mss"]))
    offered = [packet.mss for packet in packets if not packet.outbound and packet.mss]
    return {"mss": min(own, settings.get("mss", own), *(offered[:1] or [536]))}


def _sysctls(command: str) -> dict[str, str]:
    found = re.findall(r"(?:net[./]ipv4[./]|/proc/sys/net/ipv4/)(\w+)=(\"[^\"]*\"|\S+)", command)
    rest = re.sub(r"echo 3 > \S*hystart_detect", "", command)  # the default
    rest = re.sub(r"(?:net[./]ipv4[./]|/proc/sys/net/ipv4/)\w+=(\"[^\"]*\"|\S+)", "", rest)
    for word in re.findall(r"^\s*(\S+)", rest, re.MULTILINE):
        usual = (
            r"(\S*/)?(defaults\.sh|set_sysctls\.py|sysctl\S*|tc|ip|nstat)|#.*|\\|-.*|/tmp/\S*|:"
            r"|ethtool"
        )
        if not re.fullmatch(usual, word):
            raise NotRunError("shell", command.strip().splitlines()[0][:40])
    return {name: value.strip('"') for name, value in found}


def _routes(command: str) -> Parameters:
    if re.search(r"ethtool .*gso off", command):
        return {"gso_max_segs": 1}
    if "ip route" in command or "ip -" in command or "ip link" in command:
        found = re.search(r"initcwnd (\d+)", command)
        if not found:
            raise NotRunError("shell", "ip")
        return {"initial_window": int(found[1])}
    return {}


def _pacing(command: str) -> Parameters:
    """FQ holds back what TCP says is to go later."""
    paced = re.search(r"tc qdisc \w+ dev \w+ root fq\b", command)
    return {"pacing": True} if paced else {}


def _setting(name: str, value: str, opens: bool) -> Parameters:
    if name in IGNORED_SYSCTLS:
        return {}
    number = int(value) if value.isdigit() else None
    match name, number:
        case "tcp_ecn", int():
            return _ecn(number, opens)
        case "tcp_ecn_option", int():
            return {"accecn_option": number >= 1}
        case "tcp_ecn_fallback", int():
            return {"ecn_fallback": bool(number)}
        case "tcp_timestamps", int():
            return {"timestamps": bool(number)}
        case "tcp_slow_start_after_idle", int():
            return {"idle_restart": bool(number)}
        case "tcp_sack", int():
            return {} if number else {"recovery": "newreno"}
        case "tcp_recovery", int():
            return {}
        case "tcp_frto", int():
            return {"f_rto": bool(number)}
        case "tcp_early_retrans", 0 | 3 | 4:
            return {}  # a probe, which 0 forbids, shows as a segment too many
        case "tcp_syn_retries", int():
            return {"syn_retries": number + 4}
        case "tcp_synack_retries", int():
            return {"synack_retries": number}
        case "tcp_syn_linear_timeouts", int():
            return {"syn_linear": number}
        case "tcp_congestion_control", _:
            return {"congestion": value}
    raise NotRunError("sysctl", f"{name}={value}")


def _ecn(mode: int, opens: bool) -> Parameters:
    """`tcp_ecn`: what is accepted, and what is requested."""
    accepts, requests = {
        0: ("", ""),
        1: ("classic", "classic"),
        2: ("classic", ""),
        3: ("accurate", "accurate"),
        4: ("accurate", "classic"),
        5: ("accurate", ""),
    }[mode]
    feedback = requests if opens else accepts
    if not feedback:
        return {"ecn": False}
    option = {"accecn_option": True} if feedback == "accurate" else {}
    return {"ecn": True, "ecn_feedback": feedback, **option}


def _socket_option(call: Call) -> Parameters:
    option, value = call.arguments[2], call.arguments[3].strip('[] "')
    if option in IGNORED_OPTIONS:
        return {}
    match option:
        case "TCP_CONGESTION":
            return {"congestion": value}
        case "TCP_MAXSEG":
            return {"mss": int(value)}
        case "TCP_SYNCNT":
            return {"syn_retries": int(value)}
        case "SO_RCVBUF":
            return {"autotuning": False, "window_bytes": 2 * int(value)}
    raise NotRunError("socket option", option)
