"""A finding, that is a scenario that breaks a promise: it is reduced to the smallest one that does,
explained by switching off one gene at a time, and written to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit

from aqmlab.io.files import whole
from aqmlab.simulator import engine

from .genome import Gene
from .promise import Promise
from .search import Target, Tried, tried, worst

SEEDS = range(4, 9)
"""Seeds for further runs of a finding: none of them was used in the search."""
PASSES = 4
"""Greatest number of passes over all genes: a gene that is needed in one pass may be needless in
the next, after another gene was simplified."""
PARTS = (0.5, 0.25)
"""A gene that cannot have its simple value is moved towards it by these fractions of the
difference."""
LENGTHS = (0.25, 0.5)
"""Fractions of a trial's duration that are tried, shortest first."""


@dataclass(frozen=True)
class Finding:
    """A scenario that breaks a promise, and the genes that it needs for that."""

    target: Target
    promise: Promise
    genome: Mapping[str, float]
    value: float
    length: float
    seeds_broken: int
    without: tuple[tuple[str, float | None, bool], ...]
    """For each gene that is not simple: its name, the measured number with the gene at its simple
    value, and whether the promise is then kept."""

    def scenario(self) -> dict[str, Any]:
        """The scenario that reproduces the finding."""
        return self.target.scenario(self.genome, self.length)

    def document(self) -> dict[str, Any]:
        """The finding as JSON, for programs."""
        summary = engine.simulate(self.scenario()).summary
        return {
            "name": self.target.name,
            "promise": self.promise.words,
            "broken": True,
            "value": self.value,
            "seeds_broken": self.seeds_broken,
            "seeds": len(SEEDS),
            "needed": {
                name: {"value": self.genome[name], "without": value, "then_kept": kept}
                for name, value, kept in self.without
            },
            "fingerprint": summary["fingerprint"],
            "scenario": self.scenario(),
        }


def shrunk(
    target: Target,
    promise: Promise,
    found: Tried,
    jobs: int | None = None,
    notify: Callable[[str], object] = lambda _: None,
) -> Finding:
    """The finding reduced: each gene is simplified, and the run shortened, while the promise stays
    broken."""
    genome, value = dict(found.genome), found.value or 0.0

    def broken(one: Mapping[str, float], length: float = 1.0) -> float | None:
        result = worst(target, promise, one, 1, length)
        return result.value if result.excess > 0 else None

    for _ in range(PASSES):
        before = dict(genome)
        for gene in target.genes:
            notify(gene.name)
            for one in _simpler(gene, genome):
                if (kept := broken(one)) is not None:
                    genome, value = one, kept
                    break
        if genome == before:
            break
    length = 1.0
    for part in LENGTHS:
        if (kept := broken(genome, part)) is not None:
            length, value = part, kept
            break
    return _explained(target, promise, genome, value, length, jobs)


def _simpler(gene: Gene, genome: Mapping[str, float]) -> Iterator[dict[str, float]]:
    """The genomes to try: one with this gene at its simple value, then some with it nearer to
    that."""
    value = genome[gene.name]
    if value == gene.simple:
        return
    yield {**genome, gene.name: gene.simple}
    place, towards = gene.place(value), gene.place(gene.simple)
    for part in () if gene.names else PARTS:
        nearer = gene.at(place + part * (towards - place))
        if nearer != value:
            yield {**genome, gene.name: nearer}


def _explained(
    target: Target,
    promise: Promise,
    genome: Mapping[str, float],
    value: float,
    length: float,
    jobs: int | None,
) -> Finding:
    """The finding for a genome: for each gene that is not at its simple value, the result of a run
    with this gene at that value; and the number of further seeds under which the promise is
    broken."""
    needed = [gene for gene in target.genes if genome[gene.name] != gene.simple]
    without = [{**genome, gene.name: gene.simple} for gene in needed]
    results = tried(target, promise, without, jobs, length=length) if without else []
    again = [tried(target, promise, [genome], 1, seed=s, length=length)[0] for s in SEEDS]
    rows = [
        (gene.name, result.value, result.excess <= 0)
        for gene, result in zip(needed, results, strict=True)
    ]
    seeds = sum(one.excess > 0 for one in again)
    return Finding(target, promise, genome, value, length, seeds, tuple(rows))


def lines(finding: Finding) -> list[str]:
    """The finding as lines of text for people."""
    measure, value = finding.promise.measure, finding.value
    said = [
        f'{finding.target.name} breaks "{finding.promise.words}": {measure} is {value:.4g} '
        f"(under {finding.seeds_broken} of {len(SEEDS)} seeds)"
    ]
    genes = {gene.name: gene for gene in finding.target.genes}
    for name, without, kept in finding.without:
        gene = genes[name]
        said.append(
            f"  {name} {gene.shown(finding.genome[name])} ({gene.says}); at "
            f"{gene.shown(gene.simple)}: {'none' if without is None else format(without, '.4g')}, "
            f"{'kept' if kept else 'broken'}"
        )
    return said


def write(finding: Finding, path: Path) -> None:
    """Writes the scenario as a TOML file, with the finding and the fingerprint of its run as
    comments above it. The page of `aqmlab lab` reads that line (`web/scenario.js`)."""
    scenario = finding.scenario()
    fingerprint = engine.simulate(scenario).summary["fingerprint"]
    document = tomlkit.document()
    for line in lines(finding):
        document.add(tomlkit.comment(line))
    document.add(tomlkit.comment(f"fingerprint {fingerprint} of build {engine.version().build}"))
    for key, value in scenario.items():
        document[key] = value
    with whole(path) as draft:
        draft.write_text(tomlkit.dumps(document), encoding="utf-8")
