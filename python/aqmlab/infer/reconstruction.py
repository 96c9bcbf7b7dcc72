"""`reconstructed.toml`: the most likely values of choices that a paper does not state, with
evidence for each.

A study with this file has two sets. *As printed* is `experiment.toml` alone: values from the paper,
and aqmlab's defaults for the rest. *Reconstructed* gives the unknowns of `infer.toml` the values
written here. The file states how each published number relates to the set: the set was fitted to
it, it was predicted before any comparison, or it was known before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from aqmlab.errors import SpecError
from aqmlab.experiment import shapes
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.plan import matches
from aqmlab.experiment.shapes import Mistake, key
from aqmlab.io import documents

from . import sets, spec

FILE = "reconstructed.toml"
NAME = "reconstructed"
PRINTED = "printed"

Known = Literal["trained", "foretold", "seen"]
TRAINED, FORETOLD, SEEN = "trained", "foretold", "seen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """How published numbers stand to the set. The last entry that fits a number counts; a number
    that no entry fits had been seen before."""

    CALLED = "rows"

    table: str = key("a table of the experiment")
    known: Known = key("`trained`, `foretold` (before anybody compared) or `seen` before")
    where: Mapping[str, object] = key(
        "only rows with these values on these axes", default_factory=dict
    )
    metrics: tuple[str, ...] | None = key("only these columns (all)", default=None)
    on: str = key("the day of a prediction", default="")
    commit: str = key("the commit that predicted", default="")
    note: str = key("what else a reader should know", default="")

    def mistake(self) -> str | None:
        """A sentence on what is wrong with this entry; None if nothing is."""
        if self.known == FORETOLD and not (self.on and self.commit):
            return "foretold rows need the day (`on`) and the `commit` of the prediction"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconstruction:
    """The content of a `reconstructed.toml`."""

    about: str = key("how the set was found, in a sentence or two")
    set: Mapping[str, Any] = key("values of unknowns of infer.toml")
    evidence: Mapping[str, str] = key("of every value what decides it")
    rows: tuple[Rows, ...] = key("how published numbers stand to the set", default=())
    claims: Known = key("how the published sentences stand to the set", default="seen")
    claims_trained: tuple[str, ...] = key("claims that trained it", default=())
    why: Mapping[str, str] = key(
        "why a claim does not hold with the set, with the experiment that shows it",
        default_factory=dict,
    )

    def mistake(self) -> str | None:
        """A sentence on what is wrong with this entry; None if nothing is."""
        if bare := [name for name in self.set if name not in self.evidence]:
            return f"{bare[0]} has a value and no evidence: say what decides it"
        if idle := [name for name in self.evidence if name not in self.set]:
            return f"{idle[0]} has evidence and no value: add it to [set]"
        return None

    def of(self, table: str, metric: str, axes: Mapping[str, object]) -> Rows | None:
        """The entry for a published number; None if the number was known before."""
        fitting = [
            rows
            for rows in self.rows
            if rows.table == table
            and (rows.metrics is None or metric in rows.metrics)
            and matches(axes, rows.where)
        ]
        return fitting[-1] if fitting else None


def has(folder: Path) -> bool:
    """Whether the experiment in this folder has two sets."""
    return (folder / FILE).is_file()


def load(experiment: Experiment) -> Reconstruction:
    """The reconstruction of an experiment; the first mistake raises a SpecError of one sentence."""
    path = experiment.folder / FILE
    try:
        found = shapes.read(Reconstruction, documents.read_toml(path))
    except Mistake as mistake:
        raise SpecError(f"{path}: {mistake}") from mistake
    tables = {table.id for table in experiment.table}
    for rows in found.rows:
        if rows.table not in tables:
            raise SpecError(f'{path}: rows: no table "{rows.table}" (known: {sorted(tables)})')
    claims = {claim.id for claim in experiment.claim}
    if strange := sorted(set(found.why) - claims):
        raise SpecError(f'{path}: why: no claim "{strange[0]}"')
    return found


def front(experiment: Experiment) -> Experiment:
    """The experiment with the reconstructed set, under its own name; the report leads with it. A
    claim that does not hold is explained by what the set's own experiments showed."""
    unknowns = spec.load(experiment).unknowns
    values = sets.read(experiment, unknowns, NAME)
    changed, why = sets.altered(experiment, unknowns, values), load(experiment).why
    claims = tuple(replace(claim, known=why.get(claim.id, "")) for claim in changed.claim)
    return replace(changed, claim=claims, set=NAME)


def printed(experiment: Experiment) -> Experiment:
    """The experiment as it is printed, as a study of its own."""
    return replace(
        experiment,
        name=f"{experiment.name}-{PRINTED}",
        title=f"{experiment.title} (as printed)",
        set=PRINTED,
    )


def values(experiment: Experiment) -> list[dict[str, str]]:
    """Every value of the set for a reader: the unknown's title, its value, the evidence, and why it
    is unknown."""
    found = load(experiment)
    known = {unknown.name: unknown for unknown in spec.load(experiment).unknown}
    return [
        {
            "name": name,
            "title": known[name].title,
            "value": str(value),
            "evidence": found.evidence[name],
            "open": known[name].reason,
        }
        for name, value in found.set.items()
    ]
