"""Messages name what was typed: an option, not the field of a scenario that it became."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from aqmlab.errors import SpecError


@contextmanager
def typed(options: Mapping[str, str]) -> Iterator[None]:
    """Within it a mistake in a field is that of the option: `{"link.0.rate": "--rate 50/10"}`."""
    try:
        yield
    except SpecError as error:
        for path, option in options.items():
            if str(error).startswith(f"{path}: "):
                raise SpecError(f"{option}: {str(error).removeprefix(f'{path}: ')}") from error
        raise
