"""What every answer has to be, whatever was asked."""

from __future__ import annotations

import contextlib
import io
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from aqmlab import errors
from aqmlab.cli import answering as cli
from aqmlab.simulator import engine

SCREEN = errors.LONGEST + len("aqmlab: ")
CODES = (0, 2, 130, 141)
HANG_S = 60


class Failure(AssertionError):
    """A trial that showed a fault."""


@dataclass(frozen=True)
class Answer:
    """What a command said."""

    code: int
    out: str
    err: str


class Hang(BaseException):
    """A trial that does not end."""


@contextlib.contextmanager
def limited(seconds: float = HANG_S) -> Iterator[None]:
    """A trial that takes longer is a hang."""

    def stop(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def streams() -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Output and complaints as bytes, as a terminal gets them."""
    raw = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(one, "utf-8", "backslashreplace") for one in raw)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            yield raw
        finally:
            out.flush()
            err.flush()
            out.detach()
            err.detach()


def command(*words: object, core: object = None) -> Answer:
    """The command `aqmlab` in this process; what nobody foresaw is raised."""
    patch = mock.patch.object(engine, "_core", lambda: core) if core else contextlib.nullcontext()
    with mock.patch.dict(os.environ, {cli.DEBUG: "1"}), patch, streams() as (out, err):
        code = cli._code([str(word) for word in words])
    answer = Answer(code, out.getvalue().decode(), err.getvalue().decode())
    check(answer)
    return answer


def check(answer: Answer) -> None:
    """One sentence for a mistake, nothing that a terminal obeys, no traceback."""
    if answer.code not in CODES:
        raise Failure(f"exit code {answer.code}: {answer.err[-2000:]}")
    for text in (answer.out, answer.err):
        if any(not (c.isprintable() or c in "\n\xa0\u202f\u2009") for c in text):
            raise Failure(f"characters without a picture: {text!r:.500}")
        if any(word in text for word in ("Traceback", "internal error", "panicked")):
            raise Failure(text[-3000:])
    lines = answer.err.splitlines()
    if answer.code == 2 and not (lines and lines[-1].startswith("aqmlab: ")):
        raise Failure(f"no sentence: {answer.err!r:.500}")
    if any(len(line) > SCREEN for line in lines):
        raise Failure(f"longer than a screen: {answer.err[:300]}")


def contents(folder: Path) -> dict[str, bytes]:
    """Every regular file below a folder; links are not followed."""
    found = {}
    for above, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not Path(above, name).is_symlink()]
        for name in names:
            path = Path(above, name)
            if path.is_file() and not path.is_symlink():
                found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def quiet(error: BaseException) -> str:
    """An exception in a line."""
    return f"{type(error).__name__}: {str(error)[:300]}"
