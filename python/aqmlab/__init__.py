"""aqmlab: a laboratory for active queue management.

    import aqmlab
    result = aqmlab.run("red-98.toml", seeds=5)
    print(result.summary["response_p50_s"])
    print(result.statistics())            # mean and 95 % interval of every number
    print(result.table("responses"))      # every request, a Polars data frame
    aqmlab.plot(result).figure.savefig("red.svg")

    other = aqmlab.run("fifo-98.toml", seeds=5)
    print(aqmlab.paired(other, result))   # the difference, seed by seed

Importing this package is fast: large modules are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aqmlab.errors import AqmlabError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import polars as pl
    from matplotlib.axes import Axes

    from aqmlab.pipeline.result import Result
    from aqmlab.simulator.plugin.control import CongestionControl
    from aqmlab.simulator.plugin.discipline import (
        DROP,
        DROP_FORCED,
        PASS,
        SIGNAL,
        SIGNAL_FORCED,
        Discipline,
        discipline,
        parameter,
    )

    __version__: str

__all__ = [
    "DROP",
    "DROP_FORCED",
    "PASS",
    "SIGNAL",
    "SIGNAL_FORCED",
    "AqmlabError",
    "CongestionControl",
    "Discipline",
    "__version__",
    "discipline",
    "load",
    "paired",
    "parameter",
    "plot",
    "run",
]
_OWN = ("PASS", "SIGNAL", "SIGNAL_FORCED", "DROP", "DROP_FORCED")
_OWN += ("Discipline", "discipline", "parameter")
"""Names for disciplines in Python, which are imported when they are first used."""


def __getattr__(name: str) -> Any:
    """Imports names when they are first used; `__version__` is that of the simulator."""
    if name in _OWN:
        from aqmlab.simulator.plugin import discipline

        return getattr(discipline, name)
    if name == "CongestionControl":
        from aqmlab.simulator.plugin.control import CongestionControl

        return CongestionControl
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from aqmlab.simulator import engine

    return engine.version().version


def run(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    seed: int | None = None,
    seeds: int | Sequence[int] | None = None,
    set: Mapping[str, Any] | Sequence[str] = (),
    out: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    jobs: int | None = None,
    progress: bool | None = None,
    pcap: str | os.PathLike[str] | None = None,
    report: bool = False,
    aqm: str | type[Discipline] | Sequence[str | type[Discipline]] = (),
    on: str | None = None,
    trust: bool = False,
) -> Result:
    """Runs a scenario or an experiment, given as a TOML file or as a mapping.

    `seed` or `seeds` (a number of replications or a list) replace what the file says; `set` changes
    fields by dotted path (`{"link.0.forward.limit": 60}`). With `out` the results are kept in that
    folder and a later call continues there; without it they stay in memory. `progress` shows a bar
    while runs go on, by default in terminals and notebooks; False shows none, True also writes
    lines to a log. Uses all cores unless `jobs` says otherwise. `pcap` is a file for the packets
    that cross the first link, readable by Wireshark. `report` also writes tables, figures and
    `report.html` into the folder `out`. `aqm` lists the user's own disciplines, as classes or
    files: see docs/own-discipline.md. `on` names a cluster: see docs/cluster.md. `trust` permits
    programs that a file names or carries: see docs/how-to/share.md.
    """
    from contextlib import nullcontext
    from pathlib import Path

    from aqmlab.experiment.experiment import load
    from aqmlab.pipeline.study import Study
    from aqmlab.runs import cluster
    from aqmlab.runs.progress import for_python
    from aqmlab.simulator.capture import Capture
    from aqmlab.simulator.plugin.trust import granted

    own = [aqm] if isinstance(aqm, str | type) else aqm
    board = for_python(progress)
    capture = Capture(Path(pcap)) if pcap is not None else None
    how: dict[str, Any] = {"out": out, "reported": report, "fresh": fresh, "jobs": jobs}
    with granted(trust), cluster.opened(on) if on is not None else nullcontext() as there:
        experiment = load(source, overrides=set, seed=seed, seeds=seeds, aqm=own)
        return Study(experiment).carry_out(**how, progress=board, capture=capture, on=there)


def load(folder: str | os.PathLike[str]) -> Result:
    """The result in a folder of `aqmlab run` or of a study, without running anything."""
    from pathlib import Path

    from aqmlab.pipeline import result

    return result.load(Path(folder))


def plot(
    *shown: Result | str | os.PathLike[str] | Mapping[str, Any], kind: str | None = None, **how: Any
) -> Axes:
    """One picture of results: `aqmlab.plot("example:fifo", "example:red")`.

    Each of `shown` is a result, a folder of results, or a scenario or experiment, which is run with
    the arguments of `run` that are given (`seeds=5`). Several are laid over each other, a curve for
    each. Without `kind` the picture shows how long packets wait over time, and their mean wait
    against the used share of the line, with 95 % intervals; `kind` is cdf, tail, trace, lines or
    heatmap with its own arguments (`kind="cdf", upto_ms=500`; `result.plot` describes them). It
    returns the axes: a notebook shows them, and `plot(…).figure.savefig("red.svg")` writes them.
    """
    from aqmlab.pipeline import result

    return result.plotted(shown, kind, how)


def paired(first: Result, second: Result) -> pl.DataFrame:
    """The difference `second - first` of every summary number, paired by seed.

    Under one seed two disciplines serve equal users, who draw equal sizes and think times, so
    mean_a, mean_b, difference, low, high (95 % Student's t). Both results must be of one variant:
    of a sweep, choose one (`result.select(load=0.9)`), or compare two by `result.paired`.
    """
    from aqmlab.tables import measure

    return measure.paired(first.only(), second.only())
