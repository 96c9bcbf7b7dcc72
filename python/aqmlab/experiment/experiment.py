"""An experiment as data: a file, a folder with its `experiment.toml` or a document in memory. It is
checked when it is read.

The format is described in `docs/studies.md`, its entries are in `grammar`. A bare scenario or a
scenario with `[sweep]` is read as an experiment of one group (see `sweep`).
"""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from aqmlab.errors import SpecError, nearest
from aqmlab.io import documents
from aqmlab.io.documents import Document, check_depth
from aqmlab.simulator.forms import Draft, Scenario

from . import folders, shapes, shared_forms, sweep
from .folders import FILE, sources
from .grammar import (
    KINDS,
    LISTS,
    Advice,
    CalibrationRule,
    Deviation,
    Difference,
    Figure,
    Group,
    Metric,
    Mode,
    Part,
    Settings,
    Setup,
    Table,
    groups_named,
    named,
)
from .inlining import check_paths, inline_tables
from .rules import Claim
from .shapes import Mistake, key, written
from .spec import parse_override
from .sweep import Calibrating

T = TypeVar("T")

#: A pattern that matches the heading of a claim in a file, and the names of the top-level entries
#: of a file that are read for its claims.
_CLAIM = re.compile(r"^\[+claim\b", re.MULTILINE)
_OF_CLAIMS = ("claim", "defaults")


Change = Callable[[Scenario, Collection[str]], Scenario]
"""Changes the scenario of a cell, whose axes have set the fields at these paths."""
Inline = Callable[[Document], Document]
"""Returns a document with the contents of the files that it names."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is run, judged and shown."""

    name: str = key("as typed on the command line")
    title: str = key("what the report begins with")
    subtitle: str = key("the second line of the title")
    question: str = key("the question that the study answers")
    source: str = key("whom it follows")
    port: str = key("the queue that is studied, for readers of the file", default="")
    include: tuple[str, ...] = key(
        "files in its folder with more entries; they may add to `[base.NAME]` and `[axis.NAME]`",
        default=(),
    )
    lead: str | None = key("the figure that the report begins with", default=None)
    answer: tuple[str, ...] = key("the claims that answer the question, in this order", default=())
    advice: Advice | None = key("what to do, if the claims hold", default=None)
    part: tuple[Part, ...] = key("what can be run one by one")
    settings: Mapping[Mode, Settings] = key("how long and how often, quick and full")
    scenario: Scenario = key("what groups start from, complete but for times and seed")
    bases: Mapping[str, Scenario] = key(
        "other scenarios to start from", name="base", default_factory=dict
    )
    axes: Mapping[str, object] = key(
        "axes that several groups share", name="axis", default_factory=dict
    )
    setup: tuple[Setup, ...] = key("set-ups that are drawn", default=())
    calibration: tuple[CalibrationRule, ...] = key("how loads become users", default=())
    group: tuple[Group, ...] = key("sets of runs")
    metric: tuple[Metric, ...] = key("numbers of runs")
    table: tuple[Table, ...] = key("means and intervals", default=())
    difference: tuple[Difference, ...] = key("paired differences", default=())
    figure: tuple[Figure, ...] = key("pictures", default=())
    claim: tuple[Claim, ...] = key("sentences and rules", default=())
    deviation: tuple[Deviation, ...] = key("what is not from the paper", default=())
    folder: Path
    """The folder of the experiment's files."""
    filename: str = FILE
    """Name of the experiment's first file; empty if the document is not from a file."""
    files: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    """For each list of entries, such as `claim`: the files that its entries were read from, in the
    order of the entries."""
    loads: Calibrating = field(default_factory=lambda: Calibrating())
    """How offered loads in the scenario itself are converted into users: `[calibration]` of a
    sweep."""
    change: Change | None = None
    """A function that is applied to every scenario at the end, for example to set unknown
    values."""
    set: str = ""
    """Name of the set of values that `change` applies."""
    changes: tuple[str, ...] = ()
    """Fields that were changed in every scenario, as `path=value`."""
    swept: bool = False
    """Whether the experiment was written as a scenario or a sweep: it then has one group, and no
    quick form of its own."""

    @property
    def where(self) -> str:
        """The path of the first file, for error messages."""
        return str(self.folder / self.filename) if self.filename else "scenario"

    @property
    def is_shown(self) -> bool:
        """Whether the experiment has metrics, tables, figures or claims, so that runs are
        reported."""
        return any(getattr(self, kind) for kind in LISTS if kind != "group")

    @property
    def parts(self) -> list[str]:
        """The parts that can be run one by one, in the order of the report."""
        return [part.name for part in self.part]

    @property
    def metrics(self) -> dict[str, Metric]:
        """The metrics by name."""
        return {metric.name: metric for metric in self.metric}

    def of(self, kind: str, parts: Sequence[str] | None = None) -> list[Any]:
        """The entries of a list (`group`, `table`, `figure`, …) that belong to these parts."""
        return [e for e in getattr(self, kind) if parts is None or e.part in parts]

    def base(self, name: str | None) -> Scenario:
        """The scenario that a group starts from: `[scenario]`, or `[base.<name>]`."""
        if name is None:
            return self.scenario
        if name not in self.bases:
            raise SpecError(f'{self.name} has no base "{name}"{nearest(name, list(self.bases))}')
        return self.bases[name]

    def setting(self, quick: bool) -> Settings:
        """Run length, warm-up, seeds and interim analyses (looks) of the quick or the full
        study."""
        mode: Mode = "quick" if quick else "full"
        return replace(self.settings[mode], mode=mode)

    def check_parts(self, parts: Sequence[str] | None) -> list[str]:
        """These parts in the order of the file, or all parts; SpecError for an unknown one."""
        for part in parts or []:
            if part not in self.parts:
                known = ", ".join(self.parts)
                raise SpecError(f'{self.name} has no part "{part}": its parts are {known}')
        return [p for p in self.parts if not parts or p in parts]

    def picture(self, identity: str) -> Figure:
        """The figure with this identifier; SpecError for an unknown one."""
        known = {figure.id: figure for figure in self.figure}
        if identity not in known:
            raise SpecError(f'{self.name} has no figure "{identity}": it has {", ".join(known)}')
        return known[identity]

    def groups_of(self, entries: Iterable[object]) -> list[Group]:
        """The groups of runs that any of these entries names, in the order of the file."""
        tables = {t.id: t for t in (*self.table, *self.difference)}
        wanted: set[str] = set()
        for entry in entries:
            described = _described(entry)
            wanted |= set(groups_named(described))
            if described.get("table") in tables:
                wanted |= set(groups_named(written(tables[described["table"]])))
        unknown = wanted - {g.name for g in self.group}
        if unknown:
            raise SpecError(f"{self.name} has no group {', '.join(sorted(unknown))}")
        return [g for g in self.group if g.name in wanted]

    def groups(self, parts: Sequence[str]) -> list[Group]:
        """The groups of these parts, and those of other parts that their entries refer to."""
        entries = [e for kind in LISTS if kind != "group" for e in self.of(kind, parts)]
        wanted = [g.name for g in self.groups_of(entries) + self.of("group", parts)]
        return [g for g in self.group if g.name in wanted]


