"""What several tests of live runs share."""

from __future__ import annotations

WEB = """
duration = "2 s"
[network]
rtt = "20 ms"
[[link]]
rate = "5 Mbit/s"
[[traffic]]
app = "web"
users = 400
start = "stationary"
tcp = "linux"
"""
"""Two seconds of web users, as TOML."""
