"""`intaglio schema register`, `registered` and `delete`: the registry of a service.

Does: send the commands and print the answers. Does not: examine schemas (the service does).
"""

import sys
from datetime import UTC, datetime

from intaglio.schemas import catalogue
from rich.table import Table

from ..client import Client
from .cli_errors import CliError, Exit
from .console import compact, errors, results
from .documents import read_schema


def register_schema(url: str | None, name: str, schema: str, *, warm: bool, as_json: bool) -> Exit:
    """Register a schema and print its reference."""
    found = read_schema(schema)
    if isinstance(found, str):
        found = catalogue.get(found).schema
    with _client(url) as client:
        registered = client.schemas.register(name, found, warm=warm)
    for note in registered.contract.notes() if registered.contract else ():
        errors().print(f"{schema}: {note}", style="yellow")
    shown = registered.model_dump(mode="json", by_alias=True)
    sys.stdout.write((compact(shown) if as_json else registered.reference) + "\n")
    return Exit.OK


def list_registered(url: str | None, name: str | None, *, as_json: bool) -> Exit:
    """Print all versions of all schemas, or of one name."""
    with _client(url) as client:
        found = client.schemas.list(name)
    if as_json:
        rows = [entry.model_dump(mode="json", exclude={"schema_", "contract"}) for entry in found]
        sys.stdout.write(compact(rows) + "\n")
        return Exit.OK
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold cyan", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    for entry in found:
        created = datetime.fromtimestamp(entry.created, UTC)
        table.add_row(entry.reference, entry.id, f"{created:%Y-%m-%d %H:%M} UTC")
    results().print(table)
    return Exit.OK


def delete_schema(url: str | None, reference: str) -> Exit:
    """Delete a version, or all versions of a name."""
    with _client(url) as client:
        client.schemas.delete(reference)
    return Exit.OK


def _client(url: str | None) -> Client:
    try:
        return Client(url)
    except ValueError as error:
        raise CliError(str(error), Exit.USAGE) from None
