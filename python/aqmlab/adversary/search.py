"""The search for a scenario that breaks a promise: an evolution of genomes, with new random ones in
each generation."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aqmlab.errors import SpecError
from aqmlab.runs import pool
from aqmlab.simulator.plugin import judging

from . import genome as genomes
from .genome import Gene
from .promise import Promise

POPULATION = 24
"""Number of genomes of a generation. Like the three values below, it is our own choice, without a
source. Below: the share of genes that are not simple in the first generation, the share of genes
that are changed in a child, and the standard deviation of such a change on the gene's scale from 0
to 1."""
FIRST_SHARE, MUTATED, STEP = 0.35, 0.25, 0.2
SEEDS = (1, 2, 3)
"""Seeds of the runs that confirm a finding: the promise must be broken under each of them."""
PARENTS = 8
"""Number of best genomes so far that become parents."""


@dataclass(frozen=True)
class Tried:
    """A genome, the value in its run of the measure that the promise bounds, and how far this value
    breaks the promise; an excess above 0 breaks it."""

    genome: Mapping[str, float]
    value: float | None
    excess: float


@dataclass(frozen=True)
class Target:
    """What is attacked: its kind (`aqm` or `congestion`), the value that names it in scenarios, and
    its name for people."""

    kind: str
    subject: Any
    name: str
    fixed: Mapping[str, float] = field(default_factory=dict)
    """Genes that the adversary may not change, with their values."""

    @property
    def genes(self) -> tuple[Gene, ...]:
        """The genes that the adversary may change."""
        return tuple(gene for gene in self.all_genes if gene.name not in self.fixed)

    @property
    def all_genes(self) -> tuple[Gene, ...]:
        """All genes of this kind of target, the fixed ones included."""
        return genomes.genes(self.kind)

    def scenario(self, genome: Mapping[str, float], length: float = 1.0) -> dict[str, Any]:
        """The scenario that a genome describes; its duration is `length` times the usual one."""
        return genomes.scenario(self.whole(genome), self.kind, self.subject, length)

    def whole(self, genome: Mapping[str, float]) -> dict[str, float]:
        """The genome, completed by the fixed genes."""
        return genomes.simple(self.all_genes) | dict(self.fixed) | dict(genome)


def tried(
    target: Target,
    promise: Promise,
    wanted: Sequence[Mapping[str, float]],
    jobs: int | None = None,
    *,
    seed: int = 1,
    length: float = 1.0,
) -> list[Tried]:
    """Runs these genomes and finds how far each breaks the promise. A run that is refused or fails
    breaks no promise."""
    scenarios = [{**target.scenario(one, length), "seed": seed} for one in wanted]
    if promise.needs_trace:
        for scenario in scenarios:
            scenario["record"] |= {"trace": True, "samples": False}
    found = []
    for one, scenario, answer in zip(wanted, scenarios, _answers(scenarios, jobs), strict=True):
        failed = "failed" in answer
        value = None if failed else promise.value(answer, target.whole(one), scenario)
        found.append(Tried(one, value, promise.excess(value)))
    return found


def worst(
    target: Target,
    promise: Promise,
    genome: Mapping[str, float],
    jobs: int | None = None,
    length: float = 1.0,
) -> Tried:
    """The run under that one of `SEEDS` which breaks the promise least, so that no finding is one
    of chance."""
    found = [tried(target, promise, [genome], jobs, seed=s, length=length)[0] for s in SEEDS]
    return min(found, key=lambda one: one.excess)


def _answers(scenarios: list[dict[str, Any]], jobs: int | None) -> list[judging.Answer]:
    def safe(scenario: Mapping[str, object]) -> judging.Answer:
        try:
            return judging.ours(scenario)
        except SpecError as error:
            return {"failed": str(error)}

    return judging.carry_out(scenarios, jobs or pool.cores(), run_ours=safe)


def evolve(
    target: Target,
    promise: Promise,
    trials: int,
    seed: int,
    jobs: int | None = None,
    notify: Callable[[int, Tried], object] = lambda *_: None,
) -> tuple[Tried | None, int]:
    """The best genome of the first generation in which a genome breaks the promise under all of
    `SEEDS`, or None; and the number of runs."""
    rng = random.Random(f"aqmlab break {target.name} {promise.words} {seed}")
    wanted = [genomes.drawn(target.genes, rng, FIRST_SHARE) for _ in range(POPULATION)]
    best: list[Tried] = []
    done = 0
    while wanted:
        best = sorted(best + tried(target, promise, wanted, jobs), key=lambda t: -t.excess)[
            :PARENTS
        ]
        done += len(wanted)
        notify(done, best[0])
        if best[0].excess > 0:
            best[0] = worst(target, promise, best[0].genome, jobs)
            done += len(SEEDS)
            if best[0].excess > 0:
                return best[0], done
            best.sort(key=lambda t: -t.excess)
        room = min(POPULATION, trials - done)
        wanted = [_child(target.genes, best, rng) for _ in range(room)]
    return None, done


def _child(genes: tuple[Gene, ...], best: Sequence[Tried], rng: random.Random) -> dict[str, float]:
    """A child of two parents with a few changes; one in five is a new random genome, so that the
    search does not stay near one maximum."""
    if rng.random() < 0.2:
        return genomes.drawn(genes, rng, FIRST_SHARE)
    one, other = (rng.choice(best).genome for _ in range(2))
    child = {gene.name: rng.choice((one, other))[gene.name] for gene in genes}
    for gene in genes:
        if rng.random() < MUTATED:
            child[gene.name] = _changed(gene, child[gene.name], rng)
    return child


def _changed(gene: Gene, value: float, rng: random.Random) -> float:
    if gene.names or rng.random() < 0.3:
        return gene.at(rng.random())
    return gene.at(gene.place(value) + rng.gauss(0, STEP))
