"""The options and help of `intaglio schema register`, `registered` and `delete`: schemas in the registry of a service.

Does: declare. Does not: run anything itself (`registry_command`).
"""

from typing import Annotated

import typer

from .cli_errors import Exit, reporting

Url = Annotated[
    str | None,
    typer.Option(
        help="URL of the service.  [default: INTAGLIO_BASE_URL, else http://localhost:8000]"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print raw JSON on one line.")]
Reference = Annotated[
    str, typer.Argument(metavar="REFERENCE", help="An id, NAME@VERSION, or NAME.")
]


def add_registry_commands(schemas: typer.Typer) -> None:
    """Add the commands to the group `intaglio schema`."""
    schemas.command("register")(register)
    schemas.command("registered")(registered)
    schemas.command("delete")(delete)


@reporting
def register(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name that requests will use.")],
    schema: Annotated[str, typer.Argument(metavar="FILE", help="File with a JSON Schema.")],
    url: Url = None,
    cold: Annotated[
        bool, typer.Option("--cold", help="Do not prepare the engine for this schema.")
    ] = False,
    as_json: Json = False,
) -> Exit:
    """Register a schema with a service, as the next version of its name. Safe to repeat.

    Prints the reference NAME@VERSION. A schema that cannot be enforced is refused.
    """
    from .registry_command import register_schema

    return register_schema(url, name, schema, warm=not cold, as_json=as_json)


@reporting
def registered(
    name: Annotated[str | None, typer.Argument(help="Only versions of this name.")] = None,
    url: Url = None,
    as_json: Json = False,
) -> Exit:
    """List the schemas in the registry of a service."""
    from .registry_command import list_registered

    return list_registered(url, name, as_json=as_json)


@reporting
def delete(reference: Reference, url: Url = None) -> Exit:
    """Delete a version of a registered schema; with NAME, all its versions."""
    from .registry_command import delete_schema

    return delete_schema(url, reference)
