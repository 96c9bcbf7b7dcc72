"""What `result.json` holds: all that a report is made of. Types alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Required, TypedDict

from aqmlab.simulator.forms import Scenario

Row = dict[str, Any]
"""A row of a table: its place (the columns that `keys` names), `metric`, our mean `ours` with its
interval `low` to `high`, `n` seeds; where there is one, the published number `paper` and the
`verdict`. What is undefined is None."""


class Condition(TypedDict):
    """A condition of a rule as it was judged: the number with its interval, and its bounds."""

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
    sets `printed` is what the printed one says, `known` how the claim stands to the other."""

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
    """A column of tables, as a reader sees it."""

    name: str
    title: str
    unit: str
    digits: int


class TableShown(TypedDict):
    """A table with its rows; `paired`: of differences; `headline`: metrics that are shown first."""

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
    """How many published numbers there are, and how many are near ours."""

    numbers: int
    near: int
    rms: float | None


class TableOfSets(TypedDict):
    """How near the published numbers of one standing are in a table, with both sets."""

    table: str
    id: str
    known: str
    on: str
    commit: str
    note: str
    reconstructed: Counted
    printed: Counted


class Recorded(TypedDict):
    """When full runs of the printed set were made, by which commit, under how many seeds."""

    made: str
    commit: str
    seeds: int


class Sets(TypedDict):
    """What is said of a study that has two sets: as printed, and reconstructed."""

    about: str
    values: object
    tables: list[TableOfSets]
    foretold: Sequence[Mapping[str, object]]
    command: str
    recorded: Recorded | None


class Advised(TypedDict):
    """What to do, and the claims that have to hold for it."""

    text: str
    needs: list[str]


class StudyDocument(TypedDict, total=False):
    """All of a result; what is not required was not written by earlier versions, or is not of
    every study."""

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
