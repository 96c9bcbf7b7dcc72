"""Writes docs/command-line.md: every command with its options and examples, as `--help` has them.

Part of `make docs`. A test holds the page to the commands.
"""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path
from typing import Any

import typer

from aqmlab.cli import answering, guide

PAGE = Path(__file__).with_name("command-line.md")
HEAD = """# The command line

`aqmlab COMMAND --help` shows this of one command. Options may stand before or after arguments; what
has no default is off. Answers go to standard output; progress, notes and mistakes go to standard
error, a mistake as one sentence.
"""
TAIL = """## Exit codes

| code | means |
| --- | --- |
| 0 | done |
| 1 | `reproduce`: the result does not come out as before |
| 2 | a mistake that you can mend, said in one sentence; also: a check or comparison that failed |
| 70 | a fault of aqmlab: please report it |
| 130 | stopped by Ctrl-C; a command with a results folder goes on when it is given again |
| 141 | the reader of the output has gone (`aqmlab list \\| head`) |

## Folders and variables

Results go to `results/NAME` below the current folder, or to `--out`; the same command again
continues there, and no finished run is run again. `report.html` there is one page that needs no
network.

| variable | does |
| --- | --- |
| `NO_COLOR` | no colours |
| `COLUMNS` | the width of tables, where the terminal does not say it |
| `AQMLAB_DEBUG` | an internal error with its whole traceback |

Completion of the shell: `aqmlab --install-completion`.
"""


def text() -> str:
    """The page."""
    commands = typer.main.get_command(answering.app).commands  # pyright: ignore[reportAttributeAccessIssue]
    parts = [HEAD]
    for heading, names in guide.GROUPS.items():
        links = ", ".join(f"[{name}](#{name})" for name in names)
        parts.append(f"**{heading}**: {links}\n")
    for heading, names in guide.GROUPS.items():
        parts.append(f"## {heading}\n")
        parts += [_command(name, commands[name]) for name in names]
    return "\n".join([*parts, TAIL])


def _command(name: str, command: Any) -> str:
    """A command: what it does, its arguments and options, its examples."""
    context = typer.Context(command, info_name=f"aqmlab {name}")
    pieces = " ".join(command.collect_usage_pieces(context))
    rows = [param.get_help_record(context) for param in command.get_params(context)]
    table = [f"| `{_cell(one)}` | {_cell(what)} |" for one, what in filter(None, rows)]
    examples = [f"{line}\n    # {what}" for line, what in guide.EXAMPLES[name]]
    return "\n".join(
        [
            f"### {name}\n",
            f"`aqmlab {name} {pieces}`\n",
            cleandoc(command.help or "") + "\n",
            "| | |\n| --- | --- |",
            *table,
            "\n```",
            *examples,
            "```\n",
        ]
    )


def _cell(words: str) -> str:
    return " ".join(words.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
