"""`infer.toml`: the targets, the unknowns with their priors, and the number of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.errors import SpecError
from aqmlab.experiment import shapes
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.plan import matches
from aqmlab.experiment.shapes import Mistake, key
from aqmlab.io import documents
from aqmlab.simulator.forms import Schema

from .unknowns import Unknown, Unknowns

FILE = "infer.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """Rows of a published table that are to be met."""

    CALLED = "train"

    table: str = key("a table of the experiment, with published numbers")
    where: Mapping[str, object] = key(
        "only rows with these values on these axes", default_factory=dict
    )
    quick: Mapping[str, object] = key(
        "of these in a quick inference only these", default_factory=dict
    )
    metrics: tuple[str, ...] | None = key("only these columns (all)", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How well numbers are known, and how well a model can know them. The last that fits counts."""

    CALLED = "noise"

    metrics: tuple[str, ...] = key("of which metrics, or claims")
    reason: str = key("where it comes from")
    where: Mapping[str, object] = key("only in rows with these values", default_factory=dict)
    sd: float = key(
        "standard deviation of a published number beside what seeds show, in its unit", default=0.0
    )
    share: float = key("as a part of the number", default=0.0)
    discrepancy: float = key(
        "standard deviation of the simulator about the laboratory with the right values",
        default=0.0,
    )
    discrepancy_share: float = key("as a part of the number", default=0.0)
    log: bool = key("compare logarithms", default=False)

    def mistake(self) -> str | None:
        """A sentence on what is wrong with this entry; None if nothing is."""
        for name in ("sd", "share", "discrepancy", "discrepancy_share"):
            if not 0 <= getattr(self, name) < math.inf:
                return f"{name}: give a number from 0 on"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """How much is simulated."""

    points: int = key("of the first wave's design")
    waves: int = key("at most")
    more: int = key("points of every later wave, those in the posterior included")
    closer: int = key("waves in the posterior, where emulators must be right", default=1)
    check: int = key("points of each round that verifies what cannot be met", default=8)
    rounds: int = key("such rounds", default=2)
    search: int = key(
        "points of a search by runs alone for all numbers at once, if no run has them", default=0
    )
    seeds: int = key("runs of every point, under common seeds", default=2)
    draws: int = key("points of the posterior with which other tables are predicted", default=12)
    confirm: int = key("seeds of the plain set and the most likely ones, at the end", default=3)
    duration: str | None = key("of runs whose base or group has none", default=None)
    warmup: str | None = key("the warm-up in place of the study's", default=None)

    def mistake(self) -> str | None:
        """A sentence on what is wrong with this entry; None if nothing is."""
        for name in ("waves", "more", "draws", "confirm"):
            if getattr(self, name) < 1:
                return f"{name}: give one or more"
        for name in ("closer", "check", "rounds", "search"):
            if getattr(self, name) < 0:
                return f"{name}: give a number from 0 on"
        if self.seeds < 2:
            return "seeds: the spread between seeds needs two or more"
        return "points: give eight or more" if self.points < 8 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Predict:
    """What is predicted: a table or figure that has not been compared yet."""

    tables: tuple[str, ...] = key("tables of the experiment", default=())
    figures: tuple[str, ...] = key("figures, of which the cells' metrics are predicted", default=())
    metrics: tuple[str, ...] = key("of figures", default=())
    totals: tuple[str, ...] = key(
        "metrics that grow with the measured time: given for a published run's", default=()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """The content of an `infer.toml`."""

    published_s: float = key("measured seconds of a published run, with which its noise falls")
    train: tuple[Training, ...] = key("rows to be met", default=())
    claims: tuple[str, ...] = key("claims whose bounds are to be met", default=())
    noise: tuple[Noise, ...] = key("how well each metric is known")
    unknown: tuple[Unknown, ...] = key("what is not known")
    begin: tuple[str, ...] = key(
        "sets (NAME.toml in the experiment's folder) that the first wave simulates too", default=()
    )
    predict: Predict = key("what is predicted", default_factory=Predict)
    quick: Amount = key("of `--quick`")
    full: Amount = key("of `--full`")
    absent: Mapping[str, str] = key(
        "unknowns that the simulator cannot vary, and why", default_factory=dict
    )

    def mistake(self) -> str | None:
        """A sentence on what is wrong with this entry; None if nothing is."""
        if not 0 < self.published_s < math.inf:
            return "published_s: give the measured seconds of a published run, more than 0"
        return None

    @property
    def unknowns(self) -> Unknowns:
        """The unknowns together, each value scaled to a coordinate from 0 to 1."""
        return Unknowns(self.unknown)

    def known(self, metric: str, axes: Mapping[str, object]) -> Noise:
        """The `[[noise]]` entry for a metric in the table's row with these values of the axes;
        SpecError if no entry fits."""
        found = self.maybe_known(metric, axes)
        if found is None:
            raise SpecError(
                f"{FILE}: no [[noise]] says how well {metric} is known: add one with its metrics"
            )
        return found

    def maybe_known(self, metric: str, axes: Mapping[str, object]) -> Noise | None:
        """The last `[[noise]]` entry that fits a metric in the table's row with these values of the
        axes; None if no entry fits."""
        fitting = [n for n in self.noise if metric in n.metrics and matches(axes, n.where)]
        return fitting[-1] if fitting else None


def load(experiment: Experiment) -> Inference:
    """The inference of an experiment, from the `infer.toml` in its folder."""
    path = experiment.folder / FILE
    if not path.is_file():
        raise SpecError(
            f"{experiment.folder} has no {FILE}: write one that names the unknowns and the rows to "
            "be met (docs/infer.md)"
        )
    return read(documents.read_toml(path), path)


def read(document: Mapping[str, object], path: Path) -> Inference:
    """The inference that a document describes; the first mistake raises a SpecError of one
    sentence."""
    try:
        document = dict(document)
        document["unknown"] = _named(document.get("unknown", {}))
        found = shapes.read(Inference, document)
        if not found.unknown:
            raise Mistake("names no unknown: add [unknown.NAME]")
        if not found.train and not found.claims:
            raise Mistake("names nothing to be met: add [[train]] or claims")
        return found
    except Mistake as mistake:
        raise SpecError(f"{path}: {mistake}") from mistake


def _named(entries: Any) -> list[dict[str, Any]]:
    """`[unknown.NAME]` as a list of entries with names."""
    if not isinstance(entries, Mapping):
        raise Mistake("unknown is a table of tables: write [unknown.NAME]")
    return [{"name": name, **entry} for name, entry in entries.items()]


def schema() -> Schema:
    """The JSON schema of `infer.toml`, for editors."""
    shared: Schema = {}
    known = shapes.keys(Inference)
    top = shapes.table_schema(known.values(), shared)
    entry = {"$ref": f"#/$defs/{Unknown.__name__}"}
    top["properties"]["unknown"] = {
        "type": "object",
        "additionalProperties": entry,
        "description": known["unknown"].about,
    }
    shared[Unknown.__name__]["required"].remove("name")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An inference of aqmlab",
        **top,
        "$defs": shared,
    }
