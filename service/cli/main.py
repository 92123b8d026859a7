"""Entry point of the command `intaglio`.

Does: load the command line, or report which package it lacks. Does not: define commands (`commands`). Heavy modules are
imported only by the command that needs them. This one imports next to nothing: before it is loaded, Ctrl-C shows a
traceback.
"""

import os
import sys

from .early_signals import end_on_signals

_NEEDED = frozenset({"typer", "rich", "click"})
CANNOT_START = 4


def main() -> None:
    """Run the command line; ends the process with one of the exit codes that `intaglio --help` lists."""
    end_on_signals()
    _open_standard_files()
    try:
        from .commands import app
    except ModuleNotFoundError as error:
        if error.name not in _NEEDED:
            raise
        sys.stderr.write(
            f"intaglio: the command line needs {error.name!r}, which is not installed\n"
            "  hint: pip install 'intaglio[server]', or intaglio for a client alone\n"
        )
        sys.exit(CANNOT_START)
    try:
        app(prog_name="intaglio")
    except OSError as error:
        # Of help and version: commands report theirs.
        from .cli_errors import cli_error, discard_output, show

        found = cli_error(error)
        if found is None:
            raise
        discard_output()
        show(found)
        sys.exit(int(found.exit))
    raise AssertionError("typer ends the process")


def _open_standard_files() -> None:
    """Replace standard output and error by the null device where the caller has closed them.

    Otherwise the next file that a command opens would take the number of the closed one, and get what is printed.
    """
    from pathlib import Path

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  for good
