"""Replaces the files that a scenario names by their contents: tables, traces, requests, learned
models and programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aqmlab.errors import SpecError
from aqmlab.io import files
from aqmlab.simulator.plugin import source

from . import examples, recording

LEARNED = ".jsonl"
"""The suffix of a learned model's file."""
NAMED_FILES = {"model": LEARNED, "requests": ""}
"""Fields of a traffic group that may name a file, and the suffix by which a file name is
recognised."""
AQM = "aqm"
"""The field of a queue that may name the file of a discipline."""
CONTROL = "congestion"
"""The field of an end system that may name the file of a congestion control, or a table whose
`name` names one."""
QUEUES = ("forward", "reverse")
"""Fields of a link whose value may be just a discipline."""
TRACES = ("rate_trace", "reverse_rate_trace", "steps", "times")
"""Fields of a link and of its effects that may name the file of a recorded line."""


def inline_tables(document: Any, folder: Path, *, by_user: bool = False) -> Any:
    """A copy of a document in which each table that names a file holds its content as `text`: `{
    dist = "table", file = … }` and `rate_trace = { file = … }`. Such a table also replaces the name
    of a learned model (`model = "….jsonl"`), of a file of requests (`requests = "….csv"`) and of a
    user's discipline or congestion control (`aqm = "….py"`, `congestion = "….py"` or a shared
    library).

    The content is thus a part of the run's identity. Paths are relative to `folder`, the folder of
    the scenario's file. `by_user`: the names come from a command or the user's own program, not
    from a file that may be somebody else's (see `plugin.trust`).
    """
    how = {"by_user": by_user}
    if isinstance(document, Mapping):
        changed = {key: inline_tables(value, folder, **how) for key, value in document.items()}
        for key, value in changed.items():
            # The key of an override is a path, and the value of an axis is a list.
            name = str(key).rpartition(".")[2]
            if name == AQM or name in QUEUES:
                changed[key] = _inline_discipline(value, folder, name in QUEUES, **how)
            elif name == CONTROL:
                changed[key] = _inline_control(value, folder, **how)
            elif name in NAMED_FILES:
                changed[key] = _inline_file(value, folder, name)
            elif name in TRACES:
                several = isinstance(value, list)
                traces = [_with_text(v, folder, "trace") for v in (value if several else [value])]
                changed[key] = traces if several else traces[0]
        return _with_text(changed, folder, "CSV") if changed.get("dist") == "table" else changed
    if isinstance(document, list):
        return [inline_tables(value, folder, **how) for value in document]
    return document


def check_paths(paths: Iterable[str]) -> None:
    """Refuses an override of a trace's file name alone, since the content would stay that of the
    old file."""
    for path in paths:
        above, _, name = path.rpartition(".")
        if name == "file" and above.rpartition(".")[2] in TRACES:
            raise SpecError(
                f'"{path}" cannot be set alone: set the whole trace, '
                f"for example {above}={{file='lte.trace'}}"
            )


def _with_text(table: object, folder: Path, kind: str) -> object:
    """The table with the content of the file that it names, unless it has the content already."""
    if not isinstance(table, Mapping) or "text" in table:
        return table
    file = table.get("file")
    if not isinstance(file, str):
        return table
    return {**table, "text": read_table(found(folder, file), kind)}


def _inline_discipline(named: object, folder: Path, is_queue: bool, *, by_user: bool) -> Any:
    """The discipline whose file a field names, or a list of them in a sweep. Other names, which are
    aqmlab's own disciplines, are returned unchanged."""
    if isinstance(named, list):
        if any(isinstance(each, list) for each in named):
            return named  # not a list of queues, which the simulator will report
        found = [_inline_discipline(each, folder, is_queue, by_user=by_user) for each in named]
        several = zip(named, found, strict=True)
        return [{"label": _name(new), **new} if new is not old else new for old, new in several]
    if not isinstance(named, str) or not source.names_file(named):
        if not is_queue:
            source.check_whole(named, AQM)
        return named
    described = source.table(named, folder, by_user=by_user)
    return {AQM: described} if is_queue else described


def _inline_control(named: object, folder: Path, *, by_user: bool) -> Any:
    """The congestion control whose file a field names, or a list of them in a sweep, with its
    parameters."""
    if isinstance(named, list):
        found = [_inline_control(each, folder, by_user=by_user) for each in named]
        return [
            {"label": f"{CONTROL}={new['name']['name']}", **new} if new is not old else new
            for old, new in zip(named, found, strict=True)
        ]
    if isinstance(named, str) and source.names_file(named):
        return {"name": source.table(named, folder, by_user=by_user)}
    if isinstance(named, Mapping) and source.names_file(named.get("name")):
        return {**named, "name": source.table(named["name"], folder, by_user=by_user)}
    source.check_whole(named.get("name", named) if isinstance(named, Mapping) else None, CONTROL)
    return named


def _name(queue: Mapping[str, Any]) -> str:
    """The label of a discipline, which may be given within a queue or by itself."""
    return f"aqm={queue.get(AQM, queue)['name']}"


def _inline_file(named: object, folder: Path, field_name: str) -> object:
    """The file that a field names, or a list of them in a sweep, as tables with contents. Names
    without a suffix are those of built-in models and are returned unchanged."""
    if isinstance(named, list):
        if any(isinstance(each, list) for each in named):
            return named
        files = [_inline_file(each, folder, field_name) for each in named]
        return [
            {"label": file["file"], **file} if isinstance(file, dict) and "file" in file else file
            for file in files
        ]
    if not isinstance(named, str) or not named.endswith(NAMED_FILES[field_name]):
        if isinstance(named, str) and Path(named).suffix:
            learned = f"`aqmlab learn` writes one, whose name ends with {LEARNED}"
            raise SpecError(f'{field_name}: "{named}" is no learned model: {learned}')
        return named
    if field_name == "requests":
        return _with_text({"file": named}, folder, "CSV")
    return {"file": named, "text": recording.read(folder / named)}


def found(folder: Path, file: str) -> Path:
    """The path of a file that a scenario of this folder names; `example:NAME` is a trace of the
    package."""
    own, _, name = file.partition(examples.PREFIX)
    return folder / file if own or not name else examples.trace(name)


def read_table(path: Path, kind: str = "CSV") -> str:
    """The content of a table or trace file; an error is reported as one sentence."""
    what = "table (CSV)" if kind == "CSV" else "trace (milliseconds, or a CSV with a header)"
    try:
        return files.read_packed(path).decode("utf-8-sig")
    except FileNotFoundError as error:
        raise SpecError(f"{path}: no such file; give the path of a {what}") from error
    except UnicodeDecodeError as error:
        raise SpecError(f"{path}: not UTF-8 text; give a {what}") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SpecError(f"{path}: cannot be read ({reason}); give the path of a {what}") from error
