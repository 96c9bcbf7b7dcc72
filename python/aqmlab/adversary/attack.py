"""An attack on one queue discipline or congestion control. Each promise gives a finding (a scenario
that breaks it), or the number of trials in which it was kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from aqmlab.errors import SpecError, nearest
from aqmlab.evaluate.evaluation import subject_of

from . import promise as promises
from .finding import Finding, shrunk
from .genome import Gene
from .search import Target, Tried, evolve


def attack(
    name: str,
    words: Sequence[str],
    trials: int,
    seed: int,
    jobs: int | None = None,
    fixed: Sequence[str] = (),
    notify: Callable[[str, int, Tried], object] = lambda *_: None,
) -> Iterator[Finding | tuple[str, int]]:
    """For each promise (the default ones if `words` is empty): the smallest scenario found that
    breaks it, or the promise's words and the number of trials in which it was kept. `fixed` lists
    genes that keep one value: `control=prague`, or `outage` for the gene's simple value."""
    subject, kind, called = subject_of(name)
    target = Target(kind, subject, called)
    target = replace(target, fixed=_fixed(target, fixed))
    wanted = [promises.parse(one) for one in words] or promises.usual(kind)
    for promise in wanted:

        def progress(done: int, best: Tried, said: str = promise.words) -> None:
            notify(said, done, best)

        found, done = evolve(target, promise, trials, seed, jobs, progress)
        yield shrunk(target, promise, found, jobs) if found else (promise.words, done)


def _fixed(target: Target, words: Sequence[str]) -> dict[str, float]:
    known = {gene.name: gene for gene in target.all_genes}
    fixed = {}
    for word in words:
        name, _, value = word.partition("=")
        gene = known.get(name)
        if gene is None:
            raise SpecError(
                f'the adversary changes nothing called "{name}"{nearest(name, list(known))}: '
                f"choose from {', '.join(known)}"
            )
        fixed[name] = _value(gene, value) if value else gene.simple
    return fixed


def _value(gene: Gene, text: str) -> float:
    if gene.names:
        if text not in gene.names:
            raise SpecError(f'{gene.name} is not "{text}": choose from {", ".join(gene.names)}')
        return float(gene.names.index(text))
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not gene.low <= value <= gene.high:
        raise SpecError(f"{gene.name} is {text}: give a number from {gene.low:g} to {gene.high:g}")
    return value
