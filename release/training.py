"""What a wheel's simulator is made fast for: the runs that a build guided by a profile counts.

Maturin runs this between its two builds (`pgo-command` in pyproject.toml), with the first one
installed. The scenarios are those of `make bench`, shorter, with each kind of end system, a radio
channel that datagrams saturate, and a packet's way through every queue discipline, so that none is
taken for one that is never used.
"""

from __future__ import annotations

from aqmlab.bench.simulator import BULK, QUEUE_PACKETS, WEB, run_apart, web_users
from aqmlab.experiment import spec
from aqmlab.simulator import engine

PROFILES = ("plain", "freebsd-2.2.8", "linux")
QUEUE = {"aqm": "droptail", "limit": 400}
STREAM = {"app": "cbr", "flows": 2, "rate": "41.5 Mbit/s", "packet": 1472, "start_within": "1 s"}
AIR: dict[str, object] = {
    "name": "training-air",
    "duration": "10 s",
    "seed": 1,
    "network": {"rtt": "0 s", "clients": 2, "servers": 1},
    "link": [
        {
            "name": "air",
            "rate": "65 Mbit/s",
            "wifi": {"rates": ["65 Mbit/s"] * 2, "stack": "stations"},
            "forward": QUEUE,
            "reverse": QUEUE,
        }
    ],
    "traffic": [
        {"name": "down", "side": "servers", **STREAM},
        {"name": "up", "side": "clients", **STREAM},
    ],
    "record": {"samples": False, "datagrams": False},
}
"""Two stations that get and send more than their channel carries."""


def main() -> None:
    """Runs them all, one after the other."""
    web = {**WEB, "duration": "3 min", "warmup": "1 min"}
    web = spec.set_path(web, "traffic.0.users", web_users())
    for profile in PROFILES:
        for scenario in (web, {**BULK, "duration": "15 s"}):
            run_apart(spec.set_path(scenario, "traffic.0.tcp.profile", profile))
    engine.simulate(AIR)
    for entry in engine.catalogue()["aqm"]:
        engine.overload(entry["name"]).run(QUEUE_PACKETS)


if __name__ == "__main__":
    main()
