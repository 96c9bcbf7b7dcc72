"""Types of `result.json`, from which a report is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Required, TypedDict

from aqmlab.simulator.forms import Scenario

Row = dict[str, Any]
"""A row of a table: the columns that `keys` names, `metric`, the simulated mean `ours` with its
interval `low` to `high`, and `n` seeds; if a published number exists, that number as `paper`, and
`verdict`. Undefined values are None."""


class Condition(TypedDict):
    """An evaluated condition of a rule: the number with its interval, the bounds, and the
    verdict."""

    text: str
    verdict: str
    estimate: float | None
    interval: list[float] | None
    replications: int
    bounds: str
    unit: str
    why: str


class Line(TypedDict, total=False):
    """A line of the score card: a claim, its verdict and the evidence for it. In a study with two
    sets, `printed` has the printed set's verdict, and `known` states how the claim relates to the
    reconstructed set."""

    id: Required[str]
    study: Required[str]
    claim: Required[str]
    rule: Required[str]
    verdict: Required[str]
    estimate: Required[float | None]
    interval: Required[list[float] | None]
    replications: Required[int]
    why: Required[str]
    kind: Required[str]
    part: Required[str]
    version: Required[int]
    digest: Required[str]
    conditions: Required[list[Condition]]
    deciding: Required[Condition | None]
    revisits: Required[str | None]
    printed: Mapping[str, Any] | None
    known: str
    scenarios: list[str]


class MetricShown(TypedDict):
    """A column of tables, in the form for a reader."""

    name: str
    title: str
    unit: str
    digits: int


class TableShown(TypedDict):
    """A table with its rows. `paired` is true for differences; `headline` has the metrics that are
    shown first."""

    id: str
    part: str
    title: str
    paper: str | None
    keys: list[str]
    metrics: list[str]
    rows: list[Row]
    paired: bool
    reference: str | None
    headline: list[str]
    note: str
    remarks: list[str]
    has_reference: bool


class FigureShown(TypedDict):
    """A figure: its caption, a sentence of its numbers, and its file."""

    id: str
    part: str
    title: str
    name: str
    kind: str
    wide: bool
    caption: str
    note: str
    file: str


class Counted(TypedDict):
    """The number of published numbers, how many are near the simulated ones, and the root mean
    square of the deviations."""

    numbers: int
    near: int
    rms: float | None


class TableOfSets(TypedDict):
    """How many published numbers of a table are near with each set, for numbers with one relation
    (`known`) to the reconstructed set."""

    table: str
    id: str
    known: str
    on: str
    commit: str
    note: str
    reconstructed: Counted
    printed: Counted


class Recorded(TypedDict):
    """Date, git commit and number of seeds of the recorded full runs of a study with the values
    printed in the paper."""

    made: str
    commit: str
    seeds: int


class Sets(TypedDict):
    """The part of a result on the two sets of a study: as printed, and reconstructed."""

    about: str
    values: object
    tables: list[TableOfSets]
    foretold: Sequence[Mapping[str, object]]
    command: str
    recorded: Recorded | None


class Advised(TypedDict):
    """A study's advice, and the claims that must hold for it."""

    text: str
    needs: list[str]


class StudyDocument(TypedDict, total=False):
    """The whole document of a result. Keys that are not required are missing in results of earlier
    versions or of some studies."""

    name: Required[str]
    title: Required[str]
    question: str
    source: str
    swept: bool
    set: str
    changes: list[str]
    own: list[str]
    lead: Required[str | None]
    answer: list[str]
    advice: Advised | None
    quick: Required[bool]
    settings: Required[Mapping[str, Any]]
    parts: Required[list[str]]
    all_parts: Required[list[dict[str, str]]]
    seeds: Required[int]
    versions: Required[Mapping[str, str]]
    calibrations: Required[list[dict[str, Any]]]
    metrics: Required[list[MetricShown]]
    bases: Required[Mapping[str, Scenario]]
    runs: Required[list[Mapping[str, Any]]]
    scenario: Required[Scenario]
    files: Mapping[str, str]
    claims: Required[list[Line]]
    tables: Required[list[TableShown]]
    figures: Required[list[FigureShown]]
    headlines: Required[list[str]]
    remarks: Required[list[str]]
    sets: Sets | None
    live: Mapping[str, Any]
