"""The page of the command line, from the commands' own declarations."""

import re
from collections.abc import Iterator
from typing import Any

import typer
from intaglio.service.cli.cli_errors import EXIT_CODES
from intaglio.service.cli.commands import app

from .markdown import HEADER, table

Command = Any  # typer brings a copy of click's classes and does not publish it
Parameter = Any

INTRO = """# Command line reference

Extract, serve, check schemas and run bulk jobs from a shell. Results go to standard output, progress and errors to
standard error, so that output can be piped; `--json` writes one line of JSON where a command would write for people.

Every command has `--help`. `python -m intaglio` is the same as `intaglio`.
"""


def page() -> str:
    root = typer.main.get_command(app)
    parts = [HEADER + INTRO, "## Exit codes\n", _exit_codes(), "## Commands\n"]
    parts.append(_own_options(root))
    for path, command in _commands(root, ("intaglio",)):
        parts.append(_command(path, command))
    return "\n".join(parts)


def _commands(command: Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Command]]:
    """Every command that does something, depth first."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, below in inner.items():
        yield from _commands(below, (*path, name))


def _own_options(root: Command) -> str:
    """What the command takes before the name of a sub-command."""
    rows = [(_names(option), _help(option)) for option in root.params if not option.hidden]
    return "### intaglio\n\n" + table(("", "meaning"), rows) if rows else ""


def _exit_codes() -> str:
    rows = [
        tuple(entry.strip().split(" ", 1)) for entry in " ".join(EXIT_CODES.split()).split(" · ")
    ]
    return table(("code", "meaning"), rows)


def _command(path: tuple[str, ...], command: Command) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    usage = " ".join(
        [*path, *(_metavar(a) for a in arguments), "[OPTIONS]" if options else ""]
    ).strip()
    help_text = re.sub(r"\s*\f.*", "", command.help or "", flags=re.DOTALL)
    lines = [f"### {' '.join(path)}\n", f'```{{ .text data-not-run="a synopsis" }}\n{usage}\n```\n']
    lines.append("\n".join(line.strip() for line in help_text.strip().splitlines()) + "\n")
    rows = [(f"`{_metavar(a)}`", _help(a), "") for a in arguments]
    rows += [(_names(option), _help(option), _default(option)) for option in options]
    if rows:
        lines.append(table(("", "meaning", "default"), rows))
    return "\n".join(lines)


def _metavar(argument: Parameter) -> str:
    name = argument.metavar or (argument.name or "").upper()
    return f"{name}..." if argument.nargs == -1 else name


def _names(option: Parameter) -> str:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    if getattr(option, "is_flag", False):
        return names
    return f"{names} `{option.metavar or option.name.upper()}`"


def _help(parameter: Parameter) -> str:
    text = getattr(parameter, "help", None) or ""
    return re.sub(r"\s*(\[default: [^\]]*\]|; default: [^;]*$)", "", text)


def _default(option: Parameter) -> str:
    """The default as the help has it, else as the declaration has it."""
    text = getattr(option, "help", None) or ""
    told = re.search(r"\[default: ([^\]]*)\]|; default: ([^;]*?)\.?$", text)
    if told:
        return told[1] or told[2]
    default = option.default
    if option.required:
        return "required"
    if isinstance(default, bool | int | float | str) and default not in (False, ""):
        return f"`{default}`"
    return ""
