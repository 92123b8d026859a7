"""The command `intaglio view`: results as a page for a browser.

Does: declare it. Does not: read files (`view_command`).
"""

from pathlib import Path
from typing import Annotated

import typer

from .cli_errors import Exit, reporting


@reporting
def view(
    results: Annotated[
        Path,
        typer.Argument(metavar="RESULTS", help="JSON Lines: results of a job or of `extract`."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The page to write; replaces a file.")
    ],
    text_column: Annotated[
        str | None,
        typer.Option(help="Column with the documents' texts.  [default: text, where there is one]"),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="Title of the page; default: the file's name.")
    ] = None,
) -> Exit:
    """Write results as one HTML file: rows with a filter, values, and the places in the texts they come from.

    The file needs neither a server nor a network.
    """
    from .view_command import write_view

    return write_view(results, output, text_column, title)
