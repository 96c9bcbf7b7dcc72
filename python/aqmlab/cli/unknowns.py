"""`aqmlab study --set PATH=VALUE` and `--assume NAME`: a study with something changed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.errors import Renamed, SpecError

if TYPE_CHECKING:
    from aqmlab.experiment.experiment import Experiment

Assume = Annotated[
    str | None,
    typer.Option(
        "--assume",
        metavar="NAME",
        help="With the values of NAME.toml for what the paper does not say: inferred, "
        "reconstructed; or printed: defaults for all of it. Without it a study that has a "
        "reconstruction is carried out with both.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Change a field of every scenario, e.g. network.rtt=200ms; may be repeated.",
    ),
]


def how(
    settings: Sequence[str] | None, assumed: str | None, parts: Sequence[str] | None = None
) -> dict[str, Any]:
    """Arguments for `carry_out`: the function that runs a study with both of its sets of parameter
    values (printed and reconstructed) or with one of them, or a function that changes fields."""
    from aqmlab.infer import two_sets

    fields = [text for text in settings or () if "=" in text]
    for name in (text for text in settings or () if "=" not in text):
        # Until 0.2: the word for this was --set.
        sentence = f"--set {name} is called --assume {name} now; --set changes a field"
        warnings.warn(sentence, Renamed, 2)
        if assumed not in (None, name):
            raise SpecError("a study has one set of assumptions: give --assume once")
        assumed = name
    if not fields:
        alone = partial(two_sets.assumed, set_=assumed) if assumed is not None else None
        return {"by": alone or two_sets.carry_out}

    def altered(experiment: Experiment) -> Experiment:
        from aqmlab.experiment.altered import with_fields

        made = two_sets.alteration(assumed)(experiment) if assumed is not None else experiment
        return with_fields(made, fields, parts)

    return {"alter": altered}
