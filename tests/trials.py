"""Trials of one discipline: packets to send through it, and what its calls tell."""

from __future__ import annotations


def burst(n: int, at: int = 0, size: int = 1000, flow: int = 0, ecn: str = "ect0") -> list[dict]:
    """n packets at one instant; 1000 B take 0.8 ms."""
    packet = {"flow": flow, "bytes": size, "ecn": ecn}
    return [{"at_ns": at, "packet": dict(packet)} for _ in range(n)]


def numbered(*bursts: list[dict]) -> list[dict]:
    """Their packets in order of arrival, numbered from 0."""
    arrivals = sorted((a for burst in bursts for a in burst), key=lambda a: a["at_ns"])
    for i, arrival in enumerate(arrivals):
        arrival["packet"]["id"] = i
    return arrivals


def of(calls: list[dict], kind: str) -> list[dict]:
    """The calls of a kind, such as enqueue."""
    return [call for call in calls if call["call"] == kind]


def ids(calls: list[dict], kind: str, *why: str) -> list[int]:
    """Packets to which this happened, such as dropped; for these causes where any are named."""
    return [e[1] for c in calls for e in c["events"] if e[0] == kind and (not why or e[2] in why)]


def times(calls: list[dict], kind: str) -> list[int]:
    """When it happened to packets, ns."""
    return [call["at_ns"] for call in calls for event in call["events"] if event[0] == kind]
