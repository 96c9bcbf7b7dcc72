"""A command that is a fork: it sends words, folder, variables and streams to the one that forks.

This file is also the program `aqmlab` of the documents' commands: SOCKET PROGRAM… -- WORDS…. Where
variables that are read during imports differ from those of the process that forks, it becomes a new
interpreter.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

NUMBER = 8
"""Bytes of a number on the socket."""
READ_BY_IMPORTS = ("MPL", "POLARS_", "PYTHON", "XDG_")
"""How variables begin that are read during imports."""


def order(program: list[str], words: list[str], folder: str, environment: dict[str, str]) -> bytes:
    """What the process that forks is sent."""
    of = {"program": program, "words": words, "folder": folder, "environment": environment}
    return json.dumps(of).encode()


def received(client: socket.socket) -> tuple[dict, list[int]]:
    """An order and its three streams."""
    size, streams, _, _ = socket.recv_fds(client, NUMBER, 3)
    return json.loads(_exactly(client, int.from_bytes(size, "big"))), streams


def send(client: socket.socket, number: int) -> None:
    client.sendall(number.to_bytes(NUMBER, "big", signed=True))


def _exactly(client: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = client.recv(size - len(found))
        if not more:
            raise ConnectionError("the process that forks has ended")
        found += more
    return found


class Running:
    """A fork that has been ordered; `process` is its number."""

    def __init__(self, path: str, order: bytes, streams: list[int]) -> None:
        self._client = socket.socket(socket.AF_UNIX)
        self._client.connect(path)
        socket.send_fds(self._client, [len(order).to_bytes(NUMBER, "big")], streams)
        self._client.sendall(order)
        self.process = self._number()

    def ended(self, seconds: float | None = None) -> int:
        """Its exit code, once it has ended; a signal is negative."""
        self._client.settimeout(seconds)
        return self._number()

    def _number(self) -> int:
        return int.from_bytes(_exactly(self._client, NUMBER), "big", signed=True)

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()


def _main(path: str, *rest: str) -> None:
    program, words = list(rest[: rest.index("--")]), list(rest[rest.index("--") + 1 :])
    # No pathlib, which would be imported for this alone.
    beside = path.removesuffix("socket") + "environment"
    with open(beside, encoding="utf-8") as file:  # noqa: PTH123
        theirs = json.load(file)
    ours = dict(os.environ)
    names = {name for name in {*ours, *theirs} if name.startswith(READ_BY_IMPORTS)}
    if any(ours.get(name) != theirs.get(name) for name in names):
        os.execv(sys.executable, [sys.executable, *program, *words])
    ordered = order(program, words, os.getcwd(), ours)  # noqa: PTH109
    with Running(path, ordered, [0, 1, 2]) as running:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: os.kill(running.process, number))
        code = running.ended()
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    _main(*sys.argv[1:])
