"""An experiment in the simulator and on real TCP stacks, compared measure by measure.

Both are run under equal seeds, and so with equal users drawing equal pages; every measure
of their summaries is compared with a margin that is stated here, before any run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from aqmlab.errors import SpecError
from aqmlab.experiment.experiment import Experiment
from aqmlab.live.kernel import with_kernel
from aqmlab.live.run import How
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.runs.progress import Progress
from aqmlab.simulator import measures
from aqmlab.simulator.engine import Simulate
from aqmlab.simulator.renamed import Numbers
from aqmlab.tables import measure
from aqmlab.tables.equivalence import INCONCLUSIVE, Judgement, Margin, judge_paired
from aqmlab.tables.result import Result

from .study import Study

MARGINS: tuple[tuple[str, Margin], ...] = (
    ("utilisation", Margin(0.02, 0.01)),
    ("throughput_bytes_per_s", Margin(0.02)),
    ("long_flow_goodput_mean_bits_per_s", Margin(0.03)),
    ("jain_index", Margin(0.10, 0.02)),
    ("queue_mean_packets", Margin(0.10, 1.0)),
    ("queue_time_mean_packets", Margin(0.10, 1.0)),
    ("queue_max_packets", Margin(0.10, 2.0)),
    ("drop_rate", Margin(0.15, 0.001)),
    ("mark_rate", Margin(0.15, 0.001)),
    ("share_", Margin(0.05, 0.01)),
    ("response_p", Margin(0.10, 0.010)),
    ("response_mean_s", Margin(0.10, 0.010)),
    ("page_load_p", Margin(0.10, 0.050)),
    ("requests", Margin(0.05, 5.0)),
    ("responses", Margin(0.05, 5.0)),
)
"""Margins by how the last part of a measure's name begins. All are our own choices, without a
source: differences that a reader of a study would neglect. The absolute margins are for example one
or two packets of a queue, a thousandth of all packets, five requests, and 10 ms of a response time,
since a live round trip on a machine with other work has an error of a few ms."""
OTHERS = Margin(0.10, 0.0)
"""The margin of all other measures."""
ONLY_SIMULATED = (
    "events",
    "drops_scripted",
    "marks_scripted",
    "ecn_reductions",
    "segments_lost",
    "retransmissions_lost",
    "loss_episodes",
    "loss_episodes_multiple",
    "loss_episodes_timeout",
)
"""Measures that cannot be known outside a simulator, or that do not measure the network."""


@dataclass(frozen=True)
class Row:
    """The comparison of one measure between live and simulated runs of one variant."""

    variant: str
    number: str
    title: str
    unit: str
    live: float
    simulated: float
    half: float
    """Half the width of the 95 % interval of the mean difference between live and simulated
    runs."""
    margin: float
    verdict: str


@dataclass(frozen=True)
class Parity:
    """The comparison of simulated and live runs."""

    name: str
    rows: list[Row]
    notes: list[str]
    """Limits of the live runs: what they flagged, and what the kernel cannot imitate."""
    runs: int
    folder: Path | None = None

    def counts(self) -> dict[str, int]:
        """How many measures are equivalent, inconclusive and different."""
        found = Counter(row.verdict for row in self.rows)
        return {verdict: found[verdict] for verdict in ("equivalent", "inconclusive", "different")}

    def document(self) -> dict[str, Any]:
        """The comparison as a JSON document."""
        rows = [
            {key: None if value != value else value for key, value in asdict(row).items()}
            for row in self.rows
        ]
        return {"name": self.name, "verdicts": self.counts(), "notes": self.notes, "rows": rows}


def margin_of(number: str) -> Margin:
    """The margin within which a measure of a summary counts as equivalent, by the measure's
    name."""
    last = number.rpartition(".")[2]
    return next((margin for name, margin in MARGINS if last.startswith(name)), OTHERS)


def compare(simulated: Result, live: Result, name: str) -> Parity:
    """Compares live runs with simulated ones of the same variants and seeds."""
    rows: list[Row] = []
    notes: dict[str, None] = {}
    for variant in dict.fromkeys(run.variant for run in simulated.runs):
        ours, theirs = (
            [run for run in result.runs if run.variant == variant] for result in (live, simulated)
        )
        rows += _rows(ours, theirs)
        for run in ours:
            where = f"{run.label or name}, seed {run.seed}"
            notes |= {f"{where}: {sentence}": None for sentence in described(run.summary)}
    return Parity(name, rows, list(notes), len(simulated.runs))


def described(summary: Numbers) -> list[str]:
    """Sentences on what limits the validity of a live run, from the run's summary."""
    account = summary.get("live") or {}
    return [*account.get("missing", ()), *account.get("flags", ())]


