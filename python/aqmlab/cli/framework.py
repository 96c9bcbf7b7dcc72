"""Typer as this command uses it: help by groups with examples, and values without pydantic.

Typer reads values through a pydantic adapter for each parameter, which takes longer to load than
most commands that only print take in all. Ours are texts, whole numbers and paths.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from aqmlab.errors import Interrupted

from . import guide


class App(typer.Typer):
    """The command `aqmlab`; each of its subcommands has plain help with examples."""

    def __init__(self) -> None:
        super().__init__(
            name="aqmlab", cls=Group, pretty_exceptions_enable=False, rich_markup_mode=None
        )

    def __call__(self, args: Sequence[str], **how: Any) -> Any:
        """As Typer's, but only the requested command is prepared."""
        given = [one for one in self.registered_commands if args and _name_of(one) == args[0]]
        alone = copy(self)
        alone.registered_commands = given or self.registered_commands
        return typer.main.get_command(alone)(args=list(args), **how)

    def command(self, name: str | None = None, **options: Any) -> Callable[[Any], Any]:
        """As Typer's, for commands of the class `Command`."""
        return super().command(name, cls=Command, **options)


def _name_of(info: Any) -> str:
    """The name of a command."""
    return info.name or info.callback.__name__.rstrip("_").replace("_", "-")


class Command(TyperCommand):
    """A command whose help ends with examples."""

    def get_params(self, ctx: Any) -> list[Any]:
        """As Typer's, with lighter readers."""
        return list(map(_lighten, super().get_params(ctx)))

    def invoke(self, ctx: Any) -> Any:
        """As Typer's, but Ctrl-C ends with a sentence and not in silence."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted(
                "stopped before the end: what has been printed is not the whole answer; give the "
                "same command again"
            ) from None

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Prints the examples."""
        examples = guide.EXAMPLES.get(self.name or "", ())
        if examples:
            formatter.write_paragraph()
            formatter.write("Examples:\n")
            for line, what in examples:
                formatter.write(f"  {line}\n      {what}\n")


class Group(TyperGroup):
    """The list of commands, in groups by purpose."""

    def get_params(self, ctx: Any) -> list[Any]:
        """As Typer's, with lighter readers."""
        return list(map(_lighten, super().get_params(ctx)))

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """A section for each group of commands, in the order of the guide."""
        for heading, names in guide.GROUPS.items():
            known = [(name, self.commands[name]) for name in names if name in self.commands]
            rows = [(name, _first_sentence(command.help or "")) for name, command in known]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Prints where to begin."""
        formatter.write_paragraph()
        formatter.write("Examples:\n")
        for line, what in guide.BEGIN:
            formatter.write(f"  {line}\n      {what}\n")
        formatter.write("\n`aqmlab COMMAND --help` has options and examples of each command.\n")


def _first_sentence(text: str) -> str:
    """The first sentence of a command's description, up to a paragraph or colon."""
    return " ".join(inspect.cleandoc(text).split("\n\n")[0].split()).split(": ")[0].rstrip(".")


class _Plain:
    """Reads a value of a plain type; errors have Typer's sentences."""

    def __init__(self, kind: Any, least: float | None, most: float | None) -> None:
        self._kind, self._least, self._most = kind, least, most

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value, or those of a parameter that may be repeated; None where none is given."""
        if param.multiple or param.nargs == -1:
            return [self._one(each, param, ctx) for each in value or ()]
        return None if value is None else self._one(value, param, ctx)

    def _one(self, value: Any, param: Any, ctx: Any) -> Any:
        if self._kind is not int:
            return self._kind(value)
        try:
            number = int(value)
        except ValueError:
            raise _bad(f"{value!r} is no whole number", param, ctx) from None
        if self._least is not None and number < self._least:
            raise _bad(f"{number} is less than {self._least}", param, ctx)
        if self._most is not None and number > self._most:
            raise _bad(f"{number} is more than {self._most}", param, ctx)
        return number


def _bad(why: str, param: Any, ctx: Any) -> Exception:
    return typer.BadParameter(why, ctx=ctx, param=param)


_SHOWN = {int: "N", Path: "PATH", str: "TEXT", bool: None}
"""Placeholders for values in the help, unless a parameter has its own."""


def _lighten(param: Any) -> Any:
    """Makes a parameter of a plain type (such as `int` or `Path`) read its values by `_Plain` in
    place of pydantic, if this version of Typer permits that. Returns the parameter."""
    descriptor = getattr(param, "type_descriptor", None)
    kind = _plain_type(getattr(descriptor, "annotation", None))
    if kind is None or not hasattr(param, "_runtime_param"):
        return param
    about = descriptor.parameter_info  # pyright: ignore[reportOptionalMemberAccess]
    if about.parser is not None or about.exists or about.resolve_path:
        return param
    param._runtime_param = _Plain(kind, about.min, about.max)
    if param.metavar is None and param.param_type_name == "option":
        param.metavar = _SHOWN[kind]
    return param


def _plain_type(annotation: Any) -> Any:
    """The plain type of an annotation that is one, perhaps optional or in a list; else None."""
    if get_origin(annotation) in (Union, types.UnionType):
        own = [one for one in get_args(annotation) if one is not type(None)]
        return _plain_type(own[0]) if len(own) == 1 else None
    if get_origin(annotation) is list:
        return _plain_type(get_args(annotation)[0])
    return annotation if annotation in _SHOWN else None