def _described(entry: object) -> dict[str, Any]:
    return entry.entry if isinstance(entry, Figure) else written(entry)


def load(
    source: str | os.PathLike[str] | Draft,
    *,
    overrides: Sequence[str] | Mapping[str, object] = (),
    seed: int | None = None,
    seeds: int | Sequence[int] | None = None,
    aqm: Sequence[object] = (),
    kept: bool = False,
) -> Experiment:
    """The experiment of this name, file or folder (see `folders.find`), or of this document.

    A scenario or a sweep takes `overrides`, `"path=value"` strings or a mapping, whose paths are
    relative to the scenario, and seeds in place of its own. `aqm` lists the user's own disciplines
    (see `external_aqm`). A document that is `kept` in a results folder holds the contents of all
    files that it names. No file is read for it, since the folder may come from a stranger.
    """
    how = (overrides, seed, seeds)
    if isinstance(source, Mapping):
        check_depth(source)
        document, folder, name = copy.deepcopy(dict(source)), Path(), ""
        inline = _as_it_is if kept else partial(inline_tables, folder=folder, by_user=True)
    else:
        file = folders.find(str(source))
        document, folder, name = documents.read_toml(file), file.parent, file.name
        inline = partial(inline_tables, folder=folder)
    found = _read(document, folder, name, inline, *how)
    if not aqm:
        return found
    from . import external_aqm

    return external_aqm.with_own(found, aqm)


