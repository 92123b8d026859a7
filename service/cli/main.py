"""Entry point of the command `intaglio`.

Does: load the command line, or report which package it lacks. Does not: define commands (`commands`). Heavy modules are
imported only by the command that needs them.
"""

import sys
from typing import NoReturn

_NEEDED = frozenset({"typer", "rich", "click"})
CANNOT_START = 4


def main() -> NoReturn:
    """Run the command line; ends the process with one of the exit codes that `intaglio --help` lists."""
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
    app(prog_name="intaglio")
    raise AssertionError("typer ends the process")
