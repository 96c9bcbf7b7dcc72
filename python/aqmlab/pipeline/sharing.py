"""Writes a results folder as one file, and repeats the runs of such a file to check whether the
results are equal.

An `.aqm` file is a ZIP archive: `aqm.json` lists its contents (format, version, each run's
scenario, seed and fingerprint); it also holds the folder's manifest, tables, figures and report,
and with `tables` the runs' own. A file that is read may come from a stranger: nothing is unpacked
to a disk, an archive with the name of a file outside is refused, and only the index is read, whose
length is bounded before a byte is read.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypedDict, cast

from aqmlab.errors import SpecError, StoreError
from aqmlab.experiment.plan import Run
from aqmlab.experiment.spec import length_s
from aqmlab.io.files import whole
from aqmlab.runs import pool, run_files
from aqmlab.runs.laboratory import Laboratory, complete
from aqmlab.runs.progress import Progress
from aqmlab.runs.run_files import key_of
from aqmlab.runs.store import Store
from aqmlab.simulator import engine
from aqmlab.simulator.forms import Scenario
from aqmlab.simulator.plugin import source as own_source
from aqmlab.simulator.plugin import trust

if TYPE_CHECKING:
    from aqmlab.runs.cluster import Cluster

SUFFIX = ".aqm"
INDEX = "aqm.json"
FORMAT = 1
MOST_BYTES = 64 << 20
"""Largest size of an index, unpacked: a hundred thousand small scenarios."""
MOST_RATIO = 200
"""Largest ratio of an index's unpacked length to its packed one: text packs to a twentieth, a
decompression bomb to a thousandth."""
MOST_RUNS = 200_000
_NO_ARCHIVE = (
    *(zipfile.BadZipFile, zlib.error, EOFError),
    *(NotImplementedError, RuntimeError, OSError),
)
"""The exceptions that reading an archive raises."""
_SHOWN = ("manifest.json", "result.json", "advice.json", "report.html")
_FOLDERS = ("tables", "figures")
_BUILD = ("version", "build")
_DATE = (1980, 1, 1, 0, 0, 0)
"""Date of every entry, so that a folder always gives equal bytes."""


def export(folder: Path, out: Path, *, tables: bool = False) -> Path:
    """Writes the archive; entries of the folder that aqmlab did not write (links, other names) are
    left out."""
    store = Store.existing(folder)
    runs = list(_of_folder(store))
    if not runs:
        raise StoreError(f"{folder} holds no finished runs: there is nothing to share")
    index = {
        "format": FORMAT,
        "name": store.manifest.get("name") or store.manifest.get("study") or folder.name,
        "version": engine.version().version,
        "build": engine.version().build,
        "runs": runs,
    }
    with whole(out) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        _put(archive, INDEX, json.dumps(index, sort_keys=True).encode())
        for name in _files(store, tables):
            _put(archive, name, store.contents.read(name))
    return out


def programs(folder: Path) -> list[str]:
    """A sentence for each program that the file of a folder carries or names."""
    described: dict[str, str] = {}
    for run in _of_folder(Store.existing(folder)):
        for table in own_source.tables(run["scenario"]):
            name = str(table["file"])
            described[name] = (
                f"the file carries the program {name}, which runs with the rights of the user who "
                "reproduces it: only with --trust there"
                if "text" in table
                else f"the file names the library {name} and does not carry it: send it as well"
            )
    return list(described.values())


def _put(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    about = zipfile.ZipInfo(name, _DATE)
    about.compress_type = zipfile.ZIP_DEFLATED
    about.external_attr = 0o644 << 16
    archive.writestr(about, content)


def _files(store: Store, tables: bool) -> Iterator[str]:
    """The names of the files that are archived; the sentence of an error names a file that was
    altered."""
    inside = [store.folder / name for name in _SHOWN]
    for name in (*_FOLDERS, *(["runs"] if tables else [])):
        inside += sorted((store.folder / name).rglob("*"))
    there = (path for path in inside if path.is_file() and not path.is_symlink())
    names = (path.relative_to(store.folder).as_posix() for path in there)
    yield from (name for name in names if store.contents.holds(name))


class KnownRun(TypedDict):
    """A run that can be repeated: key, scenario, seed, and the fingerprint of its result."""

    key: str
    scenario: Scenario
    seed: int
    fingerprint: str


class Index(TypedDict):
    """The index of an archive or folder: name, version, and the runs."""

    name: str
    version: str
    build: str
    runs: list[KnownRun]


def _of_folder(store: Store) -> Iterator[KnownRun]:
    """Scenario, seed and fingerprint of each finished run of a folder. A folder that lacks runs is
    refused: a reader of the archive would not notice that it is incomplete."""
    listed = [row["folder"] for row in store.manifest.get("runs", []) if row.get("folder")]
    keys = sorted({*store.finished(), *(key_of(Path(place)) for place in listed)})
    found = [run for run in map(store.find, keys) if run is not None]
    if len(found) < len(keys):
        raise StoreError(
            f"{store.folder} lacks {len(keys) - len(found)} of its {len(keys)} runs: give the "
            "command that wrote it again"
        )
    for run in found:
        manifest = run.manifest
        yield cast(
            KnownRun, {name: manifest[name] for name in ("key", "scenario", "seed", "fingerprint")}
        )


@dataclass(frozen=True)
class Answer:
    """The result of `reproduce`: how many runs were repeated, and which of them came out
    different."""

    name: str
    runs: int
    known: int
    """How many runs the source lists."""
    made_by: str
    ours: str
    differ: Sequence[Mapping[str, object]] = field(default_factory=tuple)
    """Runs with a different fingerprint: label, seed, the stated fingerprint and the new one."""

    @property
    def same(self) -> bool:
        """Whether every repeated run had its stated fingerprint."""
        return not self.differ

    def lines(self) -> list[str]:
        """The result as lines of text."""
        part = "" if self.runs == self.known else f" of {self.known}"
        noun = "run" if self.known == 1 else "runs"
        if self.same:
            return [f"yes: {self.runs}{part} {noun} of {self.name} came out the same, to the bit"]
        described = [
            f"no: {len(self.differ)} of {self.runs} {noun} of {self.name} came out differently"
        ]
        for one in self.differ[:20]:
            pair = f"{one['said']}, here {one['here']}"
            described.append(f"  run {one['key']}, seed {one['seed']}: fingerprint {pair}")
        if len(self.differ) > 20:
            described.append(f"  and {len(self.differ) - 20} more")
        if self.made_by != self.ours:
            described.append(
                f"it was made by aqmlab {self.made_by}, this is {self.ours}: fingerprints are the "
                "same only of one build"
            )
        return described

    def document(self) -> dict[str, object]:
        """The result as JSON."""
        return {**self.__dict__, "differ": list(self.differ), "same": self.same}


def reproduce(
    source: Path,
    *,
    jobs: int | None = None,
    most: int | None = None,
    progress: Progress | None = None,
    on: Cluster | None = None,
) -> Answer:
    """Repeats the runs that a file, folder or manifest lists and compares fingerprints; no other
    results are kept. A program in the archive must be permitted (see `plugin.trust`)."""
    index = _index(source)
    runs = sorted(index["runs"], key=lambda run: (length_s(run["scenario"]), run["seed"]))
    chosen = runs[: most or len(runs)]
    for run in chosen:
        try:
            trust.require(own_source.tables(run["scenario"]))
        except trust.Untrusted as error:
            raise trust.Untrusted(f"{source}: {error}") from None
    planned = [
        Run(
            str(n),
            run["seed"],
            cast(Scenario, {**run["scenario"], "seed": run["seed"]}),
            label=run["key"],
        )
        for n, run in enumerate(chosen)
    ]
    scenarios = complete(planned, str(source))

    def finish(_: int, outcome: engine.Outcome) -> object:
        return outcome.summary.get("fingerprint")

    with Laboratory(None).resumable():
        found = pool.simulate_all(
            scenarios,
            finish,
            title="again",
            jobs=jobs,
            progress=progress,
            on=on,
            keep=[()] * len(scenarios),
        )
    differ = [
        {"key": run["key"], "seed": run["seed"], "said": run["fingerprint"], "here": here}
        for run, here in zip(chosen, found, strict=True)
        if here != run["fingerprint"]
    ]
    version = engine.version()
    made_by = f"{index['version']} ({index['build']})"
    ours = f"{version.version} ({version.build})"
    return Answer(index["name"], len(chosen), len(runs), made_by, ours, differ)


def _index(source: Path) -> Index:
    if source.is_dir() or source.name == "manifest.json":
        folder = source if source.is_dir() else source.parent
        if folder.parent.name == "runs":
            return _checked(_of_run(folder), source)
        store = Store.existing(folder)
        version = store.manifest
        named = version.get("name") or version.get("study") or folder.name
        made = {key: str(version.get(key, "?")) for key in _BUILD}
        return _checked({"name": named, **made, "runs": list(_of_folder(store))}, source)
    if run_files.is_file(source) and source.parent.name == "runs":
        return _checked(_of_run(source), source)
    if not source.is_file():
        raise SpecError(f"{source}: no such file; give an .aqm file, a folder or its manifest.json")
    try:
        with zipfile.ZipFile(source) as archive:
            content = _bounded(archive, source)
    except _NO_ARCHIVE as error:
        raise SpecError(f"{source} is no .aqm file ({error}): export it again") from error
    try:
        return _checked(json.loads(content), source)
    except (ValueError, RecursionError) as error:
        raise SpecError(f"{source}: its index is damaged: export it again") from error


def _of_run(place: Path) -> dict[str, object]:
    """The index of one run, from its own manifest."""
    about = run_files.manifest(place)
    run = {key: about.get(key) for key in ("key", "scenario", "seed", "fingerprint")}
    return {"name": about.get("key"), **{k: about.get(k) for k in _BUILD}, "runs": [run]}


def _bounded(archive: zipfile.ZipFile, source: Path) -> bytes:
    """The index of an archive, if its length is as stated and not too large; nothing else of the
    archive is read."""
    for name in archive.namelist():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name:
            raise SpecError(f"{source} names a file outside of itself: it is not read")
    try:
        about = archive.getinfo(INDEX)
    except KeyError as error:
        raise SpecError(f"{source} has no {INDEX}: it was not made by aqmlab export") from error
    packed = max(about.compress_size, 1)
    if about.file_size > MOST_BYTES or about.file_size > MOST_RATIO * packed + 4096:
        raise SpecError(
            f"{source}: its index would unpack to {about.file_size / 1e6:,.0f} MB from "
            f"{packed / 1e6:.3f} MB: it is not read"
        )
    with archive.open(about) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise SpecError(f"{source}: its index is longer than it says: it is not read")
    return content


def _checked(index: object, source: Path) -> Index:
    """The index after a check of its form; the simulator checks the scenarios themselves."""
    if not isinstance(index, dict) or index.get("format", FORMAT) != FORMAT:
        raise SpecError(f"{source} is of another format than {FORMAT}: use the aqmlab that made it")
    runs = index.get("runs")
    wanted = {"key": str, "scenario": dict, "seed": int, "fingerprint": str}
    if not isinstance(runs, list) or not 0 < len(runs) <= MOST_RUNS:
        raise SpecError(f"{source} holds no runs, or more than {MOST_RUNS:,}: nothing is run")
    for run in runs:
        if not isinstance(run, dict) or not all(
            isinstance(run.get(key), kind) for key, kind in wanted.items()
        ):
            raise SpecError(f"{source}: a run lacks its scenario, seed or fingerprint")
    described = {key: str(index.get(key, "?"))[:200] for key in ("name", *_BUILD)}
    return cast(Index, {**described, "runs": runs})
