"""`aqmlab study --set NAME`: a study with a set of values for what its paper does not say."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Set = Annotated[
    str | None,
    typer.Option(
        "--set", metavar="NAME", help="With unsaid choices as NAME.toml has them: inferred."
    ),
]


def chosen(name: str | None) -> Any:
    """What makes of a study the one with this set, if there is one."""
    if name is None:
        return None
    from aqmlab.infer import sets

    return lambda experiment: sets.named(experiment, name)