def _rows(live: list[FinishedRun], simulated: list[FinishedRun]) -> Iterator[Row]:
    lived = [measure.numbers(_comparable(run.summary)) for run in live]
    expected = [measure.numbers(_comparable(run.summary)) for run in simulated]
    for number in expected[0]:
        ours, theirs = (_values(runs, number) for runs in (lived, expected))
        if not ours or not theirs or not (any(ours) or any(theirs)):
            continue
        about = measures.find(number) or {}
        found = _judged(ours, theirs, margin_of(number))
        yield Row(
            live[0].label,
            number,
            _title(number, about),
            about.get("unit", ""),
            found.ours,
            found.theirs,
            found.half,
            found.margin,
            found.verdict,
        )


def _title(number: str, about: Mapping[str, Any]) -> str:
    """The title of a compared measure, preceded by the name of the port or traffic group to which
    the measure belongs."""
    place = number.rpartition(".")[0].removeprefix("ports.")
    title = about.get("title", number)
    return f"{place}: {title}" if place and about else title


def _judged(ours: list[float], theirs: list[float], margin: Margin) -> Judgement:
    """The comparison of live with simulated values of a measure, paired by seed; inconclusive if a
    single run leaves the difference without an interval."""
    found = judge_paired(ours, theirs, margin)
    return found if math.isfinite(found.half) else replace(found, verdict=INCONCLUSIVE)


def _values(runs: list[dict[str, float | None]], number: str) -> list[float]:
    """The values of a measure in all runs; empty if a run lacks it."""
    values = [run.get(number) for run in runs]
    known = [value for value in values if value is not None and math.isfinite(value)]
    return known if len(known) == len(values) else []


def _comparable(summary: Numbers) -> dict[str, Any]:
    """A summary without the measures that only one kind of run has."""
    left_out = (*ONLY_SIMULATED, "live", "fingerprint", "simulated_s", "measured_s")
    ports = {
        # The studied port's numbers are at the top level already.
        name: port
        for name, port in summary.get("ports", {}).items()
        if name != summary.get("studied_port")
    }
    return {name: value for name, value in summary.items() if name not in left_out} | {
        "ports": ports
    }


def replications(experiment: Experiment) -> int:
    """Number of runs of each scenario."""
    seeds = experiment.setting(quick=False).seeds
    return seeds if isinstance(seeds, int) else len(seeds)


def run(
    experiment: Experiment,
    *,
    out: Path | None = None,
    fresh: bool = False,
    progress: Callable[[], Progress | None] = lambda: None,
    how: Simulate | None = None,
) -> Parity:
    """Runs an experiment in the simulator and live, and compares. Results are kept below `out`."""
    if not experiment.swept:
        raise SpecError(f"{experiment.name} has groups: parity takes a scenario or a sweep")
    if replications(experiment) < 2:
        raise SpecError("parity needs an interval, and so at least two seeds; give --seeds 3")
    both = Study(replace(experiment, scenario=with_kernel(experiment.scenario)))
    below = (out / "simulated", out / "live") if out is not None else (None, None)
    simulated = both.carry_out(out=below[0], fresh=fresh, progress=progress())
    live = both.carry_out(
        out=below[1], fresh=fresh, jobs=1, progress=progress(), simulate=how or How()
    )
    found = replace(compare(simulated, live, experiment.name), folder=out)
    if out is not None:
        write(found, out)
    return found


HEAD = ("variant", "figure", "live", "simulated", "difference", "margin", "verdict")


def cells(row: Row) -> tuple[str, ...]:
    """A row as text, in the columns of `HEAD`."""
    title = f"{row.title}, {row.unit}" if row.unit else row.title
    apart = f"{row.live - row.simulated:+.3g} ± {row.half:.2g}"
    numbers = (f"{row.live:.5g}", f"{row.simulated:.5g}", apart, f"{row.margin:.2g}")
    return row.variant, title, *numbers, row.verdict


def write(found: Parity, folder: Path) -> None:
    """Writes `parity.md` and `parity.json`."""
    import json

    from aqmlab.io.files import whole

    lines = [f"# {found.name}: live against simulated", "", f"| {' | '.join(HEAD)} |"]
    lines.append("| --- " * len(HEAD) + "|")
    lines += [f"| {' | '.join(cells(row))} |" for row in found.rows]
    lines += ["", *(f"- {note}" for note in found.notes)]
    with whole(folder / "parity.md") as draft:
        draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with whole(folder / "parity.json") as draft:
        draft.write_text(json.dumps(found.document(), indent=1), encoding="utf-8")
