"""The messages between a process with a user's programs and its parent: JSON and bytes.

Nothing is unpickled: the child may run a stranger's program, so its messages are data to be
checked.
"""

from __future__ import annotations

import json
from multiprocessing.connection import Connection
from typing import Any

KINDS = {"|u1": 1, "<u2": 2, "<u4": 4, "<u8": 8, "<f8": 8}
"""Types of a table's columns (`crates/record/src/table.rs`), and bytes of a value."""
_BLOB = "\0blob"


class Garbled(ValueError):
    """A message that is not in the form that aqmlab writes."""


def send(connection: Connection, message: object) -> None:
    """Sends a message of lists, mappings, texts, numbers and bytes."""
    blobs: list[bytes] = []

    def bare(value: object) -> object:
        if isinstance(value, bytes):
            blobs.append(value)
            return {_BLOB: len(blobs) - 1}
        if isinstance(value, dict):
            return {key: bare(each) for key, each in value.items()}
        return [bare(each) for each in value] if isinstance(value, list | tuple) else value

    content = bare(message)
    connection.send_bytes(json.dumps([len(blobs), content]).encode())
    for blob in blobs:
        connection.send_bytes(blob)


def receive(connection: Connection) -> Any:
    """The next message; tuples have become lists. Raises `EOFError` if the connection is closed."""
    try:
        count, content = json.loads(connection.recv_bytes())
        blobs = [connection.recv_bytes() for _ in range(count)]
        return _filled(content, blobs)
    except (ValueError, TypeError, IndexError, KeyError, RecursionError) as error:
        raise Garbled(str(error)) from error


def _filled(value: Any, blobs: list[bytes]) -> Any:
    if isinstance(value, dict):
        if _BLOB in value:
            return blobs[value[_BLOB]]
        return {key: _filled(each, blobs) for key, each in value.items()}
    return [_filled(each, blobs) for each in value] if isinstance(value, list) else value


def check_result(raw: Any) -> Any:
    """A run's result; raises `Garbled` if it does not have the simulator's form."""
    try:
        if not isinstance(json.loads(raw["summary"]), dict):
            raise Garbled("its summary is no object")
        if not all(isinstance(group, str) for group in raw["groups"]):
            raise Garbled("a group has no name")
        for table in raw["tables"].values():
            rows = {len(data) / KINDS[kind] for _, kind, data in table["columns"]}
            if len(rows) > 1 or any(n != int(n) for n in rows):
                raise Garbled("columns of a table differ in length")
            if table["every_s"] is not None:
                _, _ = map(float, table["every_s"])
            if not all(isinstance(name, str) for name, *_ in table["columns"]):
                raise Garbled("a column has no name")
            if not all(isinstance(data, bytes) for *_, data in table["columns"]):
                raise Garbled("a column has no values")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Garbled(str(error)) from error
    return raw
