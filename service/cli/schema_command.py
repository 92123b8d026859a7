"""`intaglio schema list` and `show`: the catalogue. Does not: change it, or use a model."""

import sys

from intaglio.schemas import catalogue
from rich.table import Table

from .cli_errors import CliError, Exit
from .console import compact, results, write_json


def show_list(*, as_json: bool) -> Exit:
    """Print names, titles and descriptions of all schemas."""
    entries = [catalogue.get(name) for name in catalogue.names()]
    if as_json:
        rows = [{"name": e.name, "title": e.title, "description": e.description} for e in entries]
        sys.stdout.write(compact(rows) + "\n")
        return Exit.OK
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold cyan", no_wrap=True)
    table.add_column()
    for entry in entries:
        table.add_row(entry.name, entry.description)
    results().print(table)
    return Exit.OK


def show_one(name: str, *, sample: bool, as_json: bool) -> Exit:
    """Print the schema `name` or its sample document. Raises `CliError` for an unknown name."""
    entry = named(name)
    if sample and as_json:
        write_json(entry.sample, raw=True)
    elif sample:
        sys.stdout.write(entry.sample)
    else:
        write_json(entry.schema, raw=as_json)
    return Exit.OK


def named(name: str) -> catalogue.CatalogueEntry:
    """The entry `name`. Raises `CliError` with the known names."""
    try:
        return catalogue.get(name)
    except catalogue.UnknownSchema as unknown:
        known = ", ".join(catalogue.names())
        raise CliError(str(unknown), Exit.USAGE, hint=f"there are {known}") from None