def _as_it_is(document: T) -> T:
    return document


def _read(
    document: Document,
    folder: Path,
    filename: str,
    inline: Inline,
    overrides: Sequence[str] | Mapping[str, object],
    seed: int | None,
    seeds: int | Sequence[int] | None,
) -> Experiment:
    """The experiment of a document and of the files that it includes."""
    file = folder / filename if filename else Path("scenario")
    if not sweep.has_groups(document):
        document, how = _swept(document, file, inline, overrides, seed, seeds)
        whole = shared_forms.expand({file: document})
        return read(whole.data, folder, whole.files, filename=filename, swept=True, loads=how)
    if overrides or (seed, seeds) != (None, None):
        raise SpecError(f"{file} has groups, which say what is run: leave out seeds and changes")
    more = {
        folder / name: documents.read_toml(folder / name)
        for name in documents.included(document, file)
    }
    whole = shared_forms.expand({file: document} | more)
    return read(whole.data, folder, whole.files, filename=filename)


def _swept(
    document: Document,
    file: Path,
    inline: Inline,
    overrides: Sequence[str] | Mapping[str, object],
    seed: int | None,
    seeds: int | Sequence[int] | None,
) -> tuple[Document, Calibrating]:
    """A scenario or sweep as the document of an experiment, and how its loads are converted into
    users."""
    try:
        given = overrides if isinstance(overrides, Mapping) else map(parse_override, overrides)
        pairs = dict(given)
        check_depth(list(pairs.values()))
        check_paths(pairs)
        name = folders.stem(file) if file.suffix or file.parent.name else "scenario"
        document, pairs = inline(document), inline_tables(pairs, file.parent, by_user=True)
        full = sweep.in_full(document, name, sweep.Requested(pairs, seed, seeds))
    except SpecError as error:
        raise SpecError(f"{file}: {error}") from error
    return full, full.pop("loads")


def read(
    data: Document,
    folder: Path,
    files: Mapping[str, Sequence[Path]] | None = None,
    **more: Any,
) -> Experiment:
    """The experiment of a complete document. The first mistake raises a SpecError with one sentence
    that names file and entry."""
    files = files or {}
    known = shapes.keys(Experiment)
    first = folder / (more.get("filename", FILE) or "scenario")
    try:
        shapes.check_keys(data, known)
        given = {
            known[name].attribute: shapes.convert(name, value, known[name].type)
            for name, value in data.items()
            if name not in KINDS
        }
    except Mistake as mistake:
        raise SpecError(f"{first}: {mistake}") from mistake
    for kind in KINDS:
        if kind in data:
            given[kind] = tuple(
                _entry(kind, number, entry, files.get(kind) or [first] * (number + 1))
                for number, entry in enumerate(data[kind])
            )
    return Experiment(folder=folder, files=files, **given, **more)


def _entry(kind: str, number: int, entry: Any, files: Sequence[Path]) -> Any:
    """One entry of a list as an object of its kind."""
    try:
        return figure(entry) if kind == "figure" else shapes.read(KINDS[kind], entry)
    except Mistake as mistake:
        name = (named(entry) if isinstance(entry, Mapping) else None) or f"number {number + 1}"
        raise SpecError(f"{files[number]}: {kind} {name}: {mistake}") from mistake


def figure(entry: Document) -> Figure:
    """A figure. Keys that not every figure has are left to its kind, in `of`."""
    known = shapes.keys(Figure)
    own = {name: value for name, value in entry.items() if name in known}
    shapes.check_keys(own, known)
    return Figure(
        **{name: shapes.convert(name, value, known[name].type) for name, value in own.items()},
        of={name: value for name, value in entry.items() if name not in known},
    )


def claims(file: Path) -> list[Claim]:
    """Only the claims of an experiment, as `load` returns them, from the files that hold any."""
    holding = [path for path in sources(file) if _CLAIM.search(path.read_text(encoding="utf-8"))]
    said = {path: documents.read_toml(path) for path in holding}
    if file in said and not sweep.has_groups(said[file]):
        said[file]["defaults"] = sweep.defaults(said[file])
    alone = {path: {k: v for k, v in d.items() if k in _OF_CLAIMS} for path, d in said.items()}
    whole = shared_forms.expand(alone)
    return [
        _entry("claim", number, entry, whole.files["claim"])
        for number, entry in enumerate(whole.data.get("claim", []))
    ]
